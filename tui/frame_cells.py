"""From slices to cells, all rows of a frame together.

What a frame costs depends on its cells, not on the slices: each row is searched once for the
edges of the cells, and prefix sums give the exact busy time between them. All that follows is
arithmetic on arrays of rows times cells. Every edge is int64, as the columns are: a float64 edge
would make ``searchsorted`` convert the whole column on each call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whichlayer.tui.frame_families import Edges, commonest

if TYPE_CHECKING:
    from whichlayer.tui.raster import Row

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
UInt8 = NDArray[np.uint8]
Bool = NDArray[np.bool_]

#: Steps in which a cell shows its busy share: eighths, as the block characters do.
FULL = 8


#: Long rows have a signpost at every so many slices, a power of two.
SIGNPOST = 16


@dataclass(frozen=True, slots=True)
class Cells:
    """What cells show: arrays of the shape (cells,) for one row, (rows, cells) for many.

    Attributes:
        busy_ns: int64, time in which at least one slice runs.
        level: uint8, busy share in eighths, rounded; at least 1 where any slice is, so that
            none is invisible. A gap as wide as a cell leaves some cell at 4 or less.
        family: uint8, the family with the most time; meaningless where level is 0.
        count: int64, slices that run or begin in the cell.
        first, last: int32, the first and last of them as index into the row, or -1.
        from_left: bool (…, cells + 1), some slice runs across the cell's left edge.
    """

    busy_ns: Int64
    level: UInt8
    family: UInt8
    count: Int64
    first: Int32
    last: Int32
    from_left: Bool

    def row(self, y: int) -> Cells:
        """One of the rows."""
        return Cells(
            self.busy_ns[y], self.level[y], self.family[y], self.count[y],
            self.first[y], self.last[y], self.from_left[y],
        )  # fmt: skip

    def take(self, rows: NDArray[np.intp]) -> Cells:
        """Some of the rows."""
        return Cells(
            self.busy_ns[rows], self.level[rows], self.family[rows], self.count[rows],
            self.first[rows], self.last[rows], self.from_left[rows],
        )  # fmt: skip

    def put(self, y: int, row: Cells) -> None:
        """Take a row that was worked out by itself."""
        self.busy_ns[y], self.level[y], self.family[y] = row.busy_ns, row.level, row.family
        self.count[y], self.first[y], self.last[y] = row.count, row.first, row.last
        self.from_left[y] = row.from_left


def rasterise(rows: Sequence[Row], edges: Int64) -> Cells:
    """Work out what the cells of some rows show.

    Args:
        rows: from top to bottom.
        edges: int64 (cells + 1,), strictly increasing; the same for all rows.

    Returns:
        Arrays of the shape (rows, cells).
    """
    found = _looked_up(rows, edges)
    begun, over = found.begun, found.over
    from_left = over > 0
    worked = found.done - over
    busy = worked[:, 1:] - worked[:, :-1]
    started = begun[:, 1:] - begun[:, :-1]
    carried = from_left[:, :-1]
    any_started = started > 0
    count = started + carried
    held = found.held[:, :-1]
    first = np.where(carried, held, np.where(any_started, begun[:, :-1], -1))
    last = np.where(any_started, begun[:, 1:] - 1, first)
    level = (busy / (edges[1:] - edges[:-1]) * FULL + 0.5).astype(np.uint8)
    np.maximum(level, count > 0, out=level)
    family = np.where(any_started, found.latest[:, 1:], found.running[:, :-1])
    commonest(rows, found, count, family)
    cells = Cells(
        busy, level, family, count, first.astype(np.int32), last.astype(np.int32), from_left
    )
    for y, row in enumerate(rows):
        if row.has_own_cells:
            cells.put(y, row.cells(edges))
    return cells


def _search(rows: Sequence[Row], shown: Sequence[int], edges: Int64, begun: Int64) -> None:
    """Count the slices of some rows that begin before each edge: ``begun`` is written to."""
    long: list[int] = []
    for y in shown:
        signposts = rows[y].signposts
        if signposts is None:
            begun[y] = rows[y].start_ns.searchsorted(edges)
        else:
            begun[y] = signposts.searchsorted(edges)
            long.append(y)
    if not long:
        return
    # From the last signpost before the edge to the last slice before it, by halves.
    last = (begun[long] - 1) * SIGNPOST
    none = last < 0
    np.maximum(last, 0, out=last)
    start = np.empty_like(last)
    step = SIGNPOST // 2
    while step:
        ahead = last + step
        for place, y in enumerate(long):
            rows[y].start_ns.take(ahead[place], out=start[place], mode="clip")
        last += (start < edges) * step
        step //= 2
    lengths = np.array([len(rows[y]) for y in long])[:, None]
    np.minimum(last, lengths - 1, out=last)
    last += 1
    last[none] = 0
    begun[long] = last


def _looked_up(rows: Sequence[Row], edges: Int64) -> Edges:
    """Where the edges of all cells lie in each row."""
    shape = (len(rows), len(edges))
    begun, reach, done = (np.zeros(shape, np.int64) for _ in range(3))
    latest = np.zeros(shape, np.uint8)
    overlapping: list[int] = []
    shown = [y for y, row in enumerate(rows) if not row.has_own_cells and len(row)]
    _search(rows, shown, edges, begun)
    for y in shown:
        row, at = rows[y], begun[y]
        row.busy_before.take(at, out=done[y], mode="clip")
        at = at - 1  # clipped to the first slice where none has begun, which ``begun`` tells
        row.reach.take(at, out=reach[y], mode="clip")
        row.family.take(at, out=latest[y], mode="clip")
        if row.holder is not None:
            overlapping.append(y)
    over = reach - edges
    np.maximum(over, 0, out=over)
    over *= begun > 0
    held, running = begun - 1, latest
    if overlapping:
        running = latest.copy()
        for y in overlapping:
            holder = rows[y].holder
            assert holder is not None
            held[y] = holder.take(held[y], mode="clip")
            running[y] = rows[y].family.take(held[y], mode="clip")
    return Edges(edges, begun, over, done, held, latest, running)
