"""What is pasted, taken out of what is typed before anything else looks at it.

Textual reads control sequences within a paste and hands on what it does not know as keys: a pasted text
with escapes in it would act.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

START: Final = "\x1b[200~"
END: Final = "\x1b[201~"

#: Characters from which the beginning of a bracket is held back: fewer may be a key of their own.
_HELD_FROM: Final = 3


class Pasted:
    """Parts a stream of characters, which may be cut anywhere."""

    def __init__(self) -> None:
        """Nothing was typed."""
        self._rest = ""
        self._pasting = False

    def parted(self, text: str) -> Iterator[tuple[bool, str]]:
        """What is complete by now: whether it is pasted, and the text; never empty."""
        text, self._rest = self._rest + text, ""
        while text:
            before, found, after = text.partition(END if self._pasting else START)
            if not found:
                if self._pasting:
                    self._rest = text
                    return
                held = _held(text)
                self._rest = text[len(text) - held :]
                before, after = text[: len(text) - held], ""
            if before:
                yield self._pasting, before
            if found:
                self._pasting = not self._pasting
            text = after


def _held(text: str) -> int:
    """How many characters at the end may begin a bracket."""
    lengths = range(len(START) - 1, _HELD_FROM - 1, -1)
    return next((length for length in lengths if text.endswith(START[:length])), 0)
