"""One line of text being typed: a value, and what keys make of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: The word before the cursor and the blanks after it, as Ctrl-W takes them.
_LAST_WORD = re.compile(r"\S*\s*$")

#: More than any query needs; what is pasted beyond is left out.
MOST = 4096


@dataclass(frozen=True, slots=True)
class EditedLine:
    """Text with a cursor before one of its characters, or at its end.

    Attributes:
        text: what is typed.
        place: characters before the cursor.
    """

    text: str = ""
    place: int = 0

    @classmethod
    def ending(cls, text: str) -> EditedLine:
        """A text with the cursor behind it."""
        return cls(text[:MOST], len(text[:MOST]))

    def typed(self, text: str) -> EditedLine:
        """The printable part of a text put in at the cursor; line ends become blanks.

        >>> EditedLine("ac", 1).typed("b")
        EditedLine(text='abc', place=2)
        """
        new = "".join(c for c in re.sub(r"\s", " ", text) if c.isprintable())
        new = new[: MOST - len(self.text)]
        return EditedLine(
            self.text[: self.place] + new + self.text[self.place :], self.place + len(new)
        )

    def key(self, key: str) -> EditedLine | None:
        """What an editing key makes of it; None where the key is none."""
        text, place = self.text, self.place
        if key == "backspace":
            return EditedLine(text[: max(place - 1, 0)] + text[place:], max(place - 1, 0))
        if key == "delete":
            return EditedLine(text[:place] + text[place + 1 :], place)
        if key == "ctrl+w":
            word = _LAST_WORD.search(text[:place])
            start = word.start() if word else place
            return EditedLine(text[:start] + text[place:], start)
        if key == "ctrl+u":
            return EditedLine(text[place:], 0)
        if key == "ctrl+k":
            return EditedLine(text[:place], place)
        moves = {
            "left": place - 1, "right": place + 1, "home": 0, "end": len(text),
            "ctrl+a": 0, "ctrl+e": len(text), "ctrl+b": place - 1, "ctrl+f": place + 1,
        }  # fmt: skip
        if key not in moves:
            return None
        return EditedLine(text, min(max(moves[key], 0), len(text)))
