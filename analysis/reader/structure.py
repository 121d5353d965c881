"""The structure of JSON text, found without decoding it."""

from __future__ import annotations

import re
from collections.abc import Iterator
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

#: Bytes looked at together: it bounds the memory, eight times as much for every bracket.
_BLOCK = 1 << 20

_BACKSLASHES = re.compile(rb"\\*")
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
    last_end = -1
    for at, depths in _depths(text):
        below = np.flatnonzero(depths < 0)
        complete = np.flatnonzero((depths[: below[0]] if len(below) else depths) == 0)
        if len(complete):
            last_end = int(at[complete[-1]]) + 1
        if len(below):
            stop = int(at[below[0]])
            return Elements(last_end, stop if text[stop] == _BRACKET_CLOSE else -1)
    return Elements(last_end, -1)


def container_end(text: bytes) -> int:
    """Where the object or list that the text begins with ends, -1 if not in this text."""
    for at, depths in _depths(text):
        ends = np.flatnonzero(depths <= 0)
        if len(ends):
            return int(at[ends[0]]) + 1
    return -1


def _depths(text: bytes) -> Iterator[tuple[Int64, Int64]]:
    """Positions of brackets and braces outside strings, and the depth behind each."""
    depth, inside, begin = 0, False, 0
    while begin < len(text):
        end = _block_end(text, begin)
        block = text[begin:end]
        quotes = string_quotes(block)
        change = _NESTING[np.frombuffer(block, np.uint8)]
        at = np.flatnonzero(change)
        at = at[inside_strings(quotes, at) == inside]
        if len(at):
            depths = np.cumsum(change[at], dtype=np.int64) + depth
            depth = int(depths[-1])
            yield at + begin, depths
        inside ^= len(quotes) % 2 == 1
        begin = end


def _block_end(text: bytes, begin: int) -> int:
    """Where a block ends that can be looked at alone: not between a backslash and a quote."""
    end = min(begin + _BLOCK, len(text))
    run = _BACKSLASHES.match(text, end) if text[end - 1] == _BACKSLASH else None
    # The character behind the run belongs to it: it may be a quote.
    return min(run.end() + 1, len(text)) if run else end


def _escaped(characters: UInt8, quotes: Int64) -> Bool:
    """Which quotes follow an odd number of backslashes."""
    index = np.arange(len(characters))
    last_other = np.maximum.accumulate(np.where(characters == _BACKSLASH, -1, index))
    run = np.where(quotes > 0, quotes - 1 - last_other[quotes - 1], 0)
    escaped: Bool = run % 2 == 1
    return escaped
