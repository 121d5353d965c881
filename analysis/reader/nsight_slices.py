"""Columns, lanes and interned values of a trace that is read from a database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import msgspec
import numpy as np

from whichlayer.analysis.reader.intern import Intern
from whichlayer.analysis.reader.nsight_arguments import KEY_BITS
from whichlayer.analysis.reader.nsight_database import MISSING, Database
from whichlayer.analysis.reader.nsight_devices import (
    Devices,
    Processes,
    process_of,
    thread_of,
)
from whichlayer.analysis.trace.assemble import Slices
from whichlayer.analysis.trace.classify import lane_kind
from whichlayer.analysis.trace.columns import Lane
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind
from whichlayer.analysis.trace.lanes import Id, Naming

#: Correlation numbers have as many bits; above them a trace of several processes has theirs.
_CORRELATION_BITS: Final = 32

_ENCODE = msgspec.json.Encoder().encode


@dataclass(slots=True)
class Batch:
    """Slices of one table and kind, as lists of equal length.

    Times are nanoseconds, ``MISSING`` where not recorded.
    """

    table: str
    kind: SliceKind | Sequence[SliceKind]
    key: Sequence[int]
    start: Sequence[int]
    end: Sequence[int]
    name: Sequence[int]
    category: Sequence[int] | int
    lane: Sequence[int]
    correlation: Sequence[int] | int = -1
    detail: Sequence[int] | int = -1


class NsightSlices:
    """Collects what the tables of an export hold.

    Attributes:
        bad_start, bad_duration, negative_duration, unclosed: how many events had such times.
        unlinked: GPU activities whose process is not told, so that no launch can be.
        places: device, stream, lane and process by what a record says of them.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.devices = Devices(database)
        self.processes = Processes()
        self.naming = Naming()
        self.strings: Intern[str] = Intern({"": 0})
        self.tables: Intern[str] = Intern()
        self.lanes: Intern[Lane] = Intern()
        self.details: list[bytes] = []
        self._detail_numbers: dict[tuple[Any, ...], int] = {}
        self._callers: Intern[int] = Intern()
        self._streams: defaultdict[tuple[int, int, LaneKind], dict[int | None, int]] = defaultdict(
            dict
        )
        self._threads: dict[tuple[int, LaneKind], int] = {}
        self.places: dict[tuple[int, ...], tuple[int, int, int, int | None]] = {}
        self._chunks: list[Slices] = []
        self.bad_start = self.bad_duration = self.negative_duration = self.unclosed = 0
        self.unlinked = 0

    def add(self, batch: Batch, *, may_last: bool = False) -> None:
        """Takes slices; those without an end last to the end of all if ``may_last``."""
        count = len(batch.key)
        start = np.array(batch.start, np.int64)
        end = np.array(batch.end, np.int64)
        usable = start != MISSING
        unended = (end == MISSING) & usable
        backward = (end < start) & usable & ~unended
        self.bad_start += count - int(usable.sum())
        self.negative_duration += int(backward.sum())
        if may_last:
            self.unclosed += int(unended.sum())
        else:
            self.bad_duration += int(unended.sum())
            backward |= unended
        number = self.tables[batch.table] << KEY_BITS
        events = [number | key if 0 <= key < 1 << KEY_BITS else -1 for key in batch.key]
        columns = Slices(
            start_ns=start,
            end_ns=np.where(backward, start, end),
            name_id=np.array(batch.name, np.int32),
            category_id=_column(batch.category, count, np.int32),
            kind=_column(batch.kind, count, np.uint8),
            lane_id=np.array(batch.lane, np.int32),
            correlation=_column(batch.correlation, count, np.int64),
            external_id=np.full(count, -1, np.int64),
            detail_id=_column(batch.detail, count, np.int32),
            event=np.array(events, np.int64),
        )
        if not bool(usable.all()):
            columns.take(np.flatnonzero(usable))
        self._chunks.append(columns)

    def names(self, numbers: Sequence[int]) -> list[str | None]:
        """Texts by their numbers in the export."""
        found = self.database.strings(set(numbers))
        return [found.get(number) for number in numbers]

    def detail(self, key: tuple[Any, ...], make: Callable[[], Mapping[str, Any]]) -> int:
        """The number of a set of arguments, which ``make`` gives if ``key`` is new."""
        number = self._detail_numbers.get(key)
        if number is None:
            number = self._detail_numbers[key] = len(self.details)
            self.details.append(_ENCODE(make()))
        return number

    def correlation(self, process: int | None, number: int) -> int:
        """A launch number that no two processes share, -1 where there is none."""
        if not 0 < number < 1 << _CORRELATION_BITS:
            return -1
        if process is None:
            self.unlinked += 1
            return -1
        return self._callers[process] << _CORRELATION_BITS | number

    def owner(self, process: int) -> int | None:
        """The process of a GPU activity: where not recorded, the only one that made calls."""
        if process != MISSING:
            return process
        return next(iter(self._callers)) if len(self._callers) == 1 else None

    def thread_lane(self, number: int, kind: LaneKind) -> int:
        """The lane of a thread by its global number."""
        lane = self._threads.get((number, kind))
        if lane is None:
            process = self.processes.id_of(process_of(number))
            lane = self._threads[number, kind] = self.lanes[Lane(process, thread_of(number), kind)]
        return lane

    def extra_lane(self, process: int, label: str) -> int:
        """A lane of a process for what its threads' lanes cannot hold."""
        return self.lanes[Lane(self.processes.id_of(process), label, LaneKind.OTHER)]

    def stream_lane(self, kind: SliceKind, process: int | None, device: int, stream: int) -> int:
        """The lane of a stream; each process has its own streams on a device."""
        place = lane_kind(kind)
        sharing = self._streams[device, stream, place]
        lane = sharing.get(process)
        if lane is None:
            tid: Id = stream
            if sharing and process is not None:
                tid = f"stream {stream} of process {self.processes.id_of(process)}"
                self.naming.threads[device, tid] = tid
            lane = sharing[process] = self.lanes[Lane(device, tid, place, device, stream)]
        return lane

    def shared_devices(self) -> Mapping[int, list[int]]:
        """Devices on which several processes worked, with those."""
        found: defaultdict[int, set[int]] = defaultdict(set)
        for (device, _, place), sharing in self._streams.items():
            if place == LaneKind.GPU_STREAM:
                found[device] |= {process for process in sharing if process is not None}
        return {device: sorted(owners) for device, owners in found.items() if len(owners) > 1}

    def finish(self) -> Slices | None:
        """All slices in the order they came, None without any."""
        chunks = [chunk for chunk in self._chunks if len(chunk.start_ns)]
        self._chunks = []
        if not chunks:
            return None
        parts = {
            column.name: np.concatenate([getattr(chunk, column.name) for chunk in chunks])
            for column in fields(Slices)
        }
        slices = Slices(**parts)
        unended = slices.end_ns == MISSING
        if bool(unended.any()):
            last = max(int(slices.end_ns.max()), int(slices.start_ns.max()))
            slices.end_ns[unended] = last
        return slices


def _column(values: Any, count: int, dtype: type[np.generic]) -> Any:
    return np.full(count, values, dtype) if isinstance(values, int) else np.array(values, dtype)
