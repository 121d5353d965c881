"""How numbers, texts and rows become JSON: exact, finite, and one row per line.

Times are written from integer nanoseconds as decimal text, never through a float, so a
report holds the very instants of the trace whatever their size.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from whichlayer.analysis.results import Where
from whichlayer.analysis.text import clean

_FLOAT_DIGITS = 6
"""Significant digits of rates and shares: more would be noise that differs by machine."""

_INT64_MAX = 2**63 - 1


def microseconds(ns: int | None) -> orjson.Fragment | None:
    """Nanoseconds as a JSON number of microseconds with exactly three decimals."""
    if ns is None:
        return None
    whole, rest = divmod(abs(ns), 1000)
    return orjson.Fragment(f"{'-' if ns < 0 else ''}{whole}.{rest:03d}")


def number(value: float | None) -> float | None:
    """A float for JSON; what is not finite is not known."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{_FLOAT_DIGITS}g}")


def integer(value: int | None) -> int | orjson.Fragment | None:
    """An integer for JSON, of any size."""
    if value is None or -_INT64_MAX <= value <= _INT64_MAX:
        return None if value is None else int(value)
    return orjson.Fragment(str(value))


def words(text: str) -> str | None:
    """A text for JSON without control characters; an empty one is a missing value."""
    return clean(text) or None


def texts(lines: Iterable[str]) -> list[str]:
    """Lines for JSON, without control characters."""
    return [clean(line) for line in lines]


def place(where: Where) -> dict[str, Any]:
    """Where to fix something, every part null where it is not known."""
    return {
        "file": None if where.file is None else clean(where.file),
        "line": where.line,
        "module": None if where.module is None else clean(where.module),
        "operator": None if where.operator is None else clean(where.operator),
        "record": words(where.record),
    }


def rows(entries: Iterable[Mapping[str, Any]]) -> orjson.Fragment:
    """A JSON array with one compact object per line."""
    lines = [orjson.dumps(entry) for entry in entries]
    return orjson.Fragment(b"[\n" + b",\n".join(lines) + b"\n]" if lines else b"[]")


def document(fields: Mapping[str, Any]) -> bytes:
    """A JSON object with one field per line."""
    lines = [orjson.dumps(name) + b": " + orjson.dumps(value) for name, value in fields.items()]
    return b"{\n" + b",\n".join(lines) + b"\n}\n"
