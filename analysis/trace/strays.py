"""Slices whose times cannot be true: zero among large ones, or far from all others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whichlayer.analysis.among import among
from whichlayer.analysis.trace.columns import Bool, Int64, UInt8
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind

#: Idle stretches shorter than this are always believed.
_HOUR_NS = 3600 * 10**9

#: How far from the rest, in spans of the rest, a slice must lie not to be believed.
_SPANS = 10

#: The rest must be at least this many slices.
_ENOUGH = 10

#: Strays are at most this share of all slices, or one; those at time zero, a usual failure of
#: recorders, at most that share.
_SHARE, _ZERO_SHARE = 0.01, 0.5


_EARLY, _LATE = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Others:
    """Slices that are not at hand, none of which is a stray, GPU work or the recording itself.

    Attributes:
        count: how many there are.
        first_ns, last_ns: their first and their last start.
    """

    count: int
    first_ns: int
    last_ns: int


def may_be_far(first_ns: int, last_ns: int) -> bool:
    """Whether slices whose starts lie between these may be strays for where they start."""
    return first_ns < 0 or last_ns - first_ns >= _HOUR_NS


def may_end_far(last_start_ns: int, last_ns: int) -> bool:
    """Whether slices of which the last ends then may be strays for where they end."""
    return last_ns - last_start_ns >= _HOUR_NS


def find_strays(start_ns: Int64, end_ns: Int64, kind: UInt8, others: Others | None = None) -> Bool:
    """Which slices lie outside the recording (rules Q6): bool (n,).

    A slice is a stray if its start is negative, or if a few such slices lie at least an hour
    and ten times the span of all others away from those; and, in a recording of GPU work, which
    is one of seconds, if its end does. Elsewhere a job may well take hours that begins within
    the first second. Times are on the file's own clock.

    Args:
        start_ns: int64 (n,).
        end_ns: int64 (n,).
        kind: uint8 (n,), a ``SliceKind`` each.
        others: slices beside these, where no slice may be far, nor end so.
    """
    others = others or Others(0, _LATE, _EARLY)
    judged = kind != SliceKind.PROFILER
    stray: Bool = (start_ns < 0) & judged
    if bool(stray[judged].all()):
        stray[:] = False  # a clock that starts below zero, not an error
    rows = np.flatnonzero(~stray & judged)
    if not len(rows) or len(rows) + others.count <= _ENOUGH:
        return stray
    stray[rows[_far_away(start_ns[rows])]] = True
    rows = rows[~stray[rows]]
    if len(rows) and bool(among(kind[rows], GPU_WORK).any()):
        first = min(int(start_ns[rows].min()), others.first_ns)
        last = max(int(start_ns[rows].max()), others.last_ns)
        late = end_ns[rows] > last + max(_HOUR_NS, _SPANS * (last - first))
        if int(late.sum()) <= max(1, _SHARE * (len(rows) + others.count)):
            stray[rows[late]] = True
    return stray


def _far_away(times: Int64) -> Bool:
    """Which times are few and far from all others."""
    far = np.zeros(len(times), bool)
    if int(times.max()) - int(times.min()) < _HOUR_NS:
        return far
    order = np.argsort(times, kind="stable")
    ordered = times[order]
    edges = np.flatnonzero(np.diff(ordered) >= _HOUR_NS) + 1
    bounds = np.concatenate(([0], edges, [len(times)]))
    largest = int(np.diff(bounds).argmax())
    low, high = int(bounds[largest]), int(bounds[largest + 1])
    reach = _SPANS * int(ordered[high - 1] - ordered[low])
    away = (ordered < ordered[low] - reach) | (ordered > ordered[high - 1] + reach)
    away[low:high] = False
    zero = away & (ordered == 0)
    few = int((away & ~zero).sum()) <= max(1, _SHARE * len(times))
    if high - low >= _ENOUGH and few and int(zero.sum()) <= _ZERO_SHARE * len(times):
        far[order] = away
    return far
