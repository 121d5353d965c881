"""The structure of JSON text, found without decoding it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.trace.columns import Bool, Int64

#: What may stand between two elements of an array, commas that are one too many included.
SEPARATORS = b" \t\r\n,"

_QUOTE, _BACKSLASH, _BRACKET_CLOSE = 0x22, 0x5C, 0x5D

_NESTING = np.zeros(256, np.int8)
_NESTING[[0x7B, 0x5B]] = 1
_NESTING[[0x7D, 0x5D]] = -1

#: Bytes looked at together: it bounds the memory, eight times as much for every bracket.
_BLOCK = 1 << 18

_PLAIN_END = re.compile(rb"[,\]}\s]")
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


class Nesting:
    """Follows brackets and braces through text that comes in pieces.

    Attributes:
        depth: how many are open behind the text so far.
        inside: the text so far ends inside a string.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.inside = False
        self._escaping = False

    def feed(self, text: bytes) -> Iterator[tuple[Int64, Int64]]:
        """Positions in the text of what opens or closes outside strings, and the depth behind."""
        for begin in range(0, len(text), _BLOCK):
            block = text[begin : begin + _BLOCK]
            quotes, self._escaping = _string_quotes(block, self._escaping)
            change = _NESTING[np.frombuffer(block, np.uint8)]
            at = np.flatnonzero(change)
            at = at[inside_strings(quotes, at) == self.inside]
            self.inside ^= len(quotes) % 2 == 1
            if len(at):
                depths = np.cumsum(change[at], dtype=np.int64) + self.depth
                self.depth = int(depths[-1])
                yield at + begin, depths


def string_quotes(text: bytes) -> Int64:
    """Positions of the quotes that open and close strings, in turn."""
    return _string_quotes(text, False)[0]


def inside_strings(quotes: Int64, at: NDArray[np.int64]) -> Bool:
    """Which of the positions lie inside a string."""
    inside: Bool = np.searchsorted(quotes, at) % 2 == 1
    return inside


class ValueScan:
    """Finds the end of one JSON value in text that comes in pieces.

    Attributes:
        depth: how deeply what was seen so far is nested.
    """

    def __init__(self) -> None:
        self.depth = 0
        self._first = b""
        self._nesting = Nesting()
        self._escaping = False

    def feed(self, piece: bytes) -> int:
        """Where in this piece the value ends, -1 if not in it; the first begins with the value."""
        begins = not self._first
        self._first = self._first or piece[:1]
        if self._first == b'"':
            return self._string_end(piece, int(begins))
        if self._first in (b"{", b"["):
            return self._container_end(piece)
        end = _PLAIN_END.search(piece)
        return end.start() if end else -1

    def _string_end(self, piece: bytes, start: int) -> int:
        for begin in range(start, len(piece), _BLOCK):
            block = piece[begin : begin + _BLOCK]
            quotes, self._escaping = _string_quotes(block, self._escaping)
            if len(quotes):
                return begin + int(quotes[0]) + 1
        return -1

    def _container_end(self, piece: bytes) -> int:
        for at, depths in self._nesting.feed(piece):
            ends = np.flatnonzero(depths <= 0)
            stop = int(ends[0]) if len(ends) else len(depths)
            self.depth = max(self.depth, int(depths[: stop + 1].max()))
            if len(ends):
                return int(at[stop]) + 1
        return -1


def find_elements(text: bytes) -> Elements:
    """Exact ends of the elements in text that begins inside an array, between elements."""
    last_end = -1
    for at, depths in Nesting().feed(text):
        below = np.flatnonzero(depths < 0)
        complete = np.flatnonzero((depths[: below[0]] if len(below) else depths) == 0)
        if len(complete):
            last_end = int(at[complete[-1]]) + 1
        if len(below):
            stop = int(at[below[0]])
            return Elements(last_end, stop if text[stop] == _BRACKET_CLOSE else -1)
    return Elements(last_end, -1)


def _string_quotes(text: bytes, escaped: bool) -> tuple[Int64, bool]:
    """The quotes of strings, and whether the character behind the text is escaped.

    Args:
        text: anything.
        escaped: its first character is.
    """
    characters = np.frombuffer(text, np.uint8)
    quotes = np.flatnonzero(characters == _QUOTE)
    if b"\\" not in text:
        first = escaped and len(quotes) > 0 and quotes[0] == 0
        return (quotes[1:] if first else quotes), False
    slashes = np.flatnonzero(characters == _BACKSLASH)
    starts = slashes[np.diff(slashes, prepend=-2) != 1]
    # The quotes behind backslashes, and where the run of those begins.
    behind = np.flatnonzero((quotes > 0) & (characters[quotes - 1] == _BACKSLASH))
    start = starts[np.searchsorted(starts, quotes[behind]) - 1]
    run = quotes[behind] - start + (escaped & (start == 0))
    real = np.ones(len(quotes), bool)
    real[behind] = run % 2 == 0
    if escaped and len(quotes) and quotes[0] == 0:
        real[0] = False
    last = int(starts[-1])
    open_run = len(text) - last + (escaped and last == 0) if text.endswith(b"\\") else 0
    return quotes[real], open_run % 2 == 1
