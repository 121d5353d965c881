"""Times, shares and rates as people read them; ``–`` stands for what is not known."""

from __future__ import annotations

import math
import re

UNKNOWN = "–"

NOT_NEEDED = "✗"
"""In place of a share of the roof: the kernel need not run at all, so that its ideal is no time."""

ROOF_MARK = "="
"""Work at the roof of its card: nothing is lost."""

_BYTE_UNITS = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))

_TIME_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"))


def time_text(ns: int | None) -> str:
    """A duration in the largest unit that leaves a digit before the point: ``1.234 ms``.

    >>> time_text(1_234_567), time_text(999), time_text(0)
    ('1.235 ms', '999 ns', '0')
    """
    if ns is None:
        return UNKNOWN
    if ns == 0:
        return "0"
    for scale, unit in _TIME_UNITS:
        if abs(ns) >= scale:
            return f"{_four_digits(ns / scale)} {unit}"
    return f"{ns} ns"


def share_text(part: float | None, whole: float = 1.0) -> str:
    """A part of a whole as a percentage with one decimal.

    >>> share_text(0.1234), share_text(1, 3), share_text(1, 0)
    ('12.3 %', '33.3 %', '–')
    """
    if part is None or not whole or not math.isfinite(part):
        return UNKNOWN
    share = 100 * part / whole
    # A share that is there must not read as if it were not.
    return "<0.1 %" if 0 < share < 0.05 else f"{share:.1f} %"


def rate_text(value: float | None) -> str:
    """A rate with three significant digits and no exponent."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    if value >= 99.95:
        return f"{value:.0f}"
    if 0 < value < 0.005:
        return "<0.01"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def bytes_text(size: int | None) -> str:
    """A size in powers of a thousand, as rates are.

    >>> bytes_text(402_176), bytes_text(96), bytes_text(None)
    ('402 kB', '96 B', '–')
    """
    if size is None:
        return UNKNOWN
    for scale, unit in _BYTE_UNITS:
        if size >= scale:
            return f"{rate_text(size / scale)} {unit}"
    return f"{size} B"


def number_text(count: int) -> str:
    """A count as people read it.

    >>> number_text(12345)
    '12 345'
    """
    return f"{count:,}".replace(",", " ")


def count_text(count: int, noun: str) -> str:
    """A count with its noun in the right number: ``1 event``, ``1 866 events``."""
    return f"{number_text(count)} {noun}{'' if count == 1 else 's'}"


_PARTED = re.compile(
    r"(?<=\d) (?=(?:%|[nµm]?s|[kMGTP]?i?B(?:/s)?|[kMGTP]?FLOP(?:/s|/B)?)(?![^\W_]))"
    r"|(?<=≤) (?=\d)"
)


def together(text: str) -> str:
    """Text in which no line may end between a number and its unit (U+00A0 between them).

    >>> together("238.5 µs idle, 5.4 % of it").replace(chr(160), "~")
    '238.5~µs idle, 5.4~% of it'
    """
    return _PARTED.sub("\u00a0", text)


def apart(text: str) -> str:
    """The text that :func:`together` was given."""
    return text.replace("\u00a0", " ")


def _four_digits(value: float) -> str:
    size = abs(value)
    if size >= 999.95:
        return f"{value:.0f}"
    return (
        f"{value:.1f}" if size >= 99.995 else f"{value:.2f}" if size >= 9.9995 else f"{value:.3f}"
    )
