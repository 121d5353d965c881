"""The slices of one row, prepared for the questions that a timeline asks.

Prefix sums give the exact busy time between any two instants. Times are int64, as the columns
are: a float64 instant would make ``searchsorted`` convert the whole column on each call.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from whichlayer.tui.frame_cells import Cells, rasterise
from whichlayer.tui.frame_columns import Memory
from whichlayer.tui.frame_families import BLOCK
from whichlayer.tui.frame_search import Grid

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
UInt8 = NDArray[np.uint8]

#: What rows of so many slices need for a frame is made at once.
_LONG = 1 << 16

#: Where rows lie that are no stretches of a trace's columns.
_TIMES, _FAMILIES = Memory(np.int64), Memory(np.uint8)

#: Float64 adds up whole numbers exactly below this.
_EXACT = 2**53


class Row:
    """One row of a lane: slices sorted by start, which rarely overlap.

    Attributes:
        slices: int32 (n,), trace rows.
        start_ns, end_ns: int64 (n,).
        family: uint8 (n,), the colour class of each slice (see ``slots``).
        codes: uint8, the classes that occur, ascending.
        tone: which of a family's two tones comes first, so that nested rows differ.
        reach: int64 (n,), how far any slice so far runs: ``end_ns`` itself unless slices
            overlap (damaged traces, kernels of programmatic dependent launch).
        holder: int32 (n,), which slice runs so far; None where none overlap.
        busy_before: int64 (n + 1,), time covered by the first i slices.
    """

    #: Its cells are not those of slices: it works them out by itself.
    has_own_cells = False

    def __init__(
        self, slices: Int32, start_ns: Int64, end_ns: Int64, family: UInt8, tone: int = 0
    ) -> None:
        """Prepare the prefix sums; slices must be sorted by start."""
        self.slices = slices
        self.start_ns = start_ns = _TIMES.kept(start_ns)
        self.end_ns = end_ns = _TIMES.kept(end_ns)
        self.tone = tone
        self.reach = end_ns
        self.holder: Int32 | None = None
        if (start_ns[1:] < end_ns[:-1]).any():
            self.reach = _TIMES.kept(np.maximum.accumulate(end_ns))
            grows = np.concatenate(([True], end_ns[1:] > self.reach[:-1]))
            indices = np.arange(len(slices), dtype=np.int32)
            self.holder = np.maximum.accumulate(np.where(grows, indices, 0)).astype(np.int32)
            self.busy_before = _prefix_of_union(start_ns, self.reach)
        else:
            self.busy_before = _prefix(end_ns - start_ns)
        self.recolour(family)
        if len(slices) >= _LONG:  # the first frame is not to wait for it
            _ = self.grid
            if self.holder is None and len(self.codes) > 1:
                self.family_blocks()

    @cached_property
    def grid(self) -> Grid:
        """Where instants lie among the slices, roughly; only of a row that has some."""
        return Grid.over(self.start_ns)

    def recolour(self, family: UInt8) -> None:
        """Give every slice another colour class: uint8 (n,)."""
        self.family = _FAMILIES.kept(family)
        self.codes = np.flatnonzero(np.bincount(family, minlength=1)).astype(np.uint8)
        self._family_times: Int64 | None = None
        self._families: dict[int, _Overlapping] = {}

    def __len__(self) -> int:
        return len(self.slices)

    def busy_until(self, time_ns: Int64) -> Int64:
        """Time covered by slices before each instant: int64, the shape of ``time_ns``."""
        return _covered(self.start_ns, self.reach, self.busy_before, time_ns)

    def index_at(self, time_ns: int, until_ns: int | None = None) -> int:
        """The slice that runs at an instant, else the first that begins before ``until_ns``.

        Returns:
            Index into the row, or -1.
        """
        i = int(np.searchsorted(self.start_ns, time_ns, "right")) - 1
        if i >= 0 and self.end_ns[i] == time_ns == self.start_ns[i]:
            return i
        if i >= 0 and self.reach[i] > time_ns:
            return i if self.end_ns[i] > time_ns else self._holding(i)
        if until_ns is not None and i + 1 < len(self) and self.start_ns[i + 1] < until_ns:
            return i + 1
        return -1

    def neighbour(self, time_ns: int, forward: bool) -> int:
        """The next slice that begins after an instant, or the last that begins before it."""
        if forward:
            i = int(np.searchsorted(self.start_ns, time_ns, "right"))
            return i if i < len(self) else -1
        return int(np.searchsorted(self.start_ns, time_ns, "left")) - 1

    def edges_within(self, low_ns: int, high_ns: int) -> list[int]:
        """Beginnings and ends of slices in ``[low, high)``: the first and the last of each."""
        found: list[int] = []
        begun = np.searchsorted(self.start_ns, [low_ns, high_ns], "left").tolist()
        if begun[1] > begun[0]:
            found += [int(self.start_ns[begun[0]]), int(self.start_ns[begun[1] - 1])]
        ends = self.end_ns[max(begun[0] - 1, 0) : begun[1]]
        ends = ends[(ends >= low_ns) & (ends < high_ns)]
        if len(ends):
            found += [int(ends.min()), int(ends.max())]
        return found

    def cells(self, edges: Int64) -> Cells:
        """Rasterise the row.

        Args:
            edges: int64 (cells + 1,), strictly increasing.
        """
        return rasterise([self], edges).row(0)

    def family_blocks(self) -> Int64:
        """Time of each family before every eighth slice and at the end: int64 (blocks + 1, codes).

        Worked out when first asked for; only for rows without overlaps.
        """
        if self._family_times is None:
            whole, rest = divmod(len(self), BLOCK)
            length = (self.end_ns - self.start_ns)[: whole * BLOCK]
            family, count = self.family[: whole * BLOCK], len(self.codes)
            blocks = np.zeros((whole + 1 + (rest > 0), count), np.int64)
            if self.busy_before[-1] < _EXACT:
                number = np.zeros(256, np.intp)
                number[self.codes] = np.arange(count)
                place = number[family].reshape(whole, BLOCK)
                place += count * np.arange(whole)[:, None]
                sums = np.bincount(place.ravel(), weights=length, minlength=whole * count)
                blocks[1 : whole + 1] = sums.reshape(whole, count)
            else:
                for place_of, code in enumerate(self.codes.tolist()):
                    mine = np.where(family == code, length, 0).reshape(whole, BLOCK)
                    blocks[1 : whole + 1, place_of] = mine.sum(axis=1)
            if rest:
                for place_of, code in enumerate(self.codes.tolist()):
                    last = self.family[-rest:] == code
                    blocks[-1, place_of] = (self.end_ns - self.start_ns)[-rest:][last].sum()
            self._family_times = np.cumsum(blocks, axis=0)
        return self._family_times

    def family_until(self, code: int, time_ns: Int64) -> Int64:
        """Time covered by slices of one family before each instant, whether they overlap or not."""
        if code not in self._families:
            self._families[code] = _Overlapping(self, code)
        return self._families[code].until(time_ns)

    def _holding(self, index: int) -> int:
        return index if self.holder is None else int(self.holder[index])


class _Overlapping:
    """The slices of one family in a row where some overlap."""

    def __init__(self, row: Row, code: int) -> None:
        mine = np.flatnonzero(row.family == code)
        self._start_ns = row.start_ns[mine]
        self._reach = np.maximum.accumulate(row.end_ns[mine])
        self._before = _prefix_of_union(self._start_ns, self._reach)

    def until(self, time_ns: Int64) -> Int64:
        """Time covered before each instant."""
        return _covered(self._start_ns, self._reach, self._before, time_ns)


def _prefix(length: Int64) -> Int64:
    """Sums of the first i lengths: int64 (n + 1,)."""
    before = _TIMES.room(len(length) + 1)
    before[0] = 0
    np.cumsum(length, out=before[1:])
    return before


def _prefix_of_union(start_ns: Int64, reach: Int64) -> Int64:
    """Covered time up to the end of the first i slices: int64 (n + 1,)."""
    before = _TIMES.room(len(start_ns) + 1)
    before[0] = 0
    if len(start_ns):
        fresh = start_ns.copy()
        np.maximum(fresh[1:], reach[:-1], out=fresh[1:])
        np.cumsum(reach - fresh, out=before[1:])
    return before


def _covered(start_ns: Int64, reach: Int64, before: Int64, time_ns: Int64) -> Int64:
    """Covered time before each instant."""
    begun = np.searchsorted(start_ns, time_ns, "left")
    if not len(start_ns):
        return np.zeros(np.shape(time_ns), dtype=np.int64)
    over = reach[np.maximum(begun - 1, 0)] - time_ns
    return np.asarray(before[begun] - np.where(begun > 0, np.maximum(over, 0), 0))
