"""Opening the roofline, and what closing it does to the rest of the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whichlayer.tui.screen_settings import writes_unicode
from whichlayer.tui.widgets.kernel_table import KernelTable
from whichlayer.tui.widgets.roofline_screen import Choice, RooflineScreen

if TYPE_CHECKING:
    from whichlayer.analysis.results import Analysis
    from whichlayer.tui.table_actions import TableActions
    from whichlayer.tui.view import View


def open_roofline(app: TableActions, analysis: Analysis, view: View) -> None:
    """Show the roofline of the selection, else of the window, over the screen."""
    table = app.screen_stack[0].query_one(KernelTable)

    def closed(choice: Choice | None) -> None:
        if choice is None:
            return
        index, follow = choice
        app.choose_group(index)
        if follow:
            table.follow()

    app.push_screen(
        RooflineScreen(
            table.palette, analysis, view.device, view.selection, table.chosen_group,
            ascii_only=not writes_unicode(),
        ),
        closed,
    )  # fmt: skip
