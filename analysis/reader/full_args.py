"""Reads all arguments of one slice from the file again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.reader.events import DECODE_ERRORS, split_elements
from whichlayer.analysis.reader.framing import Span
from whichlayer.analysis.reader.repair import decode_value, versions
from whichlayer.analysis.reader.source import TraceSource
from whichlayer.analysis.trace.columns import Int64

#: Stretches of text that are kept: who looks at a slice looks at its neighbours.
_MOST_RECENT = 8


class FullArguments:
    """Finds the text of events by where it stood when the file was loaded.

    Attributes:
        stamp: size and time of change of the file when it was loaded.
        spans: the stretches of its text in which the events stand, in order.
    """

    def __init__(self, path: str, stamp: tuple[int, int], spans: Sequence[Span]) -> None:
        self._path = path
        self.stamp = stamp
        self.spans = spans
        self._first = np.concatenate(
            ([0], np.cumsum([span.events for span in spans], dtype=np.int64))
        )
        self._recent: dict[int, list[bytes]] = {}

    def of_rows(self, event: Int64) -> RowArguments:
        """The arguments by row, given each row's number among the events of the file."""
        return RowArguments(self, event)

    def read(self, event: int) -> Mapping[str, Any]:
        """The arguments of an event.

        Raises:
            TraceError: the file is gone or has changed since it was loaded.
        """
        index = int(np.searchsorted(self._first, event, "right")) - 1
        elements = self._recent.pop(index, None)
        if elements is None:
            elements = _elements(self._text(self.spans[index]))
        self._recent[index] = elements  # the last one used is the last to go
        if len(self._recent) > _MOST_RECENT:
            del self._recent[next(iter(self._recent))]
        place = event - int(self._first[index])
        decoded = decode_value(elements[place]) if place < len(elements) else None
        arguments = decoded.get("args") if isinstance(decoded, dict) else None
        return arguments if isinstance(arguments, dict) else {}

    def _text(self, span: Span) -> bytes:
        try:
            with TraceSource(self._path, limited=False) as source:
                if source.stamp != self.stamp:
                    raise TraceError(f"{self._path}: it has changed since it was opened")
                source.skip(span.offset)
                parts: list[bytes] = []
                missing = span.length
                while missing and (block := source.read(missing)):
                    parts.append(block)
                    missing -= len(block)
                return b"".join(parts)
        except OSError as error:
            reason = error.strerror or str(error)
            raise TraceError(f"{self._path}: cannot be read again: {reason}") from error


class RowArguments:
    """The arguments of a trace's slices, by row.

    Attributes:
        source: what finds the arguments of an event.
        event: the number of each row's event.
    """

    def __init__(self, source: FullArguments, event: Int64) -> None:
        self.source = source
        self.event = event

    def __call__(self, row: int) -> Mapping[str, Any]:
        """The arguments of one slice; see :meth:`FullArguments.read`."""
        return self.source.read(int(self.event[row]))


def _elements(text: bytes) -> list[bytes]:
    for version in versions(text):
        try:
            return split_elements(b"[%b]" % version.text)
        except DECODE_ERRORS:
            continue
    return []
