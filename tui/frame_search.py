"""Finds where the edges of cells lie among the slices of rows, all rows of a frame together.

A grid over the time of each row says between which slices an edge is, however many there are;
halving what is left takes as many turns as the fullest interval of the grid in sight needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whichlayer.tui.frame_columns import Column
from whichlayer.tui.frame_families import Codes

if TYPE_CHECKING:
    from whichlayer.tui.raster import Row

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
Places = NDArray[np.intp]

#: Slices of one interval of a grid, on the average, as powers of two: few where that takes little
#: memory; where a row is long most of the time goes to waiting for it.
_EACH_SHIFT, _LONG_SHIFT = 2, 4

#: Rows of so many slices are long.
_LONG = 1 << 17

#: Rows of so few that lie in one memory are searched one by one.
_FEW_ROWS = 2


@dataclass(frozen=True, slots=True)
class Grid:
    """Equal intervals of time over a row.

    Attributes:
        begin_ns: where the first begins.
        shift: their length is this power of two.
        begun: int32 (intervals + 3,), slices that begin before each interval, after one more
            at the front and before one more at the end for what is outside.
    """

    begin_ns: int
    shift: int
    begun: Int32

    @classmethod
    def over(cls, start_ns: Int64) -> Grid:
        """A grid over slices sorted by start; at least one."""
        begin, span = int(start_ns[0]), int(start_ns[-1]) - int(start_ns[0])
        most = max(len(start_ns) >> (_EACH_SHIFT if len(start_ns) < _LONG else _LONG_SHIFT), 1)
        shift = max(span.bit_length() - (most.bit_length() - 1), 0)
        inner = np.arange(1, (span >> shift) + 1, dtype=np.int64) << shift
        inner += begin
        begun = np.zeros(len(inner) + 4, np.int32)
        begun[2:-2] = start_ns.searchsorted(inner)
        begun[-2:] = len(start_ns)
        return cls(begin, shift, begun)


class Stack:
    """Rows that are drawn together, prepared for many frames.

    Attributes:
        rows: from top to bottom.
        tones: uint8, the first tone of each.
        own: those that work out their cells by themselves, counters.
        shown: the others that have slices.
        plain: these rows.
        start, reach, family, busy_before: their columns.
        length: intp, slices of each.
        mixed: bool, which of them have more than one family.
        overlapping: the numbers of those in which slices overlap.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        """Take the rows."""
        self.rows = tuple(rows)
        self.tones = np.array([row.tone for row in rows], np.uint8)
        self.own = [y for y, row in enumerate(rows) if row.has_own_cells]
        self.shown = [y for y, row in enumerate(rows) if not row.has_own_cells and len(row)]
        self.plain = [self.rows[y] for y in self.shown]
        plain = self.plain
        self.start = Column([row.start_ns for row in plain])
        self.reach = Column([row.reach for row in plain])
        self.family = Column([row.family for row in plain])
        self.busy_before = Column([row.busy_before for row in plain])
        self.mixed = np.array([len(row.codes) > 1 for row in plain], np.bool_)
        self.overlapping = [y for y, row in enumerate(plain) if row.holder is not None]
        self.length = np.array([len(row) for row in plain], np.intp)
        self._codes: dict[bytes, tuple[list[Row], Codes]] = {}
        grids = [row.grid for row in plain]
        self._begin = np.array([grid.begin_ns for grid in grids], np.int64)[:, None]
        self._shift = np.array([grid.shift for grid in grids], np.int64)[:, None]
        sizes = np.array([len(grid.begun) for grid in grids], np.intp)[:, None]
        self._greatest = sizes - 3
        self._at = np.cumsum(sizes, axis=0) - sizes + 1
        self._begun = np.concatenate([grid.begun for grid in grids] or [np.zeros(0, np.int32)])

    def coloured(self, places: Places) -> tuple[list[Row], Codes]:
        """Some of the plain rows, and the families that these have."""
        key = places.tobytes()
        if key not in self._codes:
            rows = [self.plain[y] for y in places.tolist()]
            self._codes[key] = rows, Codes(rows)
        return self._codes[key]

    def begun(self, edges: Int64) -> Int64:
        """How many slices of each plain row begin before each edge: int64 (rows, edges)."""
        place = edges - self._begin
        place >>= self._shift
        np.maximum(place, -1, out=place)
        np.minimum(place, self._greatest, out=place)
        place += self._at
        low = self._begun.take(place)
        place += 1
        width = self._begun.take(place)
        width -= low
        found = low.astype(np.intp)
        for run in self.start.runs:
            if run.stop - run.first > _FEW_ROWS:
                mine = slice(run.first, run.stop)
                self._halve(run.flat, mine, edges, found[mine], int(width[mine].max()))
                continue
            for y in range(run.first, run.stop):
                first, stop = int(low[y, 0]), int(low[y, -1] + width[y, -1])
                found[y] = self.plain[y].start_ns[first:stop].searchsorted(edges)
                found[y] += first
        return found

    def _halve(self, flat: Int64, mine: slice, edges: Int64, found: Int64, width: int) -> None:
        """Move ``found`` on to the first slice that does not begin before the edge."""
        offset = self.start.offset[mine]
        step = 1 << width.bit_length() >> 1
        length = self.length[mine]
        is_inner = bool((found[:, -1] + 2 * step <= length).all())
        found += offset
        last = length[:, None] + (offset - 1)
        start, at = np.empty(found.shape, np.int64), np.empty(found.shape, np.intp)
        before = np.empty(found.shape, np.bool_)
        while step:
            np.add(found, step - 1, out=at)
            if not is_inner:
                np.minimum(at, last, out=at)
            flat.take(at, out=start, mode="clip")
            np.less(start, edges, out=before)
            np.multiply(before, step, out=at)
            found += at
            step >>= 1
        found -= offset
        if not is_inner:
            np.minimum(found, length[:, None], out=found)
