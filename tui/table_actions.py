"""The kernel table, its roofline, and the heatmap: what their rows are and in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual import on

from whichlayer.tui.acting import NOT_THERE_YET
from whichlayer.tui.messages import HeadingClicked
from whichlayer.tui.undo import Part
from whichlayer.tui.undoing import Undoing

# There are no panels in the first picture.
if TYPE_CHECKING:
    from whichlayer.tui.widgets.heatmap import Heatmap
    from whichlayer.tui.widgets.kernel_table import KernelTable


class TableActions(Undoing):
    """``t b o R``."""

    def part_now(self, part: Part) -> Any:
        """How the table and the map look."""
        if part is Part.TABLE:
            return self.kernel_table.look
        return self._heatmap.look if part is Part.HEAT else super().part_now(part)

    def put_part(self, part: Part, before: Any, after: Any) -> str:
        """Let them look otherwise."""
        if part is Part.TABLE:
            self.kernel_table.look_as(after)
        elif part is Part.HEAT:
            self._heatmap.look_as(after)
        else:
            return super().put_part(part, before, after)
        return ""

    @property
    def kernel_table(self) -> KernelTable:
        """The table."""
        from whichlayer.tui.widgets.kernel_table import KernelTable

        return self.screen_stack[0].query_one(KernelTable)

    @property
    def _heatmap(self) -> Heatmap:
        from whichlayer.tui.widgets.heatmap import Heatmap

        return self.screen_stack[0].query_one(Heatmap)

    def action_sort(self) -> None:
        """Sort the kernel table by its next column."""
        with self.one_act(Part.TABLE):
            self.say(f"kernels sorted by {self.kernel_table.sort_by_next()}")

    @on(HeadingClicked)
    def _heading_clicked(self, message: HeadingClicked) -> None:
        with self.one_act(Part.TABLE):
            self.kernel_table.sort_by(message.column)

    def action_group_by(self) -> None:
        """Let the rows of the kernel table be groups, names, operators, modules or families."""
        with self.one_act(Part.TABLE):
            self.say(self.kernel_table.group_by_next())

    def action_roofline(self) -> None:
        """The roofline of the selection, else of the window."""
        if self.document is None or self.document.analysis is None or self.look is None:
            self.say(f"the roofline {NOT_THERE_YET}")
            return
        from whichlayer.tui.roofline_view import open_roofline

        open_roofline(self, self.document.analysis, self.look)

    def choose_group(self, index: int) -> None:
        """Put the table's cursor on a group of kernels; rows are groups again."""
        with self.one_act(Part.TABLE):
            self.kernel_table.choose_group(index)

    def action_heat_rows(self) -> None:
        """Let the rows of the heatmap be steps, streams, devices or ranks in turn."""
        with self.one_act(Part.HEAT):
            self.say(f"the heatmap shows {self._heatmap.show_next_rows()}")
