"""Reads all that an Nsight Systems export records of one slice, when someone looks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.reader.nsight_database import Database
from whichlayer.analysis.trace.columns import Int64

#: An event's number is its table and, in these bits, its key in there.
KEY_BITS: Final = 48

#: Columns that refer to the table ``StringIds``.
_REFERENCES: Final = ("nameId", "textId", "demangledName", "shortName", "mangledName")


class NsightArguments:
    """Finds rows by the number of their event.

    Attributes:
        stamp: size and time of change of the export when it was loaded.
        tables: what the upper part of an event's number indexes.
    """

    def __init__(self, path: str, stamp: tuple[int, int], tables: Sequence[str]) -> None:
        self._path = os.path.abspath(path)
        self.stamp = stamp
        self.tables = tables

    def of_rows(self, event: Int64) -> RowRecords:
        """The records by row, given each row's event."""
        return RowRecords(self, event)

    def read(self, event: int) -> Mapping[str, Any]:
        """The record of an event.

        Raises:
            TraceError: the file is gone, has changed since it was loaded, or is damaged there.
        """
        if event < 0:
            return {}
        try:
            status = os.stat(self._path)
        except OSError as error:
            reason = error.strerror or str(error)
            raise TraceError(f"{self._path}: cannot be read again: {reason}") from error
        if (status.st_size, status.st_mtime_ns) != self.stamp:
            raise TraceError(f"{self._path}: it has changed since it was opened")
        table = self.tables[event >> KEY_BITS]
        try:
            with Database(self._path) as database:
                record = database.record(table, event & ((1 << KEY_BITS) - 1))
                wanted = {
                    key: value for key in _REFERENCES if isinstance(value := record.get(key), int)
                }
                names = database.strings(set(wanted.values()))
        except TraceError as error:
            raise TraceError(f"{self._path}: {error}") from error
        return record | {key: names[value] for key, value in wanted.items() if value in names}


class RowRecords:
    """The records of a trace's slices, by row.

    Attributes:
        source: what finds the record of an event.
        event: the number of each row's event.
    """

    def __init__(self, source: NsightArguments, event: Int64) -> None:
        self.source = source
        self.event = event

    def __call__(self, row: int) -> Mapping[str, Any]:
        """All that is recorded of one slice; see :meth:`NsightArguments.read`."""
        return self.source.read(int(self.event[row]))
