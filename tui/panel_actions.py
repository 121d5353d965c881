"""Panels: one part on the whole screen and back, and how high and wide panels are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual import on

from whichlayer.tui.deferred import Deferred
from whichlayer.tui.layout import PANELS, Arrangement
from whichlayer.tui.messages import PanelFullAsked, PanelsDragged
from whichlayer.tui.undo import Part
from whichlayer.tui.undoing import Undoing

# There are no panels in the first picture.
if TYPE_CHECKING:
    from whichlayer.tui import panel_state
else:
    panel_state = Deferred("whichlayer.tui.panel_state")

#: Seconds after a change until it is kept.
_KEPT_AFTER_S = 0.5

#: Lines that panels have at least, and that they leave to the rest of the screen.
_LEAST_LINES, _LEFT_LINES = 4, 9

#: Shares of the width as the style sheet has them, and what one step makes of them.
_WIDTHS = {"kernels": 13, "region": 10, "gaps": 7, "findings": 7}
_WIDER = 1.25

#: Panels that stand above one another where panels are high, and what that makes of their width.
_PROBLEMS = ("gaps", "findings")
_STACKED_WIDTH = 1.3
_MOST_STEPS = 6

#: Parts of the time axis, which go where one panel has the whole screen.
_AXIS = ("overview", "ruler", "layers", "timeline")


class PanelActions(Undoing):
    """``| _ ~ $ %`` and ctrl with arrows."""

    def __init__(self, **settings: Any) -> None:
        """As the size of the terminal has it."""
        super().__init__(**settings)
        self.only: str | None = None
        """The part that has the whole screen, or None."""
        self._more_lines: dict[int, int] = {}
        self._steps: dict[str, int] = {}
        self._side_by_side = 1
        self._sizes_read = False
        self._sizes_changed = False

    def arrange_again(self) -> None:
        """Lay the parts out anew."""
        raise NotImplementedError

    def part_now(self, part: Part) -> Any:
        """How high and wide panels are, and what has the whole screen."""
        if part is Part.LINES:
            return {count: lines for count, lines in self._more_lines.items() if lines}
        if part is Part.WIDTHS:
            return {name: steps for name, steps in self._steps.items() if steps}
        return self.only or "" if part is Part.FULL else super().part_now(part)

    def put_part(self, part: Part, before: Any, after: Any) -> str:
        """Let panels be as high or wide as they were; one part alone, or all."""
        if part is Part.FULL:
            self.show_only(after or None)
        elif part is Part.LINES:
            self._more_lines = dict(after)
            self.arrange_again()
            self._keep_sizes()
        elif part is Part.WIDTHS:
            self._steps = dict(after)
            for name in {*before, *after}:
                self._widen(name)
            self._keep_sizes()
        else:
            return super().put_part(part, before, after)
        return ""

    def action_only(self) -> None:
        """The part in focus on the whole screen; again: all parts."""
        here = self.focused.id if self.focused is not None else None
        with self.one_act(Part.FULL):
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
        with self.one_act(Part.FULL):
            self.show_only(None)
        return True

    def action_panel_lines(self, lines: int) -> None:
        """Panels higher by so many lines, or lower."""
        before = self._extra
        with self.one_act(Part.LINES, run="lines"):
            self._more_lines[self._side_by_side] = before + lines
            self.arrange_again()
        self._keep_sizes()
        if self._extra == before:
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
        with self.one_act(Part.WIDTHS, run=f"width of {here}"):
            self._steps[here] = steps
            self._widen(here)
        self._keep_sizes()

    def _widen(self, name: str) -> None:
        first = self.screen_stack[0]
        if name in _PROBLEMS:
            self._widen_problems()
        else:
            first.query_one(f"#{name}").styles.width = f"{self._width_of(name):.2f}fr"

    def _width_of(self, name: str) -> float:
        return float(_WIDTHS[name] * _WIDER ** self._steps.get(name, 0))

    def _widen_problems(self) -> None:
        """Gaps and findings as wide as both, or as those of them that are shown."""
        problems = self.screen_stack[0].query_one("#problems")
        stacked, widths = problems.has_class("stacked"), []
        for name in _PROBLEMS:
            panel, width = problems.query_one(f"#{name}"), self._width_of(name)
            panel.styles.width = "100%" if stacked else f"{width:.2f}fr"
            widths += [width] * panel.display
        problems.display = bool(widths)
        if widths:
            width = max(widths) * _STACKED_WIDTH if stacked else sum(widths)
            problems.styles.width = f"{width:.2f}fr"

    @property
    def _extra(self) -> int:
        """Lines more than usual, with as many panels side by side as there are."""
        return self._more_lines.get(self._side_by_side, 0)

    def _keep_sizes(self) -> None:
        """Keep sizes soon: a drag changes them at every move of the mouse."""
        if not self._sizes_changed:
            self._sizes_changed = True
            self.set_timer(_KEPT_AFTER_S, self.keep_sizes_now)

    def keep_sizes_now(self, leaving: bool = False) -> None:
        """Keep sizes that have changed; ``leaving``: there is nobody to be told that it failed."""
        if not self._sizes_changed:
            return
        self._sizes_changed = False
        sizes = panel_state.PanelSizes(self._more_lines, self._steps)
        try:
            panel_state.write_sizes(panel_state.panels_path(), sizes)
        except OSError as error:
            if not leaving:
                self.say(f"kept only until you leave: {error.strerror or error}")

    def _read_sizes(self) -> None:
        """Take the sizes of the last time, once there are panels."""
        if self._sizes_read or not self.screen_stack[0].query("#panels"):
            return
        self._sizes_read = True
        sizes = panel_state.read_sizes(panel_state.panels_path(), _MOST_STEPS)
        self._more_lines = dict(sizes.lines)
        self._steps = {name: step for name, step in sizes.steps.items() if name in _WIDTHS}
        for name in self._steps:
            self._widen(name)

    def sized(self, arranged: Arrangement, height: int) -> Arrangement:
        """An arrangement with panels as high as the user made them, as far as that fits."""
        self._side_by_side = len(arranged.places)
        self._read_sizes()
        if not self._extra or not arranged.panel_lines:
            return arranged
        most = max(height - _LEFT_LINES, _LEAST_LINES)
        lines = min(max(arranged.panel_lines + self._extra, _LEAST_LINES), most)
        self._more_lines[self._side_by_side] = lines - arranged.panel_lines
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
        first.query_one("#problems").set_class(arranged.is_stacked and only is None, "stacked")
        self._widen_problems()

    @on(PanelsDragged)
    def _panels_dragged(self, message: PanelsDragged) -> None:
        panels = self.screen_stack[0].query_one("#panels")
        if self.only is None and panels.size.height:
            lines = self.size.height - 1 - message.y - panels.size.height
            if lines:
                with self.one_act(Part.LINES, run="lines"):
                    self._more_lines[self._side_by_side] = self._extra + lines
                    self.arrange_again()
                self._keep_sizes()

    @on(PanelFullAsked)
    def _panel_full_asked(self, message: PanelFullAsked) -> None:
        with self.one_act(Part.FULL):
            self.show_only(None if self.only is not None else message.name)
