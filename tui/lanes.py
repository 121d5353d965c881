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
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.text import clean, gpu_text
from whichlayer.analysis.trace.columns import Lane, Trace
from whichlayer.analysis.trace.kinds import GPU_WORK, LaneKind, SliceKind
from whichlayer.tui.family import Family
from whichlayer.tui.lane_depths import by_depth, nesting_without, part_of
from whichlayer.tui.lane_order import USUAL, LaneOrder
from whichlayer.tui.raster import Row

Int32 = NDArray[np.int32]
UInt8 = NDArray[np.uint8]

#: Rows of a lane that are shown until it is unfolded.
FOLDED_ROWS = {"gpu": 2, "note": 1, "cpu": 5, "python": 3, "other": 2, "counter": 3,
               "instant": 1}  # fmt: skip

#: How Kineto writes a thread that has a name of its own.
_NAMED_THREAD = re.compile(r"thread \S+ \((.+)\)")

#: What is listed among the GPU's lanes.
_OF_GPU = frozenset({LaneKind.GPU_STREAM, LaneKind.GPU_ANNOTATION, LaneKind.GPU_SYNC})

#: With more lanes than this, rows are not dealt by what is used in the stretch in sight: looking
#: into all of them would keep every key waiting.
_MOST_DEALT = 2000

#: So few lanes are faster counted one by one than by sums over all slices.
_FEW_LANES = 500

#: Lines that one row of a lane may be high.
MOST_LINES = 6

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
        is_one_of_many: there are too many lanes to look into each for the rows that it needs.
        noted: rows have a note however narrow labels are, where it fits.
    """

    is_one_of_many = False
    noted = False

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
        self._unsorted: tuple[Int32, Int32] | None = (slices, depth)
        self._trace = trace
        self._families = families
        self._rows: dict[int, Row] = {}
        self.first_row = self._plain_outer_rows() if group == "python" else 0

    @classmethod
    def of_rows(
        cls,
        trace: Trace,
        lane: Lane,
        title: str,
        group: str,
        families: UInt8,
        slices: Int32,
        bounds: NDArray[np.int64],
        first_row: int,
    ) -> ShownLane:
        """A lane whose rows are known: the slices row by row, and where each row begins."""
        nothing = np.zeros(0, np.int32)
        shown = cls(trace, lane, title, "", nothing, nothing, families)
        shown.group = group
        shown.depth = len(bounds) - 1
        shown.first_row = first_row
        shown._slices, shown._bounds, shown._unsorted = slices, bounds, None
        return shown

    def rows_in_order(self) -> tuple[Int32, NDArray[np.int64]]:
        """Its slices row by row, and where each row begins, as :meth:`of_rows` takes them."""
        return self._sorted()

    def row(self, depth: int) -> Row:
        """One row, prepared when first asked for."""
        found = self._rows.get(depth)
        if found is None:
            slices, bounds = self._sorted()
            mine = slices[bounds[depth] : bounds[depth + 1]]
            found = self._rows[depth] = Row(
                mine,
                part_of(self._trace.start_ns, mine),
                part_of(self._trace.end_ns, mine),
                part_of(self._families, mine),
                tone=depth & 1,
            )
        return found

    def sort_rows(self) -> None:
        """Do ahead what the first of its rows would do for all of them."""
        self._sorted()

    def row_title(self, depth: int, is_first: bool) -> str:
        """The label of one row: the lane's on its first, none on the others."""
        return self.title if is_first else ""

    def row_note(self, depth: int, room: int) -> str:
        """What is said at the right of a row's label, beside a title that leaves ``room`` cells.

        Narrow labels have none but those of lanes that are ``noted``.
        """
        return ""

    @property
    def most_rows(self) -> int:
        """Rows that it can take without being unfolded."""
        return max(self.depth - self.first_row, 1)

    def used_rows(self, low_ns: int, high_ns: int) -> int:
        """Rows that it needs to show what lies in ``[low_ns, high_ns)`` while folded."""
        if self.is_one_of_many:
            return self.most_rows
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
        slices, bounds = self._sorted()
        places = np.flatnonzero(slices == slice_row)
        if not len(places):
            return -1
        return int(np.searchsorted(bounds, places[0], "right")) - 1

    def _sorted(self) -> tuple[Int32, NDArray[np.int64]]:
        """The slices row by row, and where each row begins: sorted when first asked for."""
        unsorted = self._unsorted  # which another thread may do away with meanwhile
        if unsorted is not None:
            slices, depth = unsorted
            self._slices = slices[by_depth(depth)] if self.depth > 1 else slices
            counts = np.bincount(depth, minlength=1)
            self._bounds = np.concatenate(([0], np.cumsum(counts)))
            self._unsorted = None
        return self._slices, self._bounds

    def _plain_outer_rows(self) -> int:
        """Leading rows with at most two slices: ``<module>``, ``main`` and the like."""
        counts = np.diff(self._sorted()[1])
        busy = np.flatnonzero(counts > 2)
        return int(busy[0]) if len(busy) else 0


