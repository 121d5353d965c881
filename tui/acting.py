"""What the modules of actions share: the state of the application that they act on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whichlayer.tui.paced import PacedApp

if TYPE_CHECKING:
    from whichlayer.tui.document import Document
    from whichlayer.tui.view import View
    from whichlayer.tui.widgets.pane import Pane


NOT_THERE_YET = "needs the analysis: not there yet"
"""How a word about what only the analysis knows ends; taken back once that is there."""


class Acting(PacedApp):
    """The application as actions see it; :mod:`whichlayer.tui.app` fills it in."""

    document: Document | None
    look: View | None

    def __init__(self, **settings: Any) -> None:
        """Nothing is shown yet."""
        super().__init__(**settings)
        self.document = None
        self.look = None

    @property
    def panes(self) -> list[Pane]:
        """All parts of the screen from top to bottom."""
        raise NotImplementedError

    def say(self, text: str) -> None:
        """A word to the user, in place of the keys, until the next act."""
        raise NotImplementedError

    def look_at(self, view: View, noted: bool = True, run: str = "") -> None:
        """Show another view; ``noted`` ones can be undone, those of one run at once."""
        raise NotImplementedError
