"""A frame of the timeline: all its rows, drawn with as much detail as the terminal can take.

What a frame costs a slow link is its bytes, and those come from its runs of equal style.
Rows that would take more than their part are drawn more plainly: first without the shades that
tell touching bars apart and without the ends of long bars, then with fewer colours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.tui.bars import paint, shapes_of, write_names
from whichlayer.tui.counter_row import CounterRow
from whichlayer.tui.filtered_row import FilteredRow
from whichlayer.tui.frame_budget import paint_within
from whichlayer.tui.frame_cells import Bool, Cells, UInt8, rasterise
from whichlayer.tui.frame_runs import RUN_BYTES, Painted, find_runs
from whichlayer.tui.frame_search import Stack
from whichlayer.tui.raster import Row
from whichlayer.tui.viewport import Viewport

Int64 = NDArray[np.int64]

#: Bytes that a frame's cells may take, on the average: 24 kB at 120x40 with the panels and
#: strips around it (measured on a terminal with 256 colours).
BYTES_PER_CELL = 4.5

#: What stands where only slices are that a filter holds back.
_DOT = ord("·")


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows of a frame, drawn.

    Attributes:
        stack: the rows from top to bottom, prepared for more frames.
        cells: what they show, (rows, cells).
        painted: how, without marks.
    """

    stack: Stack
    cells: Cells
    painted: Painted

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows from top to bottom."""
        return self.stack.rows

    def row(self, y: int) -> tuple[Row, Cells, Painted]:
        """The row at a line of the screen."""
        return self.rows[y], self.cells.row(y), self.painted.row(y)

    def cost(self) -> int:
        """Bytes on a terminal with 256 colours."""
        return self.painted.cost()


def draw_frame(
    rows: Sequence[Row],
    port: Viewport,
    name_of: Callable[[int], str],
    parts: Sequence[tuple[int, int]] = (),
    stack: Stack | None = None,
) -> Frame:
    """Draw rows over a viewport within the budget of their cells.

    Args:
        rows: from top to bottom.
        port: the visible span.
        name_of: short name of a trace row.
        parts: which line of how many each is, where rows are higher than a line.
        stack: that of a frame drawn before, which is of use where it is of the same rows.
    """
    edges = port.edges()
    cells, stack = _shown(rows, edges, parts, stack)
    rows = stack.rows
    painted, body = paint(cells, stack.tones)
    for y in stack.own:
        row = rows[y]
        if isinstance(row, CounterRow):
            own = row.paint(cells.row(y))
            painted.glyphs[y], painted.codes[y], body[y] = own.glyphs, own.codes, False
    dots = _held_back(rows, edges, cells)
    drawing = _Drawing(cells, stack.tones, painted, body, cells.family)
    budget = int(BYTES_PER_CELL * port.cells * len(rows)) - _dots_cost(dots)
    drawing.keep(budget, stack.own)
    # Of a row that is several lines high, the first alone says what its bars are.
    lower = [y for y, (part, _) in enumerate(parts) if part]
    if lower:
        body[lower] = False
    write_names(painted.glyphs, body, rows, cells, drawing.family, name_of)
    if dots is not None:
        painted.glyphs[dots] = _DOT
    return Frame(stack, cells, painted)


def _shown(
    rows: Sequence[Row], edges: Int64, parts: Sequence[tuple[int, int]], stack: Stack | None
) -> tuple[Cells, Stack]:
    """What the cells of each line show, and the rows as they are drawn there."""
    tall = any(count > 1 for _, count in parts)
    if tall:
        from whichlayer.tui.tall import cells_part, row_part

        rows = [row_part(row, *place) for row, place in zip(rows, parts, strict=True)]
    if stack is None or stack.rows != tuple(rows):
        stack = Stack(rows)
    cells = rasterise(stack, edges)
    if tall:
        for y, place in enumerate(parts):
            cells.put(y, cells_part(rows[y], cells.row(y), *place))
    return cells, stack


@dataclass(slots=True)
class _Drawing:
    """Rows as they are drawn so far; rows that cost too much are drawn anew."""

    cells: Cells
    tones: UInt8
    painted: Painted
    body: Bool
    family: UInt8

    def keep(self, budget: int, spared: Sequence[int]) -> None:
        """Draw rows more plainly until all together keep the budget, some of them apart.

        Counters are spared: they have no detail to leave out.
        """
        costs = find_runs(self.painted).costs()
        if int(costs.sum()) <= budget:
            return
        dear = _dear(costs, budget, spared)
        if not len(dear):
            return
        part = self.cells.take(dear)
        # A cell with one slice costs two changes of style at most that less detail can save.
        most = (2 * RUN_BYTES + 2) * int(np.count_nonzero(part.count == 1))
        if int(costs.sum()) - most <= budget:
            painted, body = paint(part, self.tones[dear], shapes_of(part, coarse=True))
            self._put(dear, painted, body)
            costs[dear] = find_runs(painted).costs()
            dear = _dear(costs, budget, spared)
            if not len(dear):
                return
            part = self.cells.take(dear)
        left = budget - int(costs.sum() - costs[dear].sum())
        painted, body, family = paint_within(part, self.tones[dear], left)
        self._put(dear, painted, body)
        self.family = self.family.copy()
        self.family[dear] = family

    def _put(self, rows: NDArray[np.intp], painted: Painted, body: Bool) -> None:
        self.painted.glyphs[rows], self.painted.codes[rows] = painted.glyphs, painted.codes
        self.body[rows] = body


def _dear(costs: Int64, budget: int, spared: Sequence[int]) -> NDArray[np.intp]:
    """The rows that take more than their part, where all together take too much."""
    if int(costs.sum()) <= budget:
        return np.zeros(0, np.intp)
    above = costs > fair_part(costs.tolist(), budget)
    above[list(spared)] = False
    return np.flatnonzero(above)


def _held_back(rows: Sequence[Row], edges: Int64, cells: Cells) -> Bool | None:
    """Where only slices are that a filter holds back: bool (rows, cells); None for nowhere."""
    filtered = [(y, row) for y, row in enumerate(rows) if isinstance(row, FilteredRow)]
    if not filtered:
        return None
    places = np.array([y for y, _ in filtered])
    found = np.zeros(cells.count.shape, np.bool_)
    found[places] = rasterise([row.whole for _, row in filtered], edges).count > 0
    return np.asarray(found & (cells.count == 0))


def _dots_cost(dots: Bool | None) -> int:
    """The most that dots cost: two bytes more than empty cells each, and runs of their own."""
    if dots is None:
        return 0
    runs = np.count_nonzero(dots[:, 1:] != dots[:, :-1])
    return 2 * int(np.count_nonzero(dots)) + RUN_BYTES * int(runs)


def fair_part(costs: Sequence[int], budget: int) -> int:
    """The most that each may cost so that all together keep the budget.

    >>> fair_part([10, 100, 100], 110)
    50
    """
    left = budget
    for place, cost in enumerate(sorted(costs)):
        part = left // (len(costs) - place)
        if cost > part:
            return part
        left -= cost
    return max(costs, default=0)
