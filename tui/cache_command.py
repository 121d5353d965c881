"""``whichlayer cache``: what is kept of traces that were opened, and how to be rid of it."""

from __future__ import annotations

import time
from typing import Final

from whichlayer.analysis.cache.entries import Entry, clear, entries, obstacle
from whichlayer.analysis.cache.location import SIZE_VARIABLE, Location, locate
from whichlayer.analysis.cache.reuse import describe
from whichlayer.analysis.report.units import count_text
from whichlayer.analysis.text import clean
from whichlayer.tui.arguments import UsageError

_SIZES: Final = ("bytes", "KiB", "MiB", "GiB", "TiB")
_AGES: Final = ((86_400, "d"), (3_600, "h"), (60, "min"))


def cache_text() -> str:
    """Where the cache is, what it holds and how much it may hold."""
    location = locate()
    lines = [location.note] if location.note else []
    if location.folder is None or location.refusal:
        return "\n".join([*lines, f"no cache: {_place(location)}{location.refusal}", ""])
    kept = entries(location.folder)
    lines.append(
        f"{_place(location)}{count_text(len(kept), 'trace')}, "
        f"{size_text(sum(entry.size for entry in kept))} of at most {size_text(location.limit)} "
        f"({SIZE_VARIABLE})"
    )
    trouble = obstacle(location.folder) if location.folder.exists() else ""
    if trouble or not location.limit:
        lines.append(f"no more traces are kept: {trouble or f'{SIZE_VARIABLE} is 0'}")
    now = time.time()
    return "\n".join([*lines, *(_line(entry, now) for entry in reversed(kept)), ""])


def clear_cache() -> str:
    """Empty the cache and say how much is gone.

    Raises:
        UsageError: there is no cache that could be emptied.
    """
    location = locate()
    if location.folder is None or location.refusal:
        raise UsageError(f"no cache: {_place(location)}{location.refusal}")
    count, freed = clear(location.folder)
    left = len(entries(location.folder))
    if left:
        raise UsageError(f"{_place(location)}{count_text(left, 'trace')} could not be removed")
    return f"{_place(location)}{count_text(count, 'trace')} removed, {size_text(freed)} freed\n"


def size_text(size: int) -> str:
    """A number of bytes in the largest binary unit that leaves a digit before the point.

    >>> size_text(12), size_text(3 << 30)
    ('12 bytes', '3.0 GiB')
    """
    power = min(max(size.bit_length() - 1, 0) // 10, len(_SIZES) - 1)
    return f"{size / (1 << 10 * power):.{1 if power else 0}f} {_SIZES[power]}"


def age_text(seconds: float) -> str:
    """How long ago something was.

    >>> age_text(7300.0), age_text(3.0)
    ('2 h ago', 'just now')
    """
    for length, unit in _AGES:
        if seconds >= length:
            return f"{int(seconds // length)} {unit} ago"
    return "just now"


def _place(location: Location) -> str:
    return "" if location.folder is None else f"{clean(str(location.folder))}: "


def _line(entry: Entry, now: float) -> str:
    told = describe(entry.path)
    name, state = told if told is not None else (entry.path.name, "damaged")
    remark = f"  ({state})" if state else ""
    size = size_text(entry.size)
    return f"{size:>10}  {age_text(now - entry.used_s):>10}  {clean(name)}{remark}"
