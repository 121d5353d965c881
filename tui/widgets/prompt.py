"""The line at the bottom in which something is typed: a query, a time, a name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.strip import Strip

from whichlayer.tui.line_editor import EditedLine
from whichlayer.tui.widgets.pane import Pane, Piece, shortened, strip_of

# The first picture needs no NumPy, which this brings.
if TYPE_CHECKING:
    from whichlayer.tui.view import View

#: Cells that typing keeps before what is said at the right is cut.
_LEAST_ROOM = 12


@dataclass(frozen=True, slots=True)
class Asked:
    """What a prompt is for.

    Attributes:
        purpose: stable word, in its messages.
        lead: what stands before the text.
        hint: what may be typed, while nothing is.
        regex: Ctrl-R turns the text into a regular expression and back.
        lists: Tab asks for a list of what was found.
    """

    purpose: str
    lead: str
    hint: str
    regex: bool = False
    lists: bool = False


class Prompt(Pane, can_focus=True):
    """Takes the place of the keys until Enter or Esc."""

    TAKES_TEXT = True

    @dataclass
    class Typed(Message):
        """The text is another one now."""

        purpose: str
        text: str

    @dataclass
    class Entered(Message):
        """Enter was pressed; ``listed`` where a list is asked for instead."""

        purpose: str
        text: str
        listed: bool = False

    @dataclass
    class Left(Message):
        """The prompt was left without Enter."""

        purpose: str

    def __init__(self, asked: Asked, text: str = "", past: tuple[str, ...] = ()) -> None:
        """Begin with a text, and with what was typed before, the latest last."""
        super().__init__(id="prompt")
        self.asked = asked
        self.said = ""
        self.wrong = False
        self._is_done = False
        #: Keys that came after the one that ended it: they are for what comes next.
        self.typed_ahead: list[events.Key] = []
        self._line = EditedLine.ending(text)
        self._past = [*dict.fromkeys(reversed(past))][::-1]
        self._at = len(self._past)
        self._draft = text

    @property
    def text(self) -> str:
        """What is typed."""
        return self._line.text

    def view_changed(self, old: View | None) -> None:
        """Nothing here depends on the view."""

    def say(self, text: str, wrong: bool = False) -> None:
        """Say something at the right of what is typed."""
        if (text, wrong) != (self.said, self.wrong):
            self.said, self.wrong = text, wrong
            self.refresh()

    def on_key(self, event: events.Key) -> None:
        """Edit, or be done; no key means what it means elsewhere."""
        event.stop()
        event.prevent_default()
        if self._is_done:
            self.typed_ahead.append(events.Key(event.key, event.character))
            return
        key = event.key
        if key in ("escape", "ctrl+c", "ctrl+g") or (key == "backspace" and not self.text):
            self._is_done = True
            self.post_message(self.Left(self.asked.purpose))
        elif key == "enter" or (key == "tab" and self.asked.lists):
            self._is_done = True
            self.post_message(self.Entered(self.asked.purpose, self.text, key == "tab"))
        elif key in ("up", "down"):
            self._recall(-1 if key == "up" else 1)
        elif key == "ctrl+r" and self.asked.regex:
            from whichlayer.analysis.search.query import toggled_regex

            self._become(EditedLine.ending(toggled_regex(self.text)))
            if self.text == "//":
                self._become(EditedLine("//", 1))
        elif (edited := self._line.key(key)) is not None:
            self._become(edited)
        elif event.character is not None and event.is_printable:
            self._become(self._line.typed(event.character))

    def on_paste(self, event: events.Paste) -> None:
        """Take what is pasted."""
        event.stop()
        self._become(self._line.typed(event.text))

    def on_click(self, event: events.Click) -> None:
        """Put the cursor where the mouse is."""
        place = event.x - cell_len(self.asked.lead) - 1 + self._hidden
        self._become(EditedLine(self.text, min(max(place, 0), len(self.text))))

    def on_blur(self) -> None:
        """Whoever clicks elsewhere is done with it; the window may lose the focus though."""
        if self.app.app_focus:
            self.post_message(self.Left(self.asked.purpose))

    def render_line(self, y: int) -> Strip:
        """One line: lead, text with its cursor, what is said."""
        colours, width = self.palette.colours, self.size.width
        ground = self.palette.style(colours.text, colours.surface)
        quiet = self.palette.style(colours.dim, colours.surface)
        lead = self.palette.style(colours.accent, colours.surface, bold=True)
        cursor = self.palette.style(colours.canvas, colours.cursor, bold=True)
        said_style = self.palette.style(
            colours.warning if self.wrong else colours.dim, colours.surface
        )
        pieces: list[Piece] = [(f" {self.asked.lead}", lead)]
        if not self.text:
            room = width - cell_len(pieces[0][0]) - 1
            said = self.said or self.asked.hint
            return strip_of(
                [*pieces, (" ", cursor), (shortened(f" {said}", max(room, 0)), quiet)],
                width,
                ground,
            )
        text, place = self.text[self._hidden :], self._line.place - self._hidden
        pieces += [
            (text[:place], ground),
            (text[place : place + 1] or " ", cursor),
            (text[place + 1 :], ground),
        ]
        used = sum(cell_len(piece) for piece, _ in pieces)
        room = max(width - min(used, width) - 2, 0)
        if self.said and room >= min(cell_len(self.said), _LEAST_ROOM):
            words = shortened(self.said, min(cell_len(self.said), room))
            pieces += [(" " * (width - used - cell_len(words) - 1), ground), (words, said_style)]
        return strip_of(pieces, width, ground)

    @property
    def _hidden(self) -> int:
        """Characters to the left of those in sight: the cursor always is."""
        room = self.size.width - cell_len(self.asked.lead) - 3 - min(cell_len(self.said), 40)
        return max(self._line.place - max(room, 4), 0)

    def _become(self, line: EditedLine) -> None:
        changed = line.text != self.text
        self._line = line
        self.refresh()
        if changed:
            self.post_message(self.Typed(self.asked.purpose, line.text))

    def _recall(self, step: int) -> None:
        if self._at == len(self._past):
            self._draft = self.text
        self._at = min(max(self._at + step, 0), len(self._past))
        whole = [*self._past, self._draft]
        self._become(EditedLine.ending(whole[self._at]))
