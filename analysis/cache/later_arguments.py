"""The arguments of a reopened trace, read from its file when someone looks.

What reads them is imported then: opening a trace from the cache needs no reader.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from whichlayer.analysis.trace.columns import Int32, Int64, byte_of, read_many


class LaterArguments:
    """All arguments of a trace's slices, by row.

    Args:
        path: the trace.
        stamp: size and time of change of the file when it was read.
        event: the number of each row's event, of any integer type.
        spans: int64, three numbers for each stretch of text that holds events.
        tables: what the numbers of events refer to in an Nsight export; None for other traces.
    """

    def __init__(
        self,
        path: str,
        stamp: tuple[int, int],
        event: NDArray[Any],
        spans: Int64,
        tables: Sequence[str] | None,
    ) -> None:
        # The working folder may be another one by the time that someone looks.
        self._path = os.path.abspath(path)
        self._stamp = stamp
        self._event = event
        self._spans = spans
        self._tables = tables
        self._read: Callable[[int], Mapping[str, Any]] | None = None

    def __call__(self, row: int) -> Mapping[str, Any]:
        """The arguments of one slice.

        Raises:
            TraceError: the file is gone or has changed since it was loaded.
        """
        if self._read is None:
            self._read = self._reader()
        return self._read(row)

    def byte_of(self, row: int) -> int:
        """Where a slice stands in the text of the file, -1 where that cannot be told."""
        if self._read is None:
            self._read = self._reader()
        return byte_of(self._read, row)

    def many(self, rows: Int32) -> list[Mapping[str, Any]]:
        """The arguments of many slices, for which the file is read once.

        Raises:
            TraceError: the file is gone or has changed since it was loaded.
        """
        if self._read is None:
            self._read = self._reader()
        return read_many(self._read, rows)

    @property
    def walk(self) -> Callable[..., Any] | None:
        """What reads many in one pass; None where nothing does."""
        if self._read is None:
            self._read = self._reader()
        return getattr(self._read, "walk", None)

    def _reader(self) -> Callable[[int], Mapping[str, Any]]:
        if self._tables is not None:
            from whichlayer.analysis.reader.nsight_arguments import NsightArguments

            return NsightArguments(self._path, self._stamp, self._tables).of_rows(self._event)
        from whichlayer.analysis.reader.framing import Span
        from whichlayer.analysis.reader.full_args import FullArguments

        spans = [Span(*span) for span in self._spans.reshape(-1, 3).tolist()]
        return FullArguments(self._path, self._stamp, spans).of_rows(self._event)
