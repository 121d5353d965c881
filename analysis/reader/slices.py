"""Turns complete events (``X``) into columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from whichlayer.analysis.reader.arguments import ArgumentReader
from whichlayer.analysis.reader.decimals import parse_times
from whichlayer.analysis.reader.details import DETAIL_KEYS
from whichlayer.analysis.reader.events import Event, Id
from whichlayer.analysis.reader.groups import Groups
from whichlayer.analysis.reader.intern import Intern
from whichlayer.analysis.trace.assemble import Slices
from whichlayer.analysis.trace.classify import ON_GPU, lane_kind
from whichlayer.analysis.trace.columns import Int32, Int64, Lane
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind

_STREAM = re.compile(r"stream\s*(\d{1,18})\s*\Z", re.IGNORECASE)


@dataclass(slots=True)
class BadTimes:
    """How many events had which useless time."""

    start: int = 0
    duration_missing: int = 0
    duration_negative: int = 0


class Lanes:
    """The lanes seen so far, without names."""

    def __init__(self) -> None:
        self._ids: Intern[Lane] = Intern()
        self._known: dict[tuple[int, SliceKind], int] = {}

    @property
    def all(self) -> list[Lane]:
        """Every lane, by its number."""
        return list(self._ids)

    def of_group(self, group: int, kind: SliceKind, groups: Groups) -> int:
        """The lane that slices of a group have by their process and thread alone."""
        found = self._known.get((group, kind))
        if found is None:
            _, _, pid, tid = groups.keys[group]
            if kind in ON_GPU:
                found = self.of_stream(kind, pid, stream_of(tid))
            else:
                found = self._ids[Lane(pid, tid, lane_kind(kind))]
            self._known[group, kind] = found
        return found

    def of_stream(self, kind: SliceKind, device: Id, stream: Id) -> int:
        """The lane of slices of a kind on a stream of a device."""
        return self._ids[
            Lane(
                device,
                stream,
                lane_kind(kind),
                device if isinstance(device, int) else -1,
                stream if isinstance(stream, int) else -1,
            )
        ]

    def of_async(self, pid: Id, category: str) -> int:
        """The lane of the asynchronous slices of a category of a process."""
        return self._ids[Lane(pid, f"async {category}".rstrip(), LaneKind.OTHER)]


def stream_of(tid: Id) -> Id:
    """A stream as a number: 7 for ``stream 7``."""
    found = _STREAM.match(tid) if isinstance(tid, str) else None
    return int(found[1]) if found else tid


@dataclass(slots=True)
class SliceBuilder:
    """Collects slices, chunk by chunk."""

    groups: Groups
    strings: Intern[str]
    lanes: Lanes = field(default_factory=Lanes)
    arguments: ArgumentReader = field(default_factory=ArgumentReader)
    bad: BadTimes = field(default_factory=BadTimes)
    _chunks: list[Slices] = field(default_factory=list)

    def add(self, events: Sequence[Event], group: Int32, number: Int64) -> None:
        """Takes complete events.

        Args:
            group: the group of each.
            number: the place of each among all events of the file.
        """
        start = parse_times([one.ts for one in events])
        duration = parse_times([one.dur for one in events])
        end_ns = start.plus(duration)
        start_ns = start.rounded()
        negative = end_ns < start_ns
        self.bad.start += int(start.bad.sum())
        self.bad.duration_missing += int((duration.bad & ~start.bad).sum())
        self.bad.duration_negative += int((negative & ~start.bad).sum())
        end_ns = np.where(negative, start_ns, end_ns)
        strings = self.strings
        columns = Slices(
            start_ns=start_ns,
            end_ns=end_ns,
            name_id=np.array([strings[one.name] for one in events], np.int32),
            category_id=np.zeros(len(events), np.int32),
            kind=np.zeros(len(events), np.uint8),
            lane_id=np.zeros(len(events), np.int32),
            correlation=np.full(len(events), -1, np.int64),
            external_id=np.full(len(events), -1, np.int64),
            detail_id=np.full(len(events), -1, np.int32),
            event=number,
        )
        self._fill(columns, events, group)
        if start.bad.any():
            columns.take(np.flatnonzero(~start.bad))
        self._chunks.append(columns)

    def _fill(self, columns: Slices, events: Sequence[Event], group: Int32) -> None:
        present = np.unique(group)
        kinds = np.zeros(int(present[-1]) + 1, np.uint8)
        categories = np.zeros(len(kinds), np.int32)
        for one in present.tolist():
            kinds[one] = self.groups.kind[one]
            categories[one] = self.strings[self.groups.keys[one][1]]
        columns.kind = kinds[group]
        columns.category_id = categories[group]
        for value in np.unique(columns.kind).tolist():
            kind = SliceKind(value)
            rows = np.flatnonzero(columns.kind == value)
            self._fill_kind(columns, events, group, kind, rows)

    def _fill_kind(
        self,
        columns: Slices,
        events: Sequence[Event],
        group: Int32,
        kind: SliceKind,
        rows: Int64,
    ) -> None:
        if kind in DETAIL_KEYS:
            found = self.arguments.read(kind, [events[row].args for row in rows.tolist()])
            columns.external_id[rows] = found.external_id
            columns.detail_id[rows] = found.detail_id
            if kind in ON_GPU:
                columns.correlation[rows] = found.correlation
                columns.lane_id[rows] = self._stream_lanes(
                    kind, group[rows], found.device, found.stream
                )
                return
            if kind == SliceKind.RUNTIME:
                columns.correlation[rows] = found.correlation
        lane_of = np.zeros(int(group[rows].max()) + 1, np.int32)
        for one in np.unique(group[rows]).tolist():
            lane_of[one] = self.lanes.of_group(one, kind, self.groups)
        columns.lane_id[rows] = lane_of[group[rows]]

    def _stream_lanes(
        self, kind: SliceKind, group: Int32, device: Int64, stream: Int64
    ) -> list[int]:
        """Lanes by the recorded device and stream, else by process and thread."""
        known: dict[tuple[int, int, int], int] = {}
        lanes: list[int] = []
        for key in zip(group.tolist(), device.tolist(), stream.tolist(), strict=True):
            lane = known.get(key)
            if lane is None:
                _, _, pid, tid = self.groups.keys[key[0]]
                lane = known[key] = self.lanes.of_stream(
                    kind,
                    key[1] if key[1] >= 0 else pid,
                    key[2] if key[2] >= 0 else stream_of(tid),
                )
            lanes.append(lane)
        return lanes

    @property
    def last_ns(self) -> int:
        """When the last slice so far ends, on the file's own clock."""
        ends = [int(chunk.end_ns.max()) for chunk in self._chunks if len(chunk.end_ns)]
        return max(ends, default=0)

    def append(self, slices: Slices) -> None:
        """Takes slices that were made otherwise."""
        self._chunks.append(slices)

    def finish(self) -> Slices:
        """All slices in the order of the file."""
        empty = np.zeros(0, np.int64)
        names = Slices.__dataclass_fields__
        columns = {}
        for name in names:
            parts = [getattr(chunk, name) for chunk in self._chunks]
            columns[name] = np.concatenate(parts) if parts else empty
            for chunk in self._chunks:
                setattr(chunk, name, empty)
        self._chunks = []
        return Slices(**columns)
