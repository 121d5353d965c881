"""Frames for a terminal that may be slow: those that nobody would see in time are not drawn."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import TYPE_CHECKING

from rich.console import RenderableType
from textual._compositor import CompositorUpdate
from textual.screen import Screen

from whichlayer.tui.typed_ahead import TypedAheadApp

if TYPE_CHECKING:
    from textual.driver import Driver

    from whichlayer.tui.terminal_driver import TerminalDriver

#: Seconds after which a frame that could not be drawn for another reason is tried again.
_SOON_S = 0.02


class PacedApp(TypedAheadApp):
    """Begins a frame only once the terminal has taken the last one; what is between is left out."""

    _owes_frame = False
    _waits_for_link = False

    def get_driver_class(self) -> type[Driver]:
        """The driver that tells how far the terminal is, where terminals are as on Unix."""
        if sys.platform == "win32" or os.environ.get("TEXTUAL_DRIVER"):
            return super().get_driver_class()
        from whichlayer.tui.terminal_driver import TerminalDriver

        return TerminalDriver

    @property
    def _terminal(self) -> TerminalDriver | None:
        """The driver, where there is a link that can be behind."""
        return self._driver if hasattr(self._driver, "link") else None  # type: ignore[return-value]

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        """Draw, unless the terminal is behind: then the whole screen is owed to it."""
        terminal = self._terminal
        if terminal is None or not isinstance(renderable, CompositorUpdate) or self._batch_count:
            super()._display(screen, renderable)
        elif terminal.link.is_behind:
            self._owes_frame = True
            if not self._waits_for_link:
                from whichlayer.tui.terminal_link import PATIENCE_S

                self._waits_for_link = True
                asyncio.get_running_loop().call_later(PATIENCE_S + _SOON_S, self._stop_waiting)
        else:
            super()._display(screen, renderable)
            terminal.end_frame()

    def _stop_waiting(self) -> None:
        """A sign of the terminal may have been lost."""
        self._waits_for_link = False
        self.link_freed()

    def link_freed(self) -> None:
        """The terminal has taken a frame: draw what has changed meanwhile."""
        if not self._owes_frame or not self._running or not self.screen_stack:
            return
        if self._batch_count:
            asyncio.get_running_loop().call_later(_SOON_S, self.link_freed)
            return
        self._owes_frame = False
        screen = self.screen
        update = screen._compositor.render_update(full=True, screen_stack=self._background_screens)
        self._display(screen, update)

    def link_lost(self) -> None:
        """Nobody can type any more: leave as after a terminal was closed."""
        status = 128 + signal.SIGHUP
        self.exit(status, return_code=status)
