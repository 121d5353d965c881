"""The palette: what is typed at once is kept, and Enter takes what was found for all of it."""

from __future__ import annotations

from textual import on
from textual.command import CommandInput, CommandPalette
from textual.widgets import Input, OptionList


class CommandScreen(CommandPalette):
    """Textual's palette, safe to type into faster than it answers."""

    def take_focus(self) -> None:
        """Have the next key typed into it, whether or not the screen is drawn yet."""
        self.set_focus(self.query_one(CommandInput))

    @on(Input.Submitted)
    async def _found(self) -> None:
        """Wait for the list: Enter would run the first entry of the one before."""
        searches = [worker for worker in self.workers if worker.node is self]
        await self.workers.wait_for_complete([one for one in searches if not one.is_finished])

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        """Leave what a second Enter chooses: the palette is gone since the first."""
        if not self.is_current:
            event.prevent_default()
