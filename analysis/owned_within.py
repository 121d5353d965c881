"""How much of a span each activity accounts for, each instant counted once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.accounting import partition
from whichlayer.analysis.activities import Activities
from whichlayer.analysis.states import State

if TYPE_CHECKING:
    from whichlayer.analysis.results import Analysis

Int64 = NDArray[np.int64]


def owned_within(analysis: Analysis, low_ns: int, high_ns: int) -> Int64:
    """The instants of a span that belong to each activity, kernels and transfers alike.

    Summed over a device they are its busy time in the span, as far as the window accounts for it.

    Args:
        analysis: any; the span may be a part of its window.
        low_ns: where the span begins.
        high_ns: where it ends.

    Returns:
        int64 (n,), nanoseconds by ``analysis.activities``.
    """
    activities = analysis.activities
    start, end = activities.start_ns, activities.end_ns
    owned = np.zeros(len(start), np.int64)
    for device in range(len(analysis.segments)):
        low, high = _accounted(analysis, device, low_ns, high_ns)
        touches = (activities.device == device) & (start < high) & (end > low)
        crosses = touches & ((start < low) | (end > high))
        # Whose an instant is does not depend on the span: only what crosses its border is cut.
        owned[touches] = activities.owned_ns[touches]
        cut = np.flatnonzero(crosses)
        owned[cut] = _cut(analysis, device, cut, low, high)
    return owned


def _accounted(analysis: Analysis, device: int, low_ns: int, high_ns: int) -> tuple[int, int]:
    """The part of a span that is not edge on a device."""
    segments = analysis.segments[device]
    real = np.flatnonzero(segments.state != State.EDGE)
    if not len(real):
        return low_ns, low_ns
    first, last = int(segments.start_ns[real[0]]), int(segments.end_ns[real[-1]])
    return max(low_ns, first), min(high_ns, last)


def _cut(analysis: Analysis, device: int, cut: NDArray[np.intp], low: int, high: int) -> Int64:
    """What is within bounds of the activities that cross them: int64 (cut,)."""
    activities = analysis.activities
    found = np.zeros(len(cut), np.int64)
    start, end = activities.start_ns[cut], activities.end_ns[cut]
    before = start < low
    ends = (
        (before, low, min(high, int(end[before].max(initial=low)))),
        (~before, max(low, int(start[~before].min(initial=high))), high),
    )
    for chosen, first, stop in ends:
        if stop <= first:
            continue
        near = np.flatnonzero(
            (activities.device == device)
            & (activities.start_ns < stop)
            & (activities.end_ns > first)
        )
        rows = activities.row[near]
        none = np.full(len(near), -1, np.int32)
        there = Activities(
            analysis.devices[device].number,
            rows,
            activities.start_ns[near],
            activities.end_ns[near],
            activities.role[near],
            none,
            none,
        )
        owned = partition(there, first, stop).owned_ns(len(near))
        found[chosen] = owned[np.searchsorted(near, cut[chosen])]
    return found
