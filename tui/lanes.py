"""Which lanes the timeline shows, in which order, under which names, in how many rows.

GPU streams come first, by device, collectives and copies after compute; then the threads that
launch work, then the rest. A thread's Python frames are a lane of their own below its
operators: mixed, the frames would push the operators dozens of rows apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.text import clean, gpu_text
from whichlayer.analysis.trace.columns import Lane, Trace
from whichlayer.analysis.trace.kinds import GPU_WORK, LaneKind, SliceKind
from whichlayer.tui.family import Family
from whichlayer.tui.lane_depths import by_depth, nesting_without, part_of
from whichlayer.tui.raster import Row

Int32 = NDArray[np.int32]
UInt8 = NDArray[np.uint8]

#: Rows of a lane that are shown until it is unfolded.
FOLDED_ROWS = {"gpu": 2, "note": 1, "cpu": 5, "python": 3, "other": 2, "counter": 3}

#: How Kineto writes a thread that has a name of its own.
_NAMED_THREAD = re.compile(r"thread \S+ \((.+)\)")

#: No screen has more rows.
_TALLEST = 200


class Fold(IntEnum):
    """How much of a lane is shown."""

    LINE = 0
    SOME = 1
    ALL = 2

    @property
    def following(self) -> Fold:
        """What the fold key makes of it."""
        return Fold((self + 1) % len(Fold))


class ShownLane:
    """A lane of the timeline: a stream, a thread's calls, or a thread's Python frames.

    Attributes:
        title: the label, clean and short.
        group: ``gpu``, ``note``, ``cpu``, ``python``, ``counter`` or ``other``.
        device: device number as recorded, -1 off the GPU.
        depth: rows that it has.
        first_row: rows to skip while it is folded: outer frames that say nothing.
    """

    def __init__(
        self,
        trace: Trace,
        lane: Lane,
        title: str,
        group: str,
        slices: Int32,
        depth: Int32,
        families: UInt8,
    ) -> None:
        """Take the slices (trace rows sorted by start) and the row in which each is drawn."""
        self.lane = lane
        self.title = title
        self.group = group
        self.device = lane.device
        self.depth = int(depth.max()) + 1 if len(depth) else 1
        self._slices = slices[by_depth(depth)] if self.depth > 1 else slices
        self._bounds = np.concatenate(([0], np.cumsum(np.bincount(depth, minlength=1))))
        self._trace = trace
        self._families = families
        self._rows: dict[int, Row] = {}
        self.first_row = self._plain_outer_rows() if group == "python" else 0

    def row(self, depth: int) -> Row:
        """One row, prepared when first asked for."""
        found = self._rows.get(depth)
        if found is None:
            mine = self._slices[self._bounds[depth] : self._bounds[depth + 1]]
            found = self._rows[depth] = Row(
                mine,
                part_of(self._trace.start_ns, mine),
                part_of(self._trace.end_ns, mine),
                part_of(self._families, mine),
                tone=depth & 1,
            )
        return found

    def row_title(self, depth: int, is_first: bool) -> str:
        """The label of one row: the lane's on its first, none on the others."""
        return self.title if is_first else ""

    def row_note(self, depth: int) -> str:
        """What is said at the right of a row's label, where there is room."""
        return ""

    @property
    def most_rows(self) -> int:
        """Rows that it can take without being unfolded."""
        return max(self.depth - self.first_row, 1)

    def used_rows(self, low_ns: int, high_ns: int) -> int:
        """Rows that it needs to show what lies in ``[low_ns, high_ns)`` while folded."""
        first = min(self.first_row, self.depth - 1)
        for depth in range(min(self.depth, first + _TALLEST) - 1, first - 1, -1):
            row = self.row(depth)
            begun = int(np.searchsorted(row.start_ns, high_ns, "left"))
            if begun and int(row.end_ns[begun - 1]) >= low_ns:
                return depth + 1 - first
        return 0

    def shown_depths(self, fold: Fold, rows: int) -> range:
        """Which rows are on the screen; so many of a lane that shows some."""
        if fold == Fold.ALL:
            return range(self.depth)
        first = min(self.first_row, self.depth - 1)
        return range(first, min(first + (1 if fold == Fold.LINE else rows), self.depth))

    def depth_of(self, slice_row: int) -> int:
        """The row that draws a slice of the trace, or -1 where it is not of this lane."""
        places = np.flatnonzero(self._slices == slice_row)
        if not len(places):
            return -1
        return int(np.searchsorted(self._bounds, places[0], "right")) - 1

    def _plain_outer_rows(self) -> int:
        """Leading rows with at most two slices: ``<module>``, ``main`` and the like."""
        counts = np.diff(self._bounds)
        busy = np.flatnonzero(counts > 2)
        return int(busy[0]) if len(busy) else 0


