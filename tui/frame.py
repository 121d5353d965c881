"""A frame of the timeline: all its rows, drawn with as much detail as the terminal can take.

What a frame costs a slow link is its bytes, and those come from its runs of equal style.
Rows that would take more than their part are drawn with less detail until they fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from whichlayer.tui.bars import Painted, paint
from whichlayer.tui.counter_row import CounterRow
from whichlayer.tui.filtered_row import FilteredRow
from whichlayer.tui.raster import Cells, Int64, Row
from whichlayer.tui.viewport import Viewport

#: Bytes that a frame's cells may take, on the average: 24 kB at 120x40 with the panels and
#: strips around it (measured on a terminal with 256 colours).
BYTES_PER_CELL = 4.5

#: The least detail in which rows are drawn.
COARSEST = 4


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows of a frame, drawn."""

    rows: tuple[tuple[Row, Cells, Painted], ...]

    def row(self, y: int) -> tuple[Row, Cells, Painted]:
        """The row at a line of the screen."""
        return self.rows[y]

    def cost(self) -> int:
        """Bytes on a terminal with 256 colours."""
        return sum(painted.cost() for _, _, painted in self.rows)


def draw_frame(
    rows: Sequence[Row],
    port: Viewport,
    name_of: Callable[[int], str],
    parts: Sequence[tuple[int, int]] = (),
) -> Frame:
    """Draw rows over a viewport within the budget of their cells.

    Args:
        rows: from top to bottom.
        port: the visible span.
        name_of: short name of a trace row.
        parts: which line of how many each is, where rows are higher than a line.
    """
    edges = port.edges()
    cells = [row.cells(edges) for row in rows]
    if any(count > 1 for _, count in parts):
        from whichlayer.tui.tall import cells_part, row_part

        rows = [row_part(row, *place) for row, place in zip(rows, parts, strict=True)]
        cells = [
            cells_part(row, row.cells(edges), *place)
            for row, place in zip(rows, parts, strict=True)
        ]
    names = [_no_name if part else name_of for part, _ in parts] or [name_of] * len(rows)
    drawn = [_drawn(row, c, edges, name) for row, c, name in zip(rows, cells, names, strict=True)]
    budget = int(BYTES_PER_CELL * port.cells * len(rows))
    costs = [painted.cost() for painted in drawn]
    for detail in range(1, COARSEST + 1):
        if sum(costs) <= budget:
            break
        most = fair_part(costs, budget)
        for i, cost in enumerate(costs):
            if cost > most:
                drawn[i] = _drawn(rows[i], cells[i], edges, names[i], detail)
                costs[i] = drawn[i].cost()
    return Frame(tuple(zip(rows, cells, drawn, strict=True)))


def _no_name(row: int) -> str:
    """Of a row that is several lines high, the first alone says what its bars are."""
    return ""


def _drawn(
    row: Row, cells: Cells, edges: Int64, name_of: Callable[[int], str], detail: int = 0
) -> Painted:
    """One row; a counter has no detail to leave out."""
    if isinstance(row, CounterRow):
        return row.paint(cells)
    if isinstance(row, FilteredRow):
        return row.paint_over(cells, edges, name_of, detail)
    return paint(row, cells, name_of, detail)


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
