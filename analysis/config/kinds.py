"""What a setting may be: each kind turns a value of TOML into ours, or says what it expects."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches

from whichlayer.analysis.config.entries import Value

#: Makes a setting of a value.
#:
#: Raises:
#:     ValueError: it is of another type, or out of range; the message says what is expected.
Kind = Callable[[object], Value]

_PERCENT = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,12})?) ?%")


def share(value: object) -> float:
    """A share of a whole, 0 to 1, also as a percentage."""
    found = _number(value)
    if isinstance(value, str) and (match := _PERCENT.fullmatch(value.strip())):
        found = float(match[1]) / 100
    if found is None or not 0 <= found <= 1:
        raise ValueError(f'expected a share, 0 to 1 or such as "15%", not {said(value)}')
    return found


def number(value: object) -> float:
    """A number from zero."""
    found = _number(value)
    if found is None or not (math.isfinite(found) and found >= 0):
        raise ValueError(f"expected a number from zero, not {said(value)}")
    return found


def rate(value: object) -> float:
    """A number above zero."""
    found = _number(value)
    if found is None or not (math.isfinite(found) and found > 0):
        raise ValueError(f"expected a number above zero, not {said(value)}")
    return found


def flag(value: object) -> bool:
    """Yes or no."""
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false, not {said(value)}")  # noqa: TRY004
    return value


def one_of(names: Iterable[str], what: str) -> Kind:
    """One of some words; whole numbers may be written as such."""
    known = tuple(names)

    def read(value: object) -> str:
        word = str(value) if type(value) in (int, str) else ""
        if word not in known:
            hint = near(word, known) or f"expected {what}: {', '.join(known)}"
            raise ValueError(f"there is no {what} {said(value)}; {hint}")
        return word

    return read


def each(kind: Kind, what: str) -> Kind:
    """A list of one kind."""

    def read(value: object) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise ValueError(f"expected a list of {what}, not {said(value)}")  # noqa: TRY004
        return tuple(dict.fromkeys(str(kind(one)) for one in value))

    return read


def folder(value: object) -> str:
    """The name of a folder."""
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ValueError(f"expected the name of a folder, not {said(value)}")
    return value


def near(word: str, known: Iterable[str]) -> str:
    """What somebody may have meant, as a question, or empty."""
    found = get_close_matches(word[:80], list(known), n=1)
    return f"did you mean {found[0]}?" if found else ""


def said(value: object) -> str:
    """A value in an error line: short."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) >= 10**18:
        return "a number of that size"
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 80 else f"{text[:76]} …"


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e300 or isinstance(value, float) else math.inf