@dataclass(frozen=True, slots=True)
class ShownRow:
    """One line of the timeline: a row of a lane, or a part of one that is several lines high.

    ``lane`` is the index of the lane; ``hidden`` counts the rows folded away below this one;
    ``part`` is which line of the row's ``parts`` it is, from the top.
    """

    lane: int
    depth: int
    is_first: bool
    hidden: int
    part: int = 0
    parts: int = 1


def shown_rows(
    lanes: tuple[ShownLane, ...],
    folds: Mapping[int, Fold],
    lines: int = 0,
    used: tuple[int, ...] = (),
    order: LaneOrder = USUAL,
) -> tuple[ShownRow, ...]:
    """All lines of the timeline from top to bottom.

    Args:
        lanes: the lanes in order.
        folds: how much is shown of each; ``SOME`` where nothing is said.
        lines: height of the screen; lanes get more rows than usual as long as all fit.
        used: rows that each lane has a use for, where that is known; the others are left out
            if not all fit.
        order: which lanes are shown, in which order, and how many rows the user gave them.
    """
    rows: list[ShownRow] = []
    listed = order.listed(len(lanes))
    seen = tuple(lanes[index] for index in listed)
    shown: list[Fold | int] = [folds.get(index, Fold.SOME) for index in listed]
    if order.rows:
        wanted = dict(order.rows)
        shown = [
            _Fixed(wanted[index]) if index in wanted else fold
            for index, fold in zip(listed, shown, strict=True)
        ]
    dealt = _dealt_rows(seen, shown, lines, tuple(used[i] for i in listed) if used else ())
    for place, index in enumerate(listed):
        lane = lanes[index]
        depths = _depths_of(lane, shown[place], dealt[place])
        lines_of = _lines_by_row(depths, shown[place])
        for depth, parts in zip(depths, lines_of, strict=True):
            for part in range(parts):
                is_last = depth == depths[-1] and part == parts - 1
                hidden = lane.depth - len(depths) if is_last else 0
                is_first = depth == depths[0] and not part
                rows.append(ShownRow(index, depth, is_first, hidden, part, parts))
    return tuple(rows)


def note_crowd(lanes: tuple[ShownLane, ...]) -> None:
    """Tell each lane whether it is one of too many."""
    for lane in lanes:
        lane.is_one_of_many = len(lanes) > _MOST_DEALT


def used_rows(
    lanes: tuple[ShownLane, ...], low_ns: int, high_ns: int, least: Mapping[int, int]
) -> tuple[int, ...]:
    """Rows that each lane has a use for in ``[low_ns, high_ns)``, as :func:`shown_rows` takes them.

    Empty, which stands for the usual rows, where there are too many lanes to look into each.

    Args:
        lanes: the lanes in order.
        low_ns: where what can be seen begins.
        high_ns: where it ends.
        least: rows that some lanes need in any case, by lane.
    """
    if lanes and lanes[0].is_one_of_many:
        return ()
    used = [lane.used_rows(low_ns, high_ns) for lane in lanes]
    for index, rows in least.items():
        used[index] = max(used[index], rows)
    return tuple(used)


class _Fixed(int):
    """So many rows, whatever there is room for."""


def _depths_of(lane: ShownLane, fold: Fold | int, rows: int) -> range:
    """Which rows of a lane are on the screen; so many of one that shows some."""
    if isinstance(fold, Fold):
        return lane.shown_depths(fold, rows)
    first = min(lane.first_row, max(lane.depth - fold, 0))
    return range(first, min(first + fold, lane.depth))


