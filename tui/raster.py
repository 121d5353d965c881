"""From slices to cells: how busy every cell of a row is, and what keeps it busy.

The cost of a row depends on its cells, not on its slices: prefix sums give the exact busy
time between any two instants. Every edge is int64, as the columns are: a float64 edge would
make ``searchsorted`` convert the whole column on each call.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
UInt8 = NDArray[np.uint8]
Bool = NDArray[np.bool_]

#: Steps in which a cell shows its busy share: eighths, as the block characters do.
FULL = 8


@dataclass(frozen=True, slots=True)
class Cells:
    """What a row of cells shows.

    Attributes:
        busy_ns: int64 (cells,), time in which at least one slice runs.
        level: uint8 (cells,), busy share in eighths, rounded; at least 1 where any slice is,
            so that none is invisible. A gap as wide as a cell leaves some cell at 4 or less.
        family: uint8 (cells,), the family with the most time; meaningless where level is 0.
        count: int64 (cells,), slices that run or begin in the cell.
        first, last: int32 (cells,), the first and last of them as index into the row, or -1.
        from_left: bool (cells + 1,), some slice runs across the cell's left edge.
    """

    busy_ns: Int64
    level: UInt8
    family: UInt8
    count: Int64
    first: Int32
    last: Int32
    from_left: Bool


class Row:
    """One row of a lane: slices sorted by start, which rarely overlap.

    Attributes:
        slices: int32 (n,), trace rows.
        start_ns, end_ns: int64 (n,).
        family: uint8 (n,), the colour class of each slice (see ``slots``).
        tone: which of a family's two tones comes first, so that nested rows differ.
    """

    def __init__(
        self, slices: Int32, start_ns: Int64, end_ns: Int64, family: UInt8, tone: int = 0
    ) -> None:
        """Prepare the prefix sums; slices must be sorted by start."""
        self.slices = slices
        self.start_ns = start_ns
        self.end_ns = end_ns
        self.tone = tone
        # ``reach`` is how far any slice so far runs; it is ``end_ns`` itself unless slices
        # overlap (damaged traces, kernels of programmatic dependent launch).
        self._reach = end_ns
        self._holder: Int32 | None = None
        if (start_ns[1:] < end_ns[:-1]).any():
            self._reach = np.maximum.accumulate(end_ns)
            grows = np.concatenate(([True], end_ns[1:] > self._reach[:-1]))
            indices = np.arange(len(slices), dtype=np.int32)
            self._holder = np.maximum.accumulate(np.where(grows, indices, 0)).astype(np.int32)
            self._busy_before = _prefix_of_union(start_ns, self._reach)
        else:
            self._busy_before = _prefix(end_ns - start_ns)
        self.recolour(family)

    def recolour(self, family: UInt8) -> None:
        """Give every slice another colour class: uint8 (n,)."""
        self.family = family
        self._families: tuple[_Family | _Overlapping, ...]
        if self._holder is not None:
            self._families = tuple(_Overlapping(self, code) for code in _codes(family))
        else:
            length = self.end_ns - self.start_ns
            self._families = tuple(_Family(family, length, code) for code in _codes(family))

    def __len__(self) -> int:
        return len(self.slices)

    def busy_until(self, time_ns: Int64) -> Int64:
        """Time covered by slices before each instant: int64, the shape of ``time_ns``."""
        return _covered(self.start_ns, self._reach, self._busy_before, time_ns)

    def index_at(self, time_ns: int, until_ns: int | None = None) -> int:
        """The slice that runs at an instant, else the first that begins before ``until_ns``.

        Returns:
            Index into the row, or -1.
        """
        i = int(np.searchsorted(self.start_ns, time_ns, "right")) - 1
        if i >= 0 and self.end_ns[i] == time_ns == self.start_ns[i]:
            return i
        if i >= 0 and self._reach[i] > time_ns:
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
        begun = np.searchsorted(self.start_ns, edges, "left")
        before = np.maximum(begun - 1, 0)
        if not len(self):
            return _empty_cells(len(edges) - 1)
        from_left = (begun > 0) & (self._reach[before] > edges)
        over = np.where(from_left, self._reach[before] - edges, 0)
        worked = self._busy_before[begun] - over
        busy = worked[1:] - worked[:-1]
        started = begun[1:] - begun[:-1]
        carried = from_left[:-1]
        count = started + carried
        held = before[:-1] if self._holder is None else self._holder[before[:-1]]
        first = np.where(carried, held, np.where(started > 0, begun[:-1], -1))
        last = np.where(started > 0, begun[1:] - 1, np.where(carried, held, -1))
        share = busy / (edges[1:] - edges[:-1])
        level = np.maximum((share * FULL + 0.5).astype(np.uint8), count > 0)
        family = self._dominant(_Edges(edges, begun, over), first, last, count)
        return Cells(
            busy, level, family, count, first.astype(np.int32), last.astype(np.int32), from_left
        )

    def _dominant(self, edges: _Edges, first: Int64, last: Int64, count: Int64) -> UInt8:
        """The family with the most time in each cell."""
        low, high = edges.time_ns[:-1], edges.time_ns[1:]

        def inside(index: Int64) -> Int64:
            part = np.minimum(self.end_ns[index], high) - np.maximum(self.start_ns[index], low)
            return np.asarray(part)

        winner = np.where(inside(last) > inside(first), last, first)
        family: UInt8 = self.family[winner]
        crowded = np.flatnonzero(count > 2)
        if not len(crowded) or len(self._families) < 2:
            return family
        # The right edge of one cell is the left of the next: each is looked up once.
        needed = np.zeros(len(edges.time_ns), dtype=np.bool_)
        needed[crowded] = needed[crowded + 1] = True
        looked = edges.of(np.flatnonzero(needed))
        left = (np.cumsum(needed) - 1)[crowded]
        times = np.empty((len(self._families), len(crowded)), dtype=np.int64)
        for place, part in enumerate(self._families):
            until = part.until(looked)
            np.subtract(until[left + 1], until[left], out=times[place])
        best = times.argmax(axis=0)
        codes = np.array([part.code for part in self._families], dtype=np.uint8)
        family[crowded] = np.where(times.max(axis=0) > 0, codes[best], family[crowded])
        return family

    def _holding(self, index: int) -> int:
        return index if self._holder is None else int(self._holder[index])


@dataclass(frozen=True, slots=True)
class _Edges:
    """Instants, and where each lies in a row.

    Attributes:
        time_ns: int64 (n,).
        begun: int64 (n,), how many slices begin before.
        over: int64 (n,), for how long the slices that run then go on.
    """

    time_ns: Int64
    begun: Int64
    over: Int64

    def of(self, chosen: NDArray[np.intp]) -> _Edges:
        """Some of them."""
        return _Edges(self.time_ns[chosen], self.begun[chosen], self.over[chosen])


class _Family:
    """The slices of one family in a row without overlaps, with prefix sums of their time."""

    def __init__(self, family: UInt8, length: Int64, code: int) -> None:
        self.code = code
        members = np.flatnonzero(family == code)
        self._before = _prefix(length[members])
        self._members = members.astype(np.int32)

    def until(self, edges: _Edges) -> Int64:
        """Time covered before each instant."""
        # Needles of another type would make the search convert the whole column.
        begun = np.searchsorted(self._members, edges.begun.astype(np.int32), "left")
        # The one slice that may run across an instant is the last to begin before it.
        last = self._members[np.maximum(begun - 1, 0)]
        runs = (begun > 0) & (last == edges.begun - 1)
        return np.asarray(self._before[begun] - np.where(runs, edges.over, 0))


class _Overlapping:
    """The slices of one family in a row where some overlap."""

    def __init__(self, row: Row, code: int) -> None:
        self.code = code
        mine = np.flatnonzero(row.family == code)
        self._start_ns = row.start_ns[mine]
        self._reach = np.maximum.accumulate(row.end_ns[mine])
        self._before = _prefix_of_union(self._start_ns, self._reach)

    def until(self, edges: _Edges) -> Int64:
        """Time covered before each instant."""
        return _covered(self._start_ns, self._reach, self._before, edges.time_ns)


def _codes(family: UInt8) -> list[int]:
    """The families of a row; none where all slices are of one, which needs no sums."""
    codes: list[int] = np.flatnonzero(np.bincount(family, minlength=1)).tolist()
    return codes if len(codes) > 1 else []


def _prefix(length: Int64) -> Int64:
    """Sums of the first i lengths: int64 (n + 1,)."""
    before = np.zeros(len(length) + 1, dtype=np.int64)
    np.cumsum(length, out=before[1:])
    return before


def _prefix_of_union(start_ns: Int64, reach: Int64) -> Int64:
    """Covered time up to the end of the first i slices: int64 (n + 1,)."""
    before = np.zeros(len(start_ns) + 1, dtype=np.int64)
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


def _empty_cells(cells: int) -> Cells:
    zeros = np.zeros(cells, dtype=np.int64)
    none = np.full(cells, -1, dtype=np.int32)
    blank = np.zeros(cells, dtype=np.uint8)
    return Cells(zeros, blank, blank, zeros, none, none, np.zeros(cells + 1, dtype=np.bool_))
