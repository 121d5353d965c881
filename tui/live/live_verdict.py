"""The verdict line of a live screen: until the first window, what is waited for."""

from __future__ import annotations

from collections.abc import Callable

from whichlayer.tui.widgets.pane import Piece, shortened
from whichlayer.tui.widgets.verdict_line import VerdictLine


class LiveVerdict(VerdictLine):
    """The verdict of the window that is shown."""

    def __init__(self, waits_for: Callable[[], str], *, id: str | None = None) -> None:
        """Take what tells what is waited for."""
        super().__init__(id=id)
        self._waits_for = waits_for
        self._painted = ""

    def renew(self) -> None:
        """Repaint if something else is waited for."""
        if self.document is None and self._waits_for() != self._painted:
            self._painted = self._waits_for()
            self.refresh()

    def _without_verdict(self) -> list[Piece]:
        return [(shortened(f" {self._waits_for()}", self.size.width), self.palette.text)]
