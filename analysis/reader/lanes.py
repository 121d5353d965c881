"""Gives every lane of a trace a number as its first event comes along."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from whichlayer.analysis.reader.events import Id
from whichlayer.analysis.reader.groups import Groups
from whichlayer.analysis.reader.intern import Intern
from whichlayer.analysis.trace.classify import ON_GPU, lane_kind
from whichlayer.analysis.trace.columns import Int32, Int64, Lane
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind

_STREAM = re.compile(r"stream\s*(\d{1,18})\s*\Z", re.IGNORECASE)


class Lanes:
    """The lanes seen so far, without names."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups
        self._ids: Intern[Lane] = Intern()
        self._of_group: dict[int, int] = {}
        self._of_stream: dict[tuple[int, int, int], int] = {}

    def all(self) -> list[Lane]:
        """Every lane, by its number."""
        return list(self._ids)

    def take(self, other: Lanes) -> Int32:
        """Adds the lanes of others, and tells which number each has here."""
        return self._ids.take(other._ids)

    def of_groups(self, group: Int32) -> Int32:
        """The lanes of slices by nothing but their groups."""
        present = np.bincount(group).nonzero()[0]
        lanes = np.zeros(int(present[-1]) + 1 if len(present) else 0, np.int32)
        lanes[present] = [self.of_group(one) for one in present.tolist()]
        return lanes[group]

    def of_group(self, group: int) -> int:
        """The lane of the slices of one group."""
        lane = self._of_group.get(group)
        if lane is None:
            _, _, pid, tid = self._groups.keys[group]
            kind = SliceKind(int(self._groups.kind[group]))
            if kind in ON_GPU:
                lane = self._stream(kind, pid, stream_number(tid))
            else:
                lane = self._ids[Lane(pid, tid, lane_kind(kind))]
            self._of_group[group] = lane
        return lane

    def of_streams(self, group: Int32, device: Int64, stream: Int64) -> list[int]:
        """The lanes of slices on a GPU: by device and stream, else by process and thread.

        Args:
            group: the group of each.
            device: as their arguments say, -1 where they do not.
            stream: likewise.
        """
        known = self._of_stream
        lanes: list[int] = []
        for key in zip(group.tolist(), device.tolist(), stream.tolist(), strict=True):
            lane = known.get(key)
            if lane is None:
                _, _, pid, tid = self._groups.keys[key[0]]
                lane = known[key] = self._stream(
                    SliceKind(int(self._groups.kind[key[0]])),
                    key[1] if key[1] >= 0 else pid,
                    key[2] if key[2] >= 0 else stream_number(tid),
                )
            lanes.append(lane)
        return lanes

    def of_async(self, pid: Id, category: str) -> int:
        """The lane of the asynchronous slices of a category of a process."""
        return self._ids[Lane(pid, _async_name(category), LaneKind.OTHER)]

    def _stream(self, kind: SliceKind, device: Id, stream: Id) -> int:
        return self._ids[
            Lane(
                device,
                stream,
                lane_kind(kind),
                _small(device),
                _small(stream),
            )
        ]


def _small(number: Id) -> int:
    """A device or stream number, -1 for text and for process ids that take its place."""
    return number if isinstance(number, int) and 0 <= number < 1 << 31 else -1


class LaneFinder:
    """Finds the lane that an event without length belongs to, by process and thread."""

    def __init__(self, lanes: Sequence[Lane]) -> None:
        self._lanes: dict[tuple[Id, Id, LaneKind], int] = {}
        for index, lane in enumerate(lanes):
            self._lanes.setdefault((lane.pid, lane.tid, lane.kind), index)

    def find(self, pid: Id, tid: Id, kinds: Sequence[LaneKind]) -> int:
        """The lane of the first of these kinds that exists, -1 if none does."""
        for kind in kinds:
            found = self._lanes.get((pid, stream_number(tid), kind))
            if found is not None:
                return found
        return -1

    def find_async(self, pid: Id, category: str) -> int:
        """The lane of a category's asynchronous slices, -1 if it has none."""
        return self._lanes.get((pid, _async_name(category), LaneKind.OTHER), -1)


def _async_name(category: str) -> str:
    return f"async {category}".rstrip()


def stream_number(tid: Id) -> Id:
    """A stream as a number: 7 for ``stream 7``."""
    found = _STREAM.match(tid) if isinstance(tid, str) else None
    return int(found[1]) if found else tid
