"""Numbers and words at known places of a text, read without cutting them out.

To fetch many bytes from each of many places takes as long as to fetch one. So a window is fetched
at each place, and everything there is told from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.trace.columns import Bool, Int64, UInt8

UInt64 = NDArray[np.uint64]

#: Bytes behind a text that may be in a window, and are never read.
MARGIN: Final = 256

#: Digits that a number may have (microseconds since 1970 have as many before their point).
DIGITS: Final = 16
_DECIMALS: Final = 3

#: Times from here on are taken for garbage, as in :mod:`whichlayer.analysis.reader.decimals`.
_LIMIT_NS: Final = np.uint64(1 << 61)

_ZERO, _POINT = ord("0"), ord(".")
_EIGHT: Final = 8
_ALL: Final = (1 << 64) - 1

#: For 0 to 8 digits, the bytes of a word that hold them: the last ones are its highest.
_LAST: Final = np.array([_ALL << (8 * (8 - count)) & _ALL for count in range(9)], np.uint64)


class Windows:
    """What stands from given places of a text on.

    Attributes:
        bytes: uint8 (n, width).
        words: uint64 (n, width / 8), the same.
    """

    def __init__(self, text: bytes, at: Int64, width: int) -> None:
        every = np.ndarray((len(text) - width + 1,), f"V{width}", text, 0, (1,))
        found = every[at]
        self.bytes: UInt8 = found.view(np.uint8).reshape(len(at), width)
        self.words: UInt64 = found.view("<u8").reshape(len(at), width // _EIGHT)

    def has(self, expected: bytes, at: int = 0) -> Bool:
        """Which of them hold some text, from a byte on."""
        found = np.ones(len(self.words), np.bool_)
        for index in range(at // _EIGHT, (at + len(expected) - 1) // _EIGHT + 1):
            word = mask = 0
            for place in range(_EIGHT):
                within = index * _EIGHT + place - at
                if 0 <= within < len(expected):
                    word |= expected[within] << (8 * place)
                    mask |= 0xFF << (8 * place)
            column = self.words[:, index]
            found &= (column if mask == _ALL else column & np.uint64(mask)) == np.uint64(word)
        return found

    def digits(self, at: int) -> Int64:
        """How many digits stand from a byte on: 0 where they are too many."""
        count: Int64 = (self.bytes[:, at : at + DIGITS + 1] - np.uint8(_ZERO) > 9).argmax(1)
        return count

    def digits_before_end(self) -> Int64:
        """How many digits stand at the end: 0 where they are too many."""
        last = self.bytes[:, : -DIGITS - 2 : -1]
        count: Int64 = (last - np.uint8(_ZERO) > 9).argmax(1)
        return count

    def proper(self, at: int, digits: Int64) -> Bool:
        """Which of so many digits from a byte on are numbers as JSON writes them."""
        found: Bool = (digits > 0) & ((self.bytes[:, at] != _ZERO) | (digits == 1))
        return found


def read_integers(text: bytes, end: Int64, digits: Int64) -> Int64:
    """The numbers of so many digits that end at the given places."""
    return _integers(Windows(text, end - DIGITS, DIGITS).words, digits).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Microseconds:
    """Numbers of microseconds in a text.

    Attributes:
        ns: int64 (n,), nanoseconds, exact.
        end: int64 (n,), where each number ends in the text.
        plain: bool (n,), those without sign and exponent, with three decimals or none, and not
            beyond all measure; nothing is known of others.
    """

    ns: Int64
    end: Int64
    plain: Bool

    @classmethod
    def read(cls, text: bytes, windows: Windows, place: Int64, at: int) -> Self:
        """Reads numbers.

        Args:
            text: where they stand.
            windows: of this text.
            place: where each window begins in it.
            at: where in every window a number begins.
        """
        digits = windows.digits(at)
        plain = windows.proper(at, digits)
        point = place + at + digits
        around = Windows(text, point - DIGITS, DIGITS + _EIGHT)
        ns = _integers(around.words, digits) * np.uint64(10**_DECIMALS)
        with_decimals = around.bytes[:, DIGITS] == _POINT
        if bool(with_decimals.any()):
            behind = around.words[:, 2]
            ns += _value(behind << np.uint64(32), with_decimals * _DECIMALS)
            plain &= _are_digits(behind) | ~with_decimals
        plain &= ns < _LIMIT_NS
        return cls(ns.astype(np.int64), point + with_decimals * (_DECIMALS + 1), plain)


def _are_digits(words: UInt64) -> Bool:
    """Whether the second to the fourth character of words are digits."""
    apart = words ^ np.uint64(0x30303000)
    found: Bool = ((apart | (apart + np.uint64(0x06060600))) & np.uint64(0xF0F0F000)) == 0
    return found


def _integers(words: UInt64, digits: Int64) -> UInt64:
    """The numbers of so many digits that end with the second word."""
    value = _value(words[:, 1], np.minimum(digits, _EIGHT))
    if int(digits.max(initial=0)) > _EIGHT:
        value += _value(words[:, 0], np.maximum(digits - _EIGHT, 0)) * np.uint64(10**_EIGHT)
    return value


def _value(words: UInt64, digits: Int64) -> UInt64:
    """What the last digits of words of eight bytes say; the others may be anything."""
    words = (words & np.uint64(0x0F0F0F0F0F0F0F0F)) & _LAST[digits]
    words = (words * np.uint64(10 << 8 | 1)) >> np.uint64(8)
    words = ((words & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(100 << 16 | 1)) >> np.uint64(16)
    words = ((words & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(10000 << 32 | 1)) >> np.uint64(32)
    return words