@dataclass(frozen=True, slots=True)
class ShownRow:
    """One line of the timeline: a row of a lane.

    ``lane`` is the index of the lane; ``hidden`` counts the rows folded away below this one.
    """

    lane: int
    depth: int
    is_first: bool
    hidden: int


def shown_rows(
    lanes: tuple[ShownLane, ...],
    folds: Mapping[int, Fold],
    lines: int = 0,
    used: tuple[int, ...] = (),
) -> tuple[ShownRow, ...]:
    """All lines of the timeline from top to bottom.

    Args:
        lanes: the lanes in order.
        folds: how much is shown of each; ``SOME`` where nothing is said.
        lines: height of the screen; lanes get more rows than usual as long as all fit.
        used: rows that each lane has a use for, where that is known; the others are left out
            if not all fit.
    """
    rows: list[ShownRow] = []
    shown = [folds.get(index, Fold.SOME) for index in range(len(lanes))]
    dealt = _dealt_rows(lanes, shown, lines, used)
    for index, lane in enumerate(lanes):
        depths = lane.shown_depths(shown[index], dealt[index])
        for depth in depths:
            is_last = depth == depths[-1]
            hidden = lane.depth - len(depths) if is_last else 0
            rows.append(ShownRow(index, depth, depth == depths[0], hidden))
    return tuple(rows)


def _dealt_rows(
    lanes: tuple[ShownLane, ...], folds: list[Fold], lines: int, used: tuple[int, ...]
) -> list[int]:
    """Rows that each lane gets: the usual ones, then more dealt round while any are left."""
    some = [index for index, fold in enumerate(folds) if fold == Fold.SOME]
    wish = [lane.most_rows for lane in lanes]
    left = lines - sum(len(lane.shown_depths(folds[i], wish[i])) for i, lane in enumerate(lanes))
    if left < 0 and used:
        wish = [min(max(rows, 1), most) for rows, most in zip(used, wish, strict=True)]
    dealt = [min(FOLDED_ROWS[lane.group], wish[i]) for i, lane in enumerate(lanes)]
    left = lines - sum(len(lane.shown_depths(folds[i], dealt[i])) for i, lane in enumerate(lanes))
    wanting = [index for index in some if dealt[index] < wish[index]]
    while left > 0 and wanting:
        for index in wanting[:left]:
            dealt[index] += 1
            left -= 1
        wanting = [index for index in wanting if dealt[index] < wish[index]]
    return dealt


