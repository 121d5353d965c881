"""The palette: what is typed at once is kept, and Enter takes what was found for all of it."""

from __future__ import annotations

from textual import on
from textual.command import CommandInput, CommandPalette
from textual.widgets import Input

from whichlayer.tui.widgets.over_screen import LeavesOnce


class CommandScreen(CommandPalette, LeavesOnce[None]):
    """Textual's palette, safe to type into faster than it answers."""

    def take_focus(self) -> None:
        """Have the next key typed into it, whether or not the screen is drawn yet."""
        line = self.query_one(CommandInput)
        line.cursor_blink = False  # nothing is written while nothing changes
        self.set_focus(line)

    @on(Input.Submitted)
    async def _found(self) -> None:
        """Wait for the list: Enter would run the first entry of the one before."""
        searches = [worker for worker in self.workers if worker.node is self]
        await self.workers.wait_for_complete([one for one in searches if not one.is_finished])
