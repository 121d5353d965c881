"""The palette of commands before anything is typed: in the order of the key table."""

from __future__ import annotations

from textual.command import DiscoveryHit, Hits
from textual.system_commands import SystemCommandsProvider


class KeyCommands(SystemCommandsProvider):
    """The application's commands; Textual would sort them by their first letter."""

    async def discover(self) -> Hits:
        """Every command, as the application lists them."""
        for title, help_text, run, discover in self.app.get_system_commands(self.screen):
            if discover:
                yield DiscoveryHit(title, run, help=help_text)
