"""Slices whose times cannot be true: zero among large ones, or far from all others."""

from __future__ import annotations

import numpy as np

from whichlayer.analysis.trace.columns import Bool, Int64, UInt8
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind

#: Idle stretches shorter than this are always believed.
_HOUR_NS = 3600 * 10**9

#: How far from the rest, in spans of the rest, a slice must lie not to be believed.
_SPANS = 10

#: The rest must be at least this many slices, and strays at most this share of all.
_ENOUGH, _SHARE = 3, 0.01


def find_strays(start_ns: Int64, end_ns: Int64, kind: UInt8) -> Bool:
    """Which slices lie outside the recording (rules Q6): bool (n,).

    A slice is a stray if its start is negative, or if a few such slices lie at least an hour
    and ten times the span of all others away from those; and GPU work whose end does.
    """
    stray = (start_ns < 0) & (kind != SliceKind.PROFILER)
    if bool(stray[kind != SliceKind.PROFILER].all()):
        stray[:] = False  # a clock that starts below zero, not an error
    rows = np.flatnonzero(~stray & (kind != SliceKind.PROFILER))
    if len(rows) <= _ENOUGH:
        return stray
    stray[rows[_far_away(start_ns[rows])]] = True
    rows = rows[~stray[rows]]
    work = rows[np.isin(kind[rows], GPU_WORK)]
    if len(work):
        first, last = int(start_ns[rows].min()), int(start_ns[rows].max())
        reach = max(_HOUR_NS, _SPANS * (last - first))
        late = end_ns[work] > last + reach
        if late.sum() <= max(1, _SHARE * len(rows)):
            stray[work[late]] = True
    return stray


def _far_away(times: Int64) -> Bool:
    """Which times are few and far from all others."""
    order = np.argsort(times, kind="stable")
    ordered = times[order]
    edges = np.flatnonzero(np.diff(ordered) >= _HOUR_NS) + 1
    far = np.zeros(len(times), bool)
    if not len(edges):
        return far
    bounds = np.concatenate(([0], edges, [len(times)]))
    sizes = np.diff(bounds)
    largest = int(sizes.argmax())
    low, high = int(bounds[largest]), int(bounds[largest + 1])
    outside = len(times) - (high - low)
    if high - low < _ENOUGH or outside > max(1, _SHARE * len(times)):
        return far
    reach = _SPANS * int(ordered[high - 1] - ordered[low])
    far[order] = (ordered < ordered[low] - reach) | (ordered > ordered[high - 1] + reach)
    return far
