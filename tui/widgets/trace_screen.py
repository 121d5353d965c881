"""The screen that a trace is shown on."""

from __future__ import annotations

from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget


class TraceScreen(Screen[None]):
    """The screen of a trace; a change of focus repaints the two parts it concerns, not all."""

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
