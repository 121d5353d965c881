"""From slices to cells, all rows of a frame together.

What a frame costs depends on its cells, not on the slices: each row is searched once for the
edges of the cells, and prefix sums give the exact busy time between them. All that follows is
arithmetic on arrays of rows times cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whichlayer.tui.frame_families import Edges, commonest
from whichlayer.tui.frame_search import Stack

if TYPE_CHECKING:
    from whichlayer.tui.raster import Row

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
UInt8 = NDArray[np.uint8]
Bool = NDArray[np.bool_]

#: Steps in which a cell shows its busy share: eighths, as the block characters do.
FULL = 8


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

    def spread(self, rows: int, places: list[int]) -> Cells:
        """So many rows, these among them at their places; nothing is in the others."""
        shape = (rows, self.level.shape[1])
        wide = Cells(
            np.zeros(shape, np.int64), np.zeros(shape, np.uint8), np.zeros(shape, np.uint8),
            np.zeros(shape, np.int64), np.full(shape, -1, np.int32), np.full(shape, -1, np.int32),
            np.zeros((rows, shape[1] + 1), np.bool_),
        )  # fmt: skip
        if places:
            wide.busy_ns[places], wide.level[places] = self.busy_ns, self.level
            wide.family[places], wide.count[places] = self.family, self.count
            wide.first[places], wide.last[places] = self.first, self.last
            wide.from_left[places] = self.from_left
        return wide

    def put(self, y: int, row: Cells) -> None:
        """Take a row that was worked out by itself."""
        self.busy_ns[y], self.level[y], self.family[y] = row.busy_ns, row.level, row.family
        self.count[y], self.first[y], self.last[y] = row.count, row.first, row.last
        self.from_left[y] = row.from_left


def rasterise(rows: Sequence[Row] | Stack, edges: Int64) -> Cells:
    """Work out what the cells of some rows show.

    Args:
        rows: from top to bottom; prepared where many frames are drawn of them.
        edges: int64 (cells + 1,), strictly increasing; the same for all rows.

    Returns:
        Arrays of the shape (rows, cells).
    """
    stack = rows if isinstance(rows, Stack) else Stack(rows)
    cells = _plain_cells(stack, edges)
    if len(stack.shown) < len(stack.rows):
        cells = cells.spread(len(stack.rows), stack.shown)
        for y in stack.own:
            cells.put(y, stack.rows[y].cells(edges))
    return cells


def _plain_cells(stack: Stack, edges: Int64) -> Cells:
    """The cells of the rows that have slices."""
    if not stack.plain:
        none = np.zeros((0, len(edges) - 1), np.int64)
        few, small = none.astype(np.int32), none.astype(np.uint8)
        return Cells(none, small, small, none, few, few, np.zeros((0, len(edges)), np.bool_))
    found = _looked_up(stack, edges)
    begun, over = found.begun, found.over
    from_left = over > 0
    worked = found.done - over
    busy = worked[:, 1:] - worked[:, :-1]
    started = begun[:, 1:] - begun[:, :-1]
    carried = from_left[:, :-1]
    any_started = started > 0
    count = started + carried
    first, last = begun[:, :-1] - carried, begun[:, 1:] - 1
    family = found.latest[:, 1:].copy()
    for y in stack.overlapping:
        held = found.held[y, :-1]
        first[y] = np.where(carried[y], held, begun[y, :-1])
        np.copyto(last[y], held, where=~any_started[y])
        np.copyto(family[y], found.running[y, :-1], where=~any_started[y])
    empty = count == 0
    first[empty] = last[empty] = -1
    share = busy / (edges[1:] - edges[:-1])
    share *= FULL
    share += 0.5
    level = share.astype(np.uint8)
    np.maximum(level, ~empty, out=level)
    commonest(stack, found, count, family)
    return Cells(
        busy, level, family, count, first.astype(np.int32), last.astype(np.int32), from_left
    )


def _looked_up(stack: Stack, edges: Int64) -> Edges:
    """Where the edges of all cells lie in each row that has slices."""
    begun = stack.begun(edges)
    held = begun - 1
    some = bool(begun[:, 0].all())
    # Of the first slice where none has begun, which ``begun`` tells.
    at = held if some else np.maximum(held, 0)
    over = stack.reach.take(at)
    over -= edges
    np.maximum(over, 0, out=over)
    if not some:
        over *= begun > 0
    latest = running = stack.family.take(at)
    if stack.overlapping:
        running = latest.copy()
        for y in stack.overlapping:
            row = stack.plain[y]
            assert row.holder is not None
            held[y] = row.holder.take(held[y], mode="clip")
            running[y] = row.family.take(held[y], mode="clip")
    return Edges(edges, begun, over, stack.busy_before.take(begun), held, latest, running)
