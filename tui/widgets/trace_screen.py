"""The screen that a trace is shown on: it lays out and draws once what Textual would repeatedly."""

from __future__ import annotations

from textual import events
from textual.geometry import Size
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget


class TraceScreen(Screen[None]):
    """The screen of a trace.

    A change of focus repaints the two parts it concerns, not all. The first picture is laid out
    and drawn once: Textual does both again for the size that the terminal is told to have, again
    for the size that this gives the screen, and draws all of it a last time.
    """

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

    _laid_out: Size | None = None

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        super()._refresh_layout(size, scroll)
        if size:
            self._laid_out = size

    def _screen_resized(self, size: Size) -> None:
        """Lay the parts out for another size."""
        if size != self._laid_out:
            super()._screen_resized(size)

    def _on_screen_resume(self, event: events.ScreenResume) -> None:
        event.prevent_default()  # it is called from here
        begins = self._laid_out is None
        super()._on_screen_resume(event)
        if begins and self._laid_out is not None:
            self._repaint_required = False  # that was all of it
