"""The question that leaving asks while a program runs under the screen."""

from __future__ import annotations

from enum import Enum

from rich.text import Text
from textual.app import ComposeResult
from textual.screen import ModalScreen
from textual.widgets import Static

from whichlayer.analysis.text import clean
from whichlayer.tui.palette import Palette


class Choice(Enum):
    """What becomes of the program."""

    LEAVE = "leave"
    STOP = "stop"


class QuitScreen(ModalScreen[Choice | None]):
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
        text.append(f"{clean(name)} is still running.\n\n", palette.strong)
        for key, words in (
            ("l", "leave it running, here without the screen"),
            ("s", "stop it"),
            ("esc", "stay"),
        ):
            text.append(f"  {key:<4}", palette.accent)
            text.append(f"{words}\n")
        self._question = text

    def compose(self) -> ComposeResult:
        """One text."""
        yield Static(self._question, id="question")

    def action_choose(self, choice: str) -> None:
        """Answer."""
        self.dismiss(Choice(choice))

    def action_stay(self) -> None:
        """Answer that nothing is to happen."""
        self.dismiss(None)
