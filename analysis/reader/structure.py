"""The structure of JSON text, found without decoding it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.trace.columns import Bool, Int64, UInt8

#: What may stand between two elements of an array, commas that are one too many included.
SEPARATORS = b" \t\r\n,"

_QUOTE, _BACKSLASH, _BRACKET_CLOSE = 0x22, 0x5C, 0x5D

_NESTING = np.zeros(256, np.int8)
_NESTING[[0x7B, 0x5B]] = 1
_NESTING[[0x7D, 0x5D]] = -1

_NEXT_ELEMENT = re.compile(rb"\s*,\s*\{")

#: Closing braces that a guess looks at before it leaves the answer to the exact search.
_GUESSES = 1000


@dataclass(frozen=True, slots=True)
class Elements:
    """The elements of an array, as far as a piece of text shows them.

    Attributes:
        last_end: where the last complete object or list in it ends, -1 without one.
        close: where the array's own closing bracket is, -1 if the text ends before it.
    """

    last_end: int
    close: int


def guess_cut(text: bytes) -> int:
    """Where the last event before another one seems to end, or -1.

    Cheap, and wrong where a string or a nested list looks alike; text up to a wrong cut
    cannot be decoded, which is how that is found out.
    """
    at = text.rfind(b"}")
    for _ in range(_GUESSES):
        if at < 0 or _NEXT_ELEMENT.match(text, at + 1):
            break
        at = text.rfind(b"}", 0, at)
    else:
        return -1
    return at + 1 if at >= 0 else -1


def string_quotes(text: bytes) -> Int64:
    """Positions of the quotes that open and close strings, in turn."""
    characters = np.frombuffer(text, np.uint8)
    quotes = np.flatnonzero(characters == _QUOTE)
    if b"\\" in text and len(quotes):
        quotes = quotes[~_escaped(characters, quotes)]
    return quotes


def inside_strings(quotes: Int64, at: NDArray[np.int64]) -> Bool:
    """Which of the positions lie inside a string."""
    inside: Bool = np.searchsorted(quotes, at) % 2 == 1
    return inside


def find_elements(text: bytes) -> Elements:
    """Exact ends of the elements in text that begins inside an array, between elements."""
    characters = np.frombuffer(text, np.uint8)
    change = _NESTING[characters]
    at = np.flatnonzero(change)
    at = at[~inside_strings(string_quotes(text), at)]
    depth = np.cumsum(change[at], dtype=np.int64)
    below = np.flatnonzero(depth < 0)
    close = -1
    if len(below):
        first = int(below[0])
        if characters[at[first]] == _BRACKET_CLOSE:
            close = int(at[first])
        at, depth = at[:first], depth[:first]
    complete = np.flatnonzero(depth == 0)
    return Elements(int(at[complete[-1]]) + 1 if len(complete) else -1, close)


def _escaped(characters: UInt8, quotes: Int64) -> Bool:
    """Which quotes follow an odd number of backslashes."""
    index = np.arange(len(characters))
    last_other = np.maximum.accumulate(np.where(characters == _BACKSLASH, -1, index))
    run = np.where(quotes > 0, quotes - 1 - last_other[quotes - 1], 0)
    escaped: Bool = run % 2 == 1
    return escaped
