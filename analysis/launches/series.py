"""Launch delay and queue depth over time, exact in a bounded number of bins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.launches.calls import LaunchCalls
from whichlayer.analysis.launches.depth import QueueDepth

Int64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LaunchSeries:
    """Bins that touch and cover a stretch.

    Attributes:
        edges_ns: int64 (bins + 1,).
        launches: int64 (bins,), calls whose work begins in the bin.
        depth_area: int64 (bins,), depth times nanoseconds; over the bin's length, the mean.
        depth_most: int64 (bins,).
        delay_median_ns, delay_most_ns: int64 (bins,), of these calls; of two middle ones
            the lower; 0 where ``launches`` is.
    """

    edges_ns: Int64
    launches: Int64
    depth_area: Int64
    depth_most: Int64
    delay_median_ns: Int64
    delay_most_ns: Int64


def launch_series(
    calls: LaunchCalls, depth: QueueDepth, low_ns: int, high_ns: int, bins: int
) -> LaunchSeries:
    """Cut ``[low, high)`` into at most ``bins`` equal bins, none shorter than a nanosecond."""
    bins = max(min(bins, high_ns - low_ns), 0)
    if not bins:
        none = np.empty(0, np.int64)
        return LaunchSeries(np.array([low_ns]), none, none, none, none, none)
    whole, rest = divmod(high_ns - low_ns, bins)
    column = np.arange(bins + 1, dtype=np.int64)
    edges = low_ns + whole * column + rest * column // bins
    inside = calls.begun_in(low_ns, high_ns)
    place = np.searchsorted(edges, calls.first_ns[inside], "right") - 1
    delay = calls.delay_ns[inside]
    count = np.bincount(place, minlength=bins).astype(np.int64)
    ordered = delay[np.lexsort((delay, place))]
    last = np.cumsum(count) - 1
    median, most = np.zeros(bins, np.int64), np.zeros(bins, np.int64)
    some = count > 0
    most[some] = ordered[last[some]]
    median[some] = ordered[(last - count // 2)[some]]
    area = np.diff(depth.area_until(edges))
    return LaunchSeries(edges, count, area, depth.greatest(edges), median, most)
