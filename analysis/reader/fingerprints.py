"""Finds stretches of a text among known ones without cutting them out.

A fingerprint tells which known text a stretch may be; then the two are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.reader.digits import Windows
from whichlayer.analysis.trace.columns import Int32, Int64

UInt64 = NDArray[np.uint64]

#: Texts are compared in so many bytes, the rest of which is empty; longer ones are not.
WIDTHS: Final = (32, 128, 256)

_NONE: Final = -2
_EIGHT: Final = 8

_FACTORS: Final = np.random.default_rng(1).integers(
    1 << 62, 1 << 63, WIDTHS[-1] // _EIGHT, np.uint64
) | np.uint64(1)
_SPREAD: Final = np.uint64(29)


class Known:
    """Known texts of at most so many bytes, with the number of each.

    Attributes:
        width: this many bytes.
        count: how many there are.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.count = 0
        words = width // _EIGHT
        self._masks = _masks(width)
        self._words: UInt64 = np.zeros((0, words), np.uint64)
        self._length: Int64 = np.zeros(0, np.int64)
        self._number: Int32 = np.zeros(0, np.int32)
        self._fingerprint: UInt64 = np.zeros(0, np.uint64)

    def add(self, texts: Sequence[bytes], numbers: Mapping[bytes, int]) -> None:
        """Takes more texts, each of which is new."""
        if not texts:
            return
        padded = b"".join([text.ljust(self.width, b"\0") for text in texts])
        words = np.frombuffer(padded, "<u8").reshape(len(texts), self.width // _EIGHT)
        fingerprint = np.append(self._fingerprint, _fingerprints(words))
        order = np.argsort(fingerprint, kind="stable")
        self._fingerprint = fingerprint[order]
        self._words = np.concatenate((self._words, words))[order]
        length = np.array([len(text) for text in texts], np.int64)
        self._length = np.append(self._length, length)[order]
        number = np.array([numbers[text] for text in texts], np.int32)
        self._number = np.append(self._number, number)[order]
        self.count = len(order)

    def find(self, text: bytes, begin: Int64, length: Int64) -> Int32:
        """The number of each stretch of a text, -2 for what is not known.

        Args:
            text: the text, with ``MARGIN`` bytes behind what is looked for.
            begin: where each begins.
            length: of each, at most the width.
        """
        words = Windows(text, begin, self.width).words
        words &= self._masks.take(length, axis=0)
        at = np.searchsorted(self._fingerprint, _fingerprints(words))
        at[at == self.count] = 0
        same = (self._words.take(at, axis=0) == words).all(1) & (self._length[at] == length)
        return np.where(same, self._number[at], np.int32(_NONE))


@lru_cache(len(WIDTHS))
def _masks(width: int) -> UInt64:
    """What is left of a window of so many bytes, by the length of the text in it."""
    filled = np.tri(width + 1, width, -1, np.uint8) * np.uint8(255)
    masks: UInt64 = filled.view("<u8")
    masks.flags.writeable = False
    return masks


def _fingerprints(words: UInt64) -> UInt64:
    """One number for each row, which for different ones is hardly ever the same."""
    mixed = words >> _SPREAD
    mixed ^= words
    return mixed @ _FACTORS[: words.shape[1]]