def list_lanes(trace: Trace, families: UInt8) -> tuple[ShownLane, ...]:
    """The lanes of a trace in the order of the screen."""
    lanes: list[tuple[tuple[object, ...], ShownLane]] = []
    for index, lane in enumerate(trace.lanes):
        first, last = trace.lane_rows[index : index + 2].tolist()
        slices = np.arange(first, last, dtype=np.int32)
        hidden = trace.stray[first:last] | (trace.kind[first:last] == SliceKind.PROFILER)
        if trace.part is not None:
            start, end = trace.start_ns[first:last], trace.end_ns[first:last]
            hidden |= (start >= trace.part.high_ns) | (end < trace.part.low_ns)
        if hidden.any():
            slices = slices[~hidden]
        if not len(slices):
            continue
        if lane.kind in (LaneKind.GPU_STREAM, LaneKind.GPU_ANNOTATION, LaneKind.GPU_SYNC):
            lanes.append(_gpu_lane(trace, lane, slices, families))
        else:
            lanes.extend(_host_lanes(trace, lane, slices, families))
    lanes.sort(key=lambda pair: pair[0])
    return tuple(lane for _, lane in lanes)


def _gpu_lane(
    trace: Trace, lane: Lane, slices: Int32, families: UInt8
) -> tuple[tuple[object, ...], ShownLane]:
    length = part_of(trace.end_ns, slices) - part_of(trace.start_ns, slices)
    shares = np.bincount(part_of(families, slices), weights=length, minlength=len(Family))
    most = Family(int(shares.argmax()))
    # A stream is named after collectives or copies only where it does little else.
    if shares[most] < 0.9 * shares.sum():
        most = Family.KERNEL
    is_note = (
        lane.kind != LaneKind.GPU_STREAM or not np.isin(part_of(trace.kind, slices), GPU_WORK).any()
    )
    what = {Family.COLLECTIVE: " comm", Family.COPY: " copy"}.get(most, "")
    if is_note:
        what = " sync" if lane.kind == LaneKind.GPU_SYNC else " note"
    stream = f" s{lane.stream}" if lane.stream >= 0 and not is_note else ""
    title = f"{gpu_text(lane.device)}{stream}{what}"
    rank = 3 if is_note else {Family.COLLECTIVE: 1, Family.COPY: 2}.get(most, 0)
    key = (0, lane.device, rank, lane.stream, 0)
    group = "note" if is_note else "gpu"
    shown = ShownLane(trace, lane, title, group, slices, part_of(trace.depth, slices), families)
    return key, shown


def _host_lanes(
    trace: Trace, lane: Lane, slices: Int32, families: UInt8
) -> list[tuple[tuple[object, ...], ShownLane]]:
    kind = part_of(trace.kind, slices)
    launches = int((kind == SliceKind.RUNTIME).sum())
    has_steps = any(trace.lanes[step.lane_id] is lane for step in trace.steps)
    title = host_title(lane, has_steps)
    place = 1 if lane.kind == LaneKind.CPU_THREAD else 2
    key = (place, not has_steps, -launches, -len(slices), title)
    python = kind == SliceKind.PYTHON
    if not python.any() or python.all():
        group = "python" if python.all() else "cpu" if place == 1 else "other"
        shown = ShownLane(trace, lane, title, group, slices, part_of(trace.depth, slices), families)
        return [((*key, 0), shown)]
    depth = nesting_without(trace, slices, python)
    calls, frames = slices[~python], slices[python]
    return [
        ((*key, 0), ShownLane(trace, lane, title, "cpu", calls, depth[~python], families)),
        ((*key, 1), ShownLane(trace, lane, "  python", "python", frames, depth[python], families)),
    ]


def host_title(lane: Lane, is_main: bool) -> str:
    """The label of a thread: its number, or its name where that tells more."""
    name = clean(str(lane.name)).strip()
    tid = clean(str(lane.tid))
    if lane.kind != LaneKind.CPU_THREAD:
        return name or tid
    if is_main:
        return "CPU main"
    # "thread 3421 (python)" says no more than the number, "thread 3421 (pt_autograd_0)" does.
    known = _NAMED_THREAD.fullmatch(name)
    inner = known[1].strip() if known else ""
    if inner and inner != clean(lane.process).strip() and not inner.startswith("python"):
        return f"CPU {inner}"
    plain = not name or tid in name or name.startswith("thread ")
    return f"CPU {tid}" if plain else f"CPU {name}"
