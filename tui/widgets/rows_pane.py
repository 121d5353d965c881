"""Lines of lanes from top to bottom, of which those are on the screen that there is room for."""

from __future__ import annotations

from whichlayer.tui.document import Document
from whichlayer.tui.lanes import ShownLane, ShownRow
from whichlayer.tui.messages import LaneFolded, LaneMenuAsked
from whichlayer.tui.raster import Row
from whichlayer.tui.row_edges import edge_texts
from whichlayer.tui.view import View
from whichlayer.tui.widgets.time_pane import TimePane

#: Rows kept in sight above and below the cursor's row.
_MARGIN = 1


class RowsPane(TimePane):
    """Scrolls by lines; those of pinned lanes stay at the top.

    Attributes:
        rows: all lines.
        top: how many lines further down than the first the screen begins.
    """

    def __init__(self, *, id: str | None = None) -> None:
        """Start without rows."""
        super().__init__(id=id)
        self.rows: tuple[ShownRow, ...] = ()
        self.top = 0

    def rows_moved(self) -> None:
        """Other lines are on the screen; called before they are repainted."""

    def lines_in_sight(self) -> list[int]:
        """The lines that are on the screen, from top to bottom; those of pinned lanes first."""
        stop = min(self.top + self.size.height, len(self.rows))
        first = range(min(self.pinned_lines, stop))
        return [*first, *range(self.top + len(first), stop)]

    @property
    def pinned_lines(self) -> int:
        """Lines at the top that do not scroll: those of pinned lanes, half of the height at most."""
        pinned = () if self.view is None else self.view.order.pinned
        if not pinned:
            return 0
        lines = next((i for i, row in enumerate(self.rows) if row.lane not in pinned), 0)
        return min(lines, self.size.height // 2)

    def line_at(self, y: int) -> int:
        """The line at a height of the screen."""
        return y if y < self.pinned_lines else self.top + y

    def height_of(self, line: int) -> int:
        """Where a line is on the screen; outside it for one that is not in sight."""
        pinned = self.pinned_lines
        if line < pinned:
            return line
        return line - self.top if line - self.top >= pinned else -1

    def drawn_rows(self) -> list[tuple[ShownLane, Row]]:
        """The rows in sight, each with its lane."""
        if self.document is None:
            return []
        lanes = self.document.lanes
        shown = [self.rows[line] for line in self.lines_in_sight()]
        return [(lanes[row.lane], lanes[row.lane].row(row.depth)) for row in shown]

    def show(self, document: Document | None, view: View | None) -> None:
        """Take what is to be shown.

        While a file is read the cursor's row stays at its height on the screen; where rows of a
        trace that is known come and go, the rows at the top stay, those of the GPU.
        """
        old = self.document
        if document is not old and self.view is not None and view is not None:
            known = document is not None and old is not None and document.trace is old.trace
            self.top += 0 if known else view.row - self.view.row
        super().show(document, view)

    def scroll_rows(self, count: int) -> None:
        """Scroll without moving the cursor."""
        last = max(len(self.rows) - self.size.height, 0)
        top = min(max(self.top + count, 0), last)
        if top != self.top:
            self.top = top
            self.rows_moved()
            self.refresh()

    def row_under(self, y: int) -> int:
        """The line at a height of the screen, -1 below the last."""
        row = self.line_at(y)
        return row if 0 <= row < len(self.rows) else -1

    def edge(self, line: int) -> tuple[str, ...]:
        """What a line at an edge says of the rows out of sight there; empty for all others."""
        height, pinned = self.size.height, self.pinned_lines
        if height <= pinned + 1:
            return ()
        if line == self.top + height - 1:
            return edge_texts(self.rows, line + 1, len(self.rows), "▼")
        if self.top and line == self.top + pinned:
            return edge_texts(self.rows, pinned, line, "▲")
        return ()

    def label_clicked(self, y: int) -> None:
        """Scroll where the label says that rows are out of sight, else fold the lane."""
        if edge := self.edge(self.line_at(y)):
            half = max(self.size.height // 2, 1)
            self.scroll_rows(half if edge[-1] == "▼" else -half)
        elif self.view is not None:
            self.post_message(LaneFolded(self.rows[self.line_at(y)].lane, self.view.edition))

    def label_menu(self, y: int) -> None:
        """What can be done with the lane."""
        if self.view is not None:
            lane = self.rows[self.line_at(y)].lane
            self.post_message(LaneMenuAsked(lane, self.view.edition))

    def labels_scrolled(self, lines: int) -> None:
        """Scroll without moving the cursor."""
        self.scroll_rows(lines)

    def bring_into_sight(self, row: int) -> bool:
        """Bring a row into sight; True where that moved anything."""
        top = self.top_for(row, self.top)
        moved = top != self.top
        if moved:
            self.top = top
            self.rows_moved()
        return moved

    def scroll_rows_to(self, top: int, row: int) -> None:
        """So many lines off the top, but for what brings a row into sight."""
        if (top := self.top_for(row, top)) != self.top:
            self.top = top
            self.rows_moved()
            self.refresh()

    def top_for(self, row: int, top: int) -> int:
        """How many lines are off the top once a row is in sight, of so many before."""
        height = max(self.size.height, 1)
        margin = _MARGIN if height > 2 * _MARGIN + 1 else 0
        pinned = self.pinned_lines
        if row >= pinned:
            top = min(top, row - margin - pinned)
            top = max(top, row + margin + 1 - height)
        return min(max(top, 0), max(len(self.rows) - height, 0))

    def is_cursors(self, line: int, view: View) -> bool:
        """Whether a line is of the row that the cursor is on."""
        if line == view.row or view.row >= len(self.rows) or line >= len(self.rows):
            return line == view.row
        one, here = self.rows[line], self.rows[view.row]
        return (one.lane, one.depth) == (here.lane, here.depth)
