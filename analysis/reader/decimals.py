"""Exact nanoseconds from the decimal text of times.

A double cannot hold a microsecond timestamp since 1970 to the nanosecond, so times are never
read as floats. Plain numbers, which is nearly all of them, are converted column by column;
signs, exponents, quotes and very long numbers one by one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, DecimalException, localcontext

import numpy as np

from whichlayer.analysis.reader.events import Raw
from whichlayer.analysis.trace.columns import Bool, Int64, UInt8

#: Digits that a plain number may have before its point (microseconds since 1970 have 16) and
#: after it, so that it is read in int64.
_WHOLE_DIGITS, _DECIMALS = 16, 15

#: What is left below a nanosecond is counted in this fraction of one.
_PARTS = 10**12

#: Times from here on, either way, are taken for garbage (73 years; 1970 + 73 is fine too).
_LIMIT_NS = 1 << 61

#: Longest number text that is looked at.
_LONGEST = 1000

_PLAIN = re.compile(rb"(\d{1,16})(?:\.\d{1,15})?\Z")
_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z")
_SPACE, _POINT = 0x20, 0x2E
_POWERS = 10 ** np.arange(_DECIMALS + 1, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Times:
    """Numbers of microseconds as nanoseconds, with what is left below one.

    Attributes:
        whole_ns: int64 (n,), rounded down.
        parts: int64 (n,), the rest in 1e-12 ns, or None where it is zero throughout.
        bad: bool (n,), no number, absent or beyond all measure (``whole_ns`` is 0 there).
    """

    whole_ns: Int64
    parts: Int64 | None
    bad: Bool

    def at(self, rows: Int64) -> Times:
        """Those in the given rows."""
        parts = None if self.parts is None else self.parts[rows]
        return Times(self.whole_ns[rows], parts, self.bad[rows])

    def rounded(self) -> Int64:
        """Whole nanoseconds, halves to even."""
        return _round(self.whole_ns, self.parts)

    def plus(self, other: Times) -> Int64:
        """Sums, rounded once to whole nanoseconds."""
        whole = self.whole_ns + other.whole_ns
        if self.parts is None and other.parts is None:
            return whole
        parts = np.zeros(len(whole), np.int64)
        for term in (self.parts, other.parts):
            if term is not None:
                parts += term
        return _round(whole + parts // _PARTS, parts % _PARTS)


def parse_times(texts: Sequence[Raw | bytes]) -> Times:
    """Microseconds in JSON number (or quoted number) text as nanoseconds.

    Args:
        texts: one number each, as it stands in the file.
    """
    if not texts:
        return Times(np.zeros(0, np.int64), None, np.zeros(0, bool))
    joined = b" ".join(texts)
    if not joined.translate(None, b"0123456789. "):
        times = _parse_plain(joined, len(texts))
        if times is not None:
            return times
    return _parse_any([bytes(text).strip(b'" ') for text in texts])


def _round(whole: Int64, parts: Int64 | None) -> Int64:
    if parts is None:
        return whole
    half = _PARTS // 2
    rounded: Int64 = whole + ((parts > half) | ((parts == half) & (whole % 2 == 1)))
    return rounded


def _parse_plain(joined: bytes, count: int) -> Times | None:
    """Times of numbers with single spaces between, or None if one of them is not plain."""
    text = np.frombuffer(joined + b"    ", np.uint8)
    points = np.flatnonzero(text == _POINT)
    if joined.count(b" ") != count - 1:
        return None
    if len(points) == count and _in_thousandths(text, points):
        return _thousandths(joined)
    ends = np.flatnonzero(text[:-3] == _SPACE)
    rows = np.searchsorted(ends, points)
    has_point = np.zeros(count, np.int64)
    has_point[rows] = 1
    whole_ends = ends.copy()
    whole_ends[rows] = points
    whole_digits = whole_ends - np.concatenate(([0], ends[:-1] + 1))
    decimals = ends - whole_ends - has_point
    if (
        int(has_point.sum()) != len(points)
        or int(whole_digits.min()) < 1
        or int(whole_digits.max()) > _WHOLE_DIGITS
        or int(decimals.max()) > _DECIMALS
        or bool((decimals < has_point).any())
    ):
        return None
    return _convert(joined, rows, has_point, decimals)


def _in_thousandths(text: UInt8, points: Int64) -> bool:
    """Whether every number has exactly three decimals, as Kineto writes them.

    Args:
        text: numbers with one space between each two, and four behind the last.
        points: the points in it, as many as there are numbers.
    """
    # As many places behind as spaces in between and one at the end: these are all of them.
    behind = points + 4
    whole = np.diff(behind, prepend=-1) - 5
    return bool(
        (text[behind] == _SPACE).all()
        and behind[-1] == len(text) - 4
        and int(whole.min()) >= 1
        and int(whole.max()) <= _WHOLE_DIGITS
    )


def _thousandths(joined: bytes) -> Times | None:
    whole_ns = _integers(joined.translate(None, b"."))
    # Numbers too large for int64 are read as its largest, which is beyond the limit as well.
    if int(whole_ns.max()) >= _LIMIT_NS:
        return None
    return Times(whole_ns, None, np.zeros(len(whole_ns), bool))


def _convert(joined: bytes, rows: Int64, has_point: Int64, decimals: Int64) -> Times | None:
    """As :func:`_parse_plain`, once the digits of every number have been counted."""
    numbers = _integers(joined.replace(b".", b" "))
    at = np.arange(len(decimals)) + np.cumsum(has_point) - has_point
    whole = numbers[at]
    if int(whole.max()) >= _LIMIT_NS // 1000:
        return None
    fraction = np.zeros(len(decimals), np.int64)
    fraction[rows] = numbers[at[rows] + 1] * _POWERS[_DECIMALS - decimals[rows]]
    whole_ns = whole * 1000 + fraction // _PARTS
    fraction %= _PARTS
    parts = fraction if bool(fraction.any()) else None
    return Times(whole_ns, parts, np.zeros(len(decimals), bool))


def _integers(text: bytes) -> Int64:
    numbers: Int64 = np.fromstring(text.decode(), np.int64, sep=" ")
    return numbers


def _parse_any(texts: list[bytes]) -> Times:
    """Times of numbers of which some need care."""
    odd = [row for row, text in enumerate(texts) if not _is_plain(text)]
    numbers = list(texts)
    for row in odd:
        numbers[row] = b"0"
    plain = _parse_plain(b" ".join(numbers), len(numbers))
    assert plain is not None
    whole, bad = plain.whole_ns, plain.bad
    parts = np.zeros(len(texts), np.int64) if plain.parts is None else plain.parts
    for row in odd:
        exact = _exact(texts[row])
        if exact is None:
            bad[row] = True
        else:
            whole[row], parts[row] = exact
    return Times(whole, parts if bool(parts.any()) else None, bad)


def _is_plain(text: bytes) -> bool:
    found = _PLAIN.match(text)
    return found is not None and int(found[1]) < _LIMIT_NS // 1000


def _exact(text: bytes) -> tuple[int, int] | None:
    """One number of microseconds as (whole nanoseconds, parts), None if it is no time."""
    if len(text) > _LONGEST or not _NUMBER.match(text):
        return None
    try:
        with localcontext(prec=_LONGEST + 40):
            value = Decimal(text.decode()) * 1000
            if abs(value) >= _LIMIT_NS:
                return None
            whole = value.to_integral_value(ROUND_FLOOR)
            return int(whole), int((value - whole) * _PARTS)
    except DecimalException:
        return None
