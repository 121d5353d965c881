"""The codes by which cells are coloured: families, then layers, then hues without a meaning.

One array of codes per way of colouring, so that rows and styles need not know which it is.
"""

from __future__ import annotations

from enum import Enum
from zlib import crc32

from whichlayer.analysis.layers import Layer
from whichlayer.tui.family import Family

#: Colours without a meaning of their own: told apart by the colour-blind too.
HUES = 10

#: Where layers and hues begin among the codes.
FIRST_LAYER = len(Family)
FIRST_HUE = FIRST_LAYER + len(Layer)

#: What a way of colouring has nothing to say of.
PLAIN = FIRST_HUE + HUES
SLOTS = PLAIN + 1


class ColourBy(Enum):
    """What the colour of a bar tells; the value is how it is called."""

    FAMILY = "kernel family"
    OWNER = "owner"
    STREAM = "stream"
    NAME = "name"

    @property
    def following(self) -> ColourBy:
        """The next that the key goes to."""
        every = list(ColourBy)
        return every[(every.index(self) + 1) % len(every)]


def layer_slot(layer: Layer) -> int:
    """The code of a layer."""
    return FIRST_LAYER + layer


def hue_of(name: str) -> int:
    """The code of a name: the same in every recording.

    >>> hue_of("sgemm") == hue_of("sgemm")
    True
    """
    return FIRST_HUE + crc32(name.encode("utf-8", "surrogatepass")) % HUES


def slot_word(slot: int) -> str:
    """What a crowd of slices of a code is called; empty where many may share it."""
    if slot < FIRST_LAYER:
        return Family(slot).word
    if slot < FIRST_HUE:
        words = Layer(slot - FIRST_LAYER).text
        return f"{words.letter} {words.name}"
    return ""
