"""A lane of the timeline: whose slices it has, and in which row each is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.trace.columns import Lane, Trace
from whichlayer.tui.lane_depths import by_depth, part_of
from whichlayer.tui.raster import Row

Int32 = NDArray[np.int32]
UInt8 = NDArray[np.uint8]

#: Rows of a lane that are shown until it is unfolded.
FOLDED_ROWS = {"gpu": 2, "note": 1, "cpu": 5, "python": 3, "other": 2, "counter": 3,
               "instant": 1}  # fmt: skip

#: With more lanes than this, rows are not dealt by what is used in the stretch in sight: looking
#: into all of them would keep every key waiting.
_MOST_DEALT = 2000

#: Frames in a row that say nothing: ``<module>``, ``main`` and the like.
_FEW_FRAMES = 2

#: Part of a stretch that a frame takes at least which is said to fill it.
_FILLED = 0.9

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

    @property
    def says_little(self) -> bool:
        """Python frames of a thread that only waits: none of its rows holds more than a few."""
        if self.group != "python":
            return False
        return not bool((np.diff(self._sorted()[1]) > _FEW_FRAMES).any())

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

    def outer_rows(self, low_ns: int, high_ns: int) -> int:
        """Rows after ``first_row`` of Python frames that fill a stretch, but for the innermost.

        Each tells one name for all of what is in sight.
        """
        if self.group != "python" or self.is_one_of_many:
            return 0
        filled = 0
        for depth in range(self.first_row, self.depth):
            row = self.row(depth)
            first = int(np.searchsorted(row.end_ns, low_ns, "right"))
            stop = int(np.searchsorted(row.start_ns, high_ns, "left"))
            inside = np.minimum(row.end_ns[first:stop], high_ns)
            inside = inside - np.maximum(row.start_ns[first:stop], low_ns)
            if stop <= first or int(inside.max()) < _FILLED * (high_ns - low_ns):
                break
            filled += 1
        return max(filled - 1, 0)

    def shown_depths(self, fold: Fold, rows: int, outer: int = 0) -> range:
        """Which rows are on the screen; so many of a lane that shows some, without outer ones."""
        if fold == Fold.ALL:
            return range(self.depth)
        first = min(self.first_row + outer, self.depth - 1)
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
        busy = np.flatnonzero(counts > _FEW_FRAMES)
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


def note_crowd(lanes: tuple[ShownLane, ...]) -> None:
    """Tell each lane whether it is one of too many."""
    for lane in lanes:
        lane.is_one_of_many = len(lanes) > _MOST_DEALT
