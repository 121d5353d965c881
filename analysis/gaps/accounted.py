"""How much of a stretch of a thread its slices account for."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.text import clean
from whichlayer.analysis.trace.columns import Trace

_STEP = re.compile(r"^ProfilerStep#\d+$")
#: A slice that covers this share of a stretch needs no word on the rest.
ENOUGH = 0.8
#: At most so many names are told, the longest first.
NAMES = 3
#: Less than this share of a stretch is not worth a name.
LEAST_SHARE = 0.05


def covered_ns(trace: Trace, row: int, start: int, end: int) -> int:
    """How much of a stretch a slice covers."""
    return max(min(int(trace.end_ns[row]), end) - max(int(trace.start_ns[row]), start), 0)


def own_times(trace: Trace, lane: int, start: int, end: int) -> Counter[str]:
    """Nanoseconds of a stretch of a thread in each slice itself, by name; rest under ``""``.

    Args:
        trace: the recording.
        lane: a thread.
        start: of the stretch.
        end: of the stretch.
    """
    rows = _open_during(trace, lane, start, end)
    shared = np.minimum(trace.end_ns[rows], end) - np.maximum(trace.start_ns[rows], start)
    shared = np.maximum(shared, 0)
    own = shared.copy()
    parent = trace.parent[rows]
    at = np.searchsorted(rows, parent)
    inner = (parent >= 0) & (at < len(rows))
    inner &= rows[np.minimum(at, max(len(rows) - 1, 0))] == parent
    np.subtract.at(own, at[inner], shared[inner])
    found: Counter[str] = Counter()
    names, place = np.unique(trace.name_id[rows], return_inverse=True)
    times = np.zeros(len(names), np.int64)
    np.add.at(times, place, own)
    for name, ns in zip(names.tolist(), times.tolist(), strict=True):
        told = "" if _STEP.match(trace.strings[name]) else trace.strings[name]
        found[told] += max(ns, 0)
    found[""] += max(end - start - sum(found.values()), 0)
    return found


def _open_during(trace: Trace, lane: int, start: int, end: int) -> NDArray[np.int64]:
    """Slices of a thread that overlap a stretch, in order."""
    first, last = int(trace.lane_rows[lane]), int(trace.lane_rows[lane + 1])
    begins = trace.start_ns[first:last]
    low = first + int(begins.searchsorted(start, "left"))
    high = first + int(begins.searchsorted(end, "left"))
    before = low - 1
    around = [before, *trace.enclosing(before)] if before >= first else []
    open_ = sorted(row for row in around if int(trace.end_ns[row]) > start)
    return np.array([*open_, *range(low, high)], np.int64)


def share_line(trace: Trace, row: int, start: int, end: int, told: str) -> str | None:
    """What a stretch consists of where its culprit covers only a part; else None.

    Args:
        trace: the recording.
        row: the culprit, whose thread is looked at.
        start: of the stretch.
        end: of the stretch.
        told: the length of the stretch for people.
    """
    if end <= start or covered_ns(trace, row, start, end) >= ENOUGH * (end - start):
        return None
    times = own_times(trace, int(trace.lane_id[row]), start, end)
    if sum(times.values()) > end - start:  # slices that cross have no own time
        return None
    parts = [
        f"{100 * ns / (end - start):.0f} % {clean(name) or 'with nothing recorded'}"
        for name, ns in times.most_common()
        if ns >= LEAST_SHARE * (end - start)
    ]
    if not parts:
        return f"of these {told}: many short calls, none of which takes 5 %"
    return f"of these {told}: " + ", ".join(parts[:NAMES]) + (" …" if len(parts) > NAMES else "")
