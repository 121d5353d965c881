"""The last line: the most useful keys, or what just happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.strip import Strip

from whichlayer.tui.keys import footer_hints
from whichlayer.tui.widgets.pane import Pane, Piece, strip_of

if TYPE_CHECKING:
    from whichlayer.tui.view import View

#: What Esc is good for while a file is read whose first part can be kept.
_STOPPING = ("Esc", "stop reading")


class Footer(Pane):
    """Keys, until there is something to say."""

    def __init__(self, *, id: str | None = None) -> None:
        """Start with the keys."""
        super().__init__(id=id)
        self.said = ""
        self.live = False
        self.left_out: frozenset[str] = frozenset()
        self._can_stop = False

    def view_changed(self, old: View | None) -> None:
        """Nothing here depends on the view."""

    def say(self, text: str) -> None:
        """Show a message instead of the keys; an empty one brings the keys back."""
        if text != self.said:
            self.said = text
            self.refresh()

    def offer_stop(self, can_stop: bool) -> None:
        """Show the key that stops reading, as long as there is something to stop."""
        if can_stop != self._can_stop:
            self._can_stop = can_stop
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line."""
        colours = self.palette.colours
        ground = self.palette.style(colours.dim, colours.surface)
        if self.said:
            said = self.palette.style(colours.warning, colours.surface)
            return strip_of([(f" {self.said}", said)], self.size.width, ground)
        key_style = self.palette.style(colours.accent, colours.surface, bold=True)
        pieces: list[Piece] = [(" ", ground)]
        left = self.size.width - 1
        for keys, word in [_STOPPING] * self._can_stop + footer_hints(self.live):
            if word in self.left_out:
                continue
            left -= len(keys) + len(word) + 3
            if left < 0:
                break
            pieces += [(keys, key_style), (f" {word}  ", ground)]
        return strip_of(pieces, self.size.width, ground)