def _lines_by_row(depths: range, fold: Fold | int) -> list[int]:
    """How many lines each row has: more than one where the user wants more than there are rows."""
    if isinstance(fold, Fold) or fold <= len(depths) or not depths:
        return [1] * len(depths)
    lines = min(int(fold), len(depths) * MOST_LINES)
    return [lines // len(depths) + (place < lines % len(depths)) for place in range(len(depths))]


def _line_count(lane: ShownLane, fold: Fold | int, rows: int) -> int:
    return sum(_lines_by_row(_depths_of(lane, fold, rows), fold))


def _dealt_rows(
    lanes: tuple[ShownLane, ...], folds: list[Fold | int], lines: int, used: tuple[int, ...]
) -> list[int]:
    """Rows that each lane gets: the usual ones, then more dealt round while any are left."""
    some = [index for index, fold in enumerate(folds) if fold is Fold.SOME]
    wish = [lane.most_rows for lane in lanes]
    left = lines - sum(_line_count(lane, folds[i], wish[i]) for i, lane in enumerate(lanes))
    if left < 0 and used:
        wish = [min(max(rows, 1), most) for rows, most in zip(used, wish, strict=True)]
    dealt = [min(FOLDED_ROWS[lane.group], wish[i]) for i, lane in enumerate(lanes)]
    left = lines - sum(_line_count(lane, folds[i], dealt[i]) for i, lane in enumerate(lanes))
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
    hidden = trace.stray | (trace.kind == SliceKind.PROFILER)
    if trace.part is not None:
        hidden |= (trace.start_ns >= trace.part.high_ns) | (trace.end_ns < trace.part.low_ns)
    # What is asked of every lane is counted once for all of them: there may be very many.
    hidings = _by_lane(trace, hidden)
    launches = _by_lane(trace, (trace.kind == SliceKind.RUNTIME) & ~hidden)
    frames = _by_lane(trace, (trace.kind == SliceKind.PYTHON) & ~hidden)
    stepping = {step.lane_id for step in trace.steps}
    rows = np.arange(len(trace), dtype=np.int32)
    bounds = trace.lane_rows.tolist()
    for index, lane in enumerate(trace.lanes):
        first, last = bounds[index], bounds[index + 1]
        slices = rows[first:last]
        if hidings[index]:
            slices = slices[~hidden[first:last]]
        if not len(slices):
            continue
        if lane.kind in _OF_GPU:
            lanes.append(_gpu_lane(trace, lane, slices, families))
        else:
            host = _HostLane(lane, slices, launches[index], frames[index], index in stepping)
            lanes.extend(_host_lanes(trace, host, families))
    lanes.sort(key=lambda pair: pair[0])
    return tuple(lane for _, lane in lanes)


def _by_lane(trace: Trace, chosen: NDArray[np.bool_]) -> list[int]:
    """How many of the chosen slices each lane has."""
    if len(trace.lanes) <= _FEW_LANES:
        bounds = trace.lane_rows.tolist()
        return [int(np.count_nonzero(chosen[low:high])) for low, high in pairwise(bounds)]
    before = np.concatenate(([0], np.cumsum(chosen)))
    return [int(count) for count in np.diff(before[trace.lane_rows])]


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


@dataclass(frozen=True, slots=True)
class _HostLane:
    """A lane off the GPU: its slices that are shown, and what its place depends on."""

    lane: Lane
    slices: Int32
    launches: int
    frames: int
    has_steps: bool


def _host_lanes(
    trace: Trace, host: _HostLane, families: UInt8
) -> list[tuple[tuple[object, ...], ShownLane]]:
    lane, slices = host.lane, host.slices
    title = host_title(lane, host.has_steps)
    place = 1 if lane.kind == LaneKind.CPU_THREAD else 2
    key = (place, not host.has_steps, -host.launches, -len(slices), title)
    if host.frames in (0, len(slices)):
        group = "python" if host.frames else "cpu" if place == 1 else "other"
        shown = ShownLane(trace, lane, title, group, slices, part_of(trace.depth, slices), families)
        return [((*key, 0), shown)]
    python = part_of(trace.kind, slices) == SliceKind.PYTHON
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
