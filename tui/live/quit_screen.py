"""The question that leaving asks while a program runs under the screen."""

from __future__ import annotations

from enum import Enum
from typing import Final

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.widgets import Static

from whichlayer.analysis.text import clean
from whichlayer.tui.palette import Palette
from whichlayer.tui.widgets.over_screen import LeavesOnce
from whichlayer.tui.widgets.pane import shortened


class Choice(Enum):
    """What becomes of the program."""

    LEAVE = "leave"
    STOP = "stop"


_ANSWERS: Final = (
    ("l", "leave it running, here without the screen", Choice.LEAVE),
    ("s", "stop it", Choice.STOP),
    ("esc", "stay", None),
)

#: Lines of the question above its answers, and cells that the program's name has in the first.
_ANSWERS_FROM: Final = 2
_NAME_CELLS: Final = 40


class QuitScreen(LeavesOnce[Choice | None]):
    """Leave the program running, stop it, or stay."""

    BINDINGS = [  # noqa: RUF012
        ("l,enter", "choose('leave')", "leave it running"),
        ("s,ctrl+c", "choose('stop')", "stop it"),
        ("escape,n,q", "stay", "stay"),
    ]

    def __init__(self, palette: Palette, name: str) -> None:
        """Take what runs."""
        super().__init__()
        text = Text()
        text.append(f"{shortened(clean(name), _NAME_CELLS)} is still running.\n", palette.strong)
        for key, words, _ in _ANSWERS:
            text.append(f"\n  {key:<4}", palette.accent)
            text.append(words, palette.text)
        self._question = text

    def compose(self) -> ComposeResult:
        """One text."""
        yield Static(self._question, id="question")

    def on_click(self, event: events.Click) -> None:
        """An answer by its line; a click beside the question stays."""
        box = self.query_one("#question", Static)
        if not box.region.contains(event.screen_x, event.screen_y):
            self.action_stay()
            return
        place = event.screen_y - box.content_region.y - _ANSWERS_FROM
        if 0 <= place < len(_ANSWERS):
            self.dismiss(_ANSWERS[place][2])

    def action_choose(self, choice: str) -> None:
        """Answer."""
        self.dismiss(Choice(choice))

    def action_stay(self) -> None:
        """Answer that nothing is to happen."""
        self.dismiss(None)
