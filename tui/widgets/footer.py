"""The last line: the most useful keys, or what just happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.strip import Strip

from whichlayer.tui.keys import Key, current_keys, footer_hints, hinted
from whichlayer.tui.widgets.pane import Pane, Piece, shortened, strip_of

if TYPE_CHECKING:
    from whichlayer.tui.view import View

#: What Esc is good for while a file is read whose first part can be kept.
_STOPPING = ("Esc", "stop reading")


class Footer(Pane):
    """Keys, until there is something to say; a click on a key does what the key does."""

    def __init__(self, *, id: str | None = None) -> None:
        """Start with the keys."""
        super().__init__(id=id)
        self.said = ""
        self._more = ""
        self.live = False
        self.left_out: frozenset[str] = frozenset()
        self._can_stop = False

    def view_changed(self, old: View | None) -> None:
        """Nothing here depends on the view."""

    def say(self, text: str, more: str = "") -> None:
        """Show a message instead of the keys; an empty one brings the keys back.

        Args:
            text: what is said.
            more: what shows all of it, said where it is cut.
        """
        if (text, more) != (self.said, self._more):
            self.said, self._more = text, more
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
        key_style = self.palette.style(colours.accent, colours.surface, bold=True)
        if self.said:
            said = self.palette.style(colours.warning, colours.surface)
            room = self.size.width - 1
            if cell_len(self.said) <= room:
                return strip_of([(f" {self.said}", said)], self.size.width, ground)
            more = f" {self._more}" if self._more else ""
            text = f" {shortened(self.said, room - cell_len(more))}"
            return strip_of([(text, said), (more, key_style)], self.size.width, ground)
        pieces: list[Piece] = [(" ", ground)]
        for keys, word in self._entries():
            pieces += [(keys, key_style), (f" {word}  ", ground)]
        return strip_of(pieces, self.size.width, ground)

    async def on_click(self, event: events.Click) -> None:
        """Do what the key under the mouse does; a message makes room for the keys."""
        if self.said:
            self.say("")
            return
        at = event.x - 1
        for keys, word in self._entries():
            if 0 <= at < len(keys) + 1 + len(word):
                if key := self._key_at(keys, at):
                    await self.app.run_action(key.action)
                return
            at -= len(keys) + len(word) + 3

    def _entries(self) -> list[tuple[str, str]]:
        """(keys, word) of the entries that there is room for."""
        entries, left = [], self.size.width - 1
        for keys, word in [_STOPPING] * self._can_stop + footer_hints(self.live):
            if word in self.left_out:
                continue
            left -= len(keys) + len(word) + 3
            if left < 0:
                break
            entries.append((keys, word))
        return entries

    def _key_at(self, keys: str, at: int) -> Key | None:
        """The key under a column of an entry; under its word the first."""
        if keys == _STOPPING[0]:
            return next((key for key in current_keys(self.live) if key.id == "clear"), None)
        places: list[Key] = []
        found = hinted(keys, self.live)
        for text, key in found:
            places += [key] * (len(text) + ("/" in keys and len(found) > 1))
        return places[at] if at < len(places) else next(iter(places), None)
