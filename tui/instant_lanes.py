"""Events without duration as lanes of ticks: a row for those of each thread or of all.

Where a recording has GPU work they are at the bottom, since the marks and memory events of
PyTorch's profiler explain no gap; in other traces they lie below their thread.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.text import clean
from whichlayer.analysis.trace.columns import Lane, Trace
from whichlayer.analysis.trace.kinds import LaneKind
from whichlayer.tui.family import Family
from whichlayer.tui.lane_list import host_title
from whichlayer.tui.lanes import ShownLane
from whichlayer.tui.raster import Row

Int64 = NDArray[np.int64]

#: The first of the numbers by which the screen knows instants; slices have those from 0 on.
FIRST_ROW = -2


class InstantRow(Row):
    """Instants sorted by time, each a tick.

    Attributes:
        place: int64 (n,), of each in ``trace.instants``.
    """

    def __init__(self, place: Int64, time_ns: Int64) -> None:
        """Take the instants of a row."""
        family = np.full(len(place), Family.ANNOTATION, np.uint8)
        super().__init__((FIRST_ROW - place).astype(np.int32), time_ns, time_ns, family)
        self.place = place

    def nearest(self, time_ns: int, until_ns: int) -> int:
        """The instant at a time, else the first before ``until_ns``; index into the row or -1."""
        first = int(np.searchsorted(self.start_ns, time_ns, "left"))
        return first if first < len(self) and self.start_ns[first] < until_ns else -1


class InstantLane(ShownLane):
    """The instants of one thread, or those of no thread."""

    def __init__(self, lane: Lane, title: str, row: InstantRow) -> None:
        """Take the only row."""
        self.lane = lane
        self.title = title
        self.group = "instant"
        self.device = lane.device
        self.depth = 1
        self.first_row = 0
        self._rows: dict[int, Row] = {0: row}

    def sort_rows(self) -> None:
        """Nothing: they are sorted."""

    def row(self, depth: int) -> InstantRow:
        """The only row."""
        row = self._rows[0]
        assert isinstance(row, InstantRow)
        return row

    def depth_of(self, slice_row: int) -> int:
        """No slice is drawn here."""
        return -1


def with_instants(lanes: tuple[ShownLane, ...], trace: Trace) -> tuple[ShownLane, ...]:
    """The lanes with those of instants.

    Args:
        lanes: in the order of the screen.
        trace: the recording.
    """
    instants = trace.instants
    if not len(instants.time_ns):
        return lanes
    owners, counts = np.unique(instants.lane_id, return_counts=True)
    order = np.argsort(instants.lane_id, kind="stable")
    below: dict[int, list[ShownLane]] = {}
    last: list[ShownLane] = []
    places = _last_lanes(lanes)
    for owner, part in zip(owners.tolist(), np.split(order, np.cumsum(counts)[:-1]), strict=True):
        row = InstantRow(part, instants.time_ns[part])
        lane = _GLOBAL if owner < 0 else trace.lanes[owner]
        at = places.get(id(lane), -1)
        if at >= 0 and lane.kind == LaneKind.OTHER:
            below.setdefault(at, []).append(InstantLane(lane, "  instants", row))
        else:
            last.append(InstantLane(lane, _title(lane, lanes, at), row))
    result: list[ShownLane] = []
    for index, shown in enumerate(lanes):
        result += [shown, *below.get(index, [])]
    return (*result, *last)


_GLOBAL = Lane("", "", LaneKind.OTHER, -1, name="instants")


def _last_lanes(lanes: Sequence[ShownLane]) -> dict[int, int]:
    """The last of the lanes that show a lane of the trace."""
    return {id(shown.lane): index for index, shown in enumerate(lanes)}


def _title(lane: Lane, lanes: Sequence[ShownLane], at: int) -> str:
    if lane is _GLOBAL:
        return "instants"
    shown = next((one for one in lanes if at >= 0 and one.lane is lane), None)
    title = shown.title if shown else clean(host_title(lane, False))
    # In the few cells of a label the number of a thread says more than that it is one.
    return f"instants {title.strip().removeprefix('CPU ')}"
