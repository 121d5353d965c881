"""Panels: one part on the whole screen and back, and how high and wide panels are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from textual import on

from whichlayer.tui.acting import Acting
from whichlayer.tui.layout import PANELS, Arrangement
from whichlayer.tui.messages import PanelFullAsked, PanelsDragged

#: Lines that panels have at least, and that they leave to the rest of the screen.
_LEAST_LINES, _LEFT_LINES = 4, 9

#: Shares of the width as the style sheet has them, and what one step makes of them.
_WIDTHS = {"kernels": 13, "region": 10, "gaps": 7, "findings": 7}
_WIDER = 1.25
_MOST_STEPS = 6

#: Parts of the time axis, which go where one panel has the whole screen.
_AXIS = ("overview", "ruler", "layers", "timeline")


class PanelActions(Acting):
    """``| _ ~ $ %`` and ctrl with arrows."""

    def __init__(self, **settings: Any) -> None:
        """As the size of the terminal has it."""
        super().__init__(**settings)
        self.only: str | None = None
        """The part that has the whole screen, or None."""
        self._more_lines = 0
        self._steps: dict[str, int] = {}

    def arrange_again(self) -> None:
        """Lay the parts out anew."""
        raise NotImplementedError

    def action_only(self) -> None:
        """The part in focus on the whole screen; again: all parts."""
        here = self.focused.id if self.focused is not None else None
        if self.only is not None:
            self.show_only(None)
        elif here in (*PANELS, "timeline"):
            self.show_only(here)

    def show_only(self, name: str | None) -> None:
        """One part alone with the lines at top and bottom, or all of them."""
        self.only = name
        self.arrange_again()
        if name is not None:
            self.query_one(f"#{name}").focus()

    def leave_full(self) -> bool:
        """All parts again; False where that is so already."""
        if self.only is None:
            return False
        self.show_only(None)
        return True

    def action_panel_lines(self, lines: int) -> None:
        """Panels higher by so many lines, or lower."""
        before = self._more_lines
        self._more_lines += lines
        self.arrange_again()
        if self._more_lines == before:
            self.say("panels can be no higher" if lines > 0 else "panels can be no lower")

    def action_panel_width(self, step: int) -> None:
        """The panel in focus wider than the others, or narrower."""
        here = self.focused.id if self.focused is not None else None
        if here not in PANELS:
            self.say("tab to a panel first")
            return
        steps = self._steps.get(here, 0) + step
        if abs(steps) > _MOST_STEPS:
            self.say(f"{here} can be no {'wider' if step > 0 else 'narrower'}")
            return
        self._steps[here] = steps
        self.query_one(f"#{here}").styles.width = f"{_WIDTHS[here] * _WIDER**steps:.2f}fr"

    def sized(self, arranged: Arrangement, height: int) -> Arrangement:
        """An arrangement with panels as high as the user made them, as far as that fits."""
        if not self._more_lines or not arranged.panel_lines:
            return arranged
        most = max(height - _LEFT_LINES, _LEAST_LINES)
        lines = min(max(arranged.panel_lines + self._more_lines, _LEAST_LINES), most)
        self._more_lines = lines - arranged.panel_lines
        return replace(arranged, panel_lines=lines)

    def place_parts(self, arranged: Arrangement) -> None:
        """Show the parts that an arrangement and the whole screen of one of them leave."""
        first, only = self.screen_stack[0], self.only
        for name in _AXIS:
            shown = only is None or only == "timeline"
            part = first.query_one(f"#{name}")
            if part.display != shown:
                part.display = shown
        panels = first.query_one("#panels")
        panels.display = only != "timeline"
        panels.styles.height = arranged.panel_lines if only is None else "1fr"
        for name in PANELS:
            if only in PANELS:
                first.query_one(f"#{name}").display = name == only

    @on(PanelsDragged)
    def _panels_dragged(self, message: PanelsDragged) -> None:
        panels = self.screen_stack[0].query_one("#panels")
        if self.only is None and panels.size.height:
            lines = self.size.height - 1 - message.y - panels.size.height
            if lines:
                self._more_lines += lines
                self.arrange_again()

    @on(PanelFullAsked)
    def _panel_full_asked(self, message: PanelFullAsked) -> None:
        self.show_only(None if self.only is not None else message.name)
