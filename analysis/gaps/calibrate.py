"""What is normal in this very recording: launch spacing, launch latency, clock skew.

Nothing here is a constant of a GPU: back-to-back kernels are 2 µs apart on one card, touch
on another, and overlap on a third; a microsecond clock has whole ticks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.gaps.skew import SkewLimits, read_skew
from whichlayer.analysis.options import Options
from whichlayer.analysis.settings import threshold
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

#: Fewer samples than this say nothing.
MIN_SAMPLES = 20
#: A launch that returned this long before the queue ran dry was waiting in a deep queue.
DEEP_QUEUE_NS = 10_000
#: Assumed where the recording holds too few back-to-back kernels (an A100's 2 µs).
DEFAULT_FLOOR_NS = 2_000
#: Spacing above this is no spacing, whatever the percentiles say.
MAX_FLOOR_NS = 15_000
#: Assumed where the recording holds too few launches into an empty queue.
DEFAULT_LATENCY_NS = 20_000
MAX_LATENCY_NS = 100_000


@dataclass(frozen=True, slots=True)
class Calibration:
    """What one device's recording shows as normal.

    Attributes:
        floor_ns: idle up to this between two activities is launch spacing.
        measured_floor: the floor was read from the recording, not assumed.
        skew_ns: how far kernels start before their launch call begins, at worst, those with odd
            times left out (rules Q4).
        latency_ns: p99 of launch start to kernel start with an empty queue, by name of the
            launch call; ``latency`` gives the default for others.
        odd: int32 (k,), trace rows of activities whose own time is wrong
            (:mod:`whichlayer.analysis.gaps.skew`).
        trusted: the clocks of host and device agree well enough to tell who was late.
    """

    floor_ns: int
    measured_floor: bool
    skew_ns: int
    latency_ns: Mapping[int, int]
    default_latency_ns: int
    odd: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    trusted: bool = True

    def latency(self, launch_name_id: int) -> int:
        """Normal time from the start of such a launch call to the start of its kernel."""
        return self.latency_ns.get(launch_name_id, self.default_latency_ns)


def calibrate(trace: Trace, activities: Activities, options: Options | None = None) -> Calibration:
    """Read one device's normal spacing, latency and skew from its own recording."""
    launch = activities.launch
    linked = launch >= 0
    begin = np.where(linked, trace.start_ns[launch], 0)
    finish = np.where(linked, trace.end_ns[launch], 0)
    reach = np.maximum.accumulate(activities.end_ns) if len(activities) else activities.end_ns
    before = np.concatenate((activities.start_ns[:1], reach[:-1]))
    alone = np.concatenate((launch[1:] != launch[:-1], [True])) if len(launch) else linked
    alone &= np.concatenate(([True], launch[1:] != launch[:-1])) if len(launch) else linked
    lead = np.where(linked, begin - activities.start_ns, 0)
    empty = linked & alone & (before <= begin)
    found = read_skew(lead, linked, empty, _skew_limits(options or Options()))
    floor, measured = _floor(activities, linked & alone, finish, before)
    if found.trusted and found.skew_ns > 0:
        floor += found.skew_ns + 1_000
    by_name, default = _latencies(trace, activities, empty & ~found.odd, begin)
    odd = activities.row[found.odd]
    return Calibration(
        floor, measured, found.skew_ns, by_name, default, odd=odd, trusted=found.trusted
    )


def _skew_limits(options: Options) -> SkewLimits:
    names = ("believed_us", "odd_times", "odd_share", "trusted_us")
    believed_us, far, share, trusted_us = (threshold(options, "Q4", name) for name in names)
    return SkewLimits(believed_us * 1e3, far, share, trusted_us * 1e3)


def _floor(
    activities: Activities,
    linked: NDArray[np.bool_],
    finish: NDArray[np.int64],
    before: NDArray[np.int64],
) -> tuple[int, bool]:
    spacing = activities.start_ns - before
    deep = linked & (finish + DEEP_QUEUE_NS <= before) & (spacing >= 0)
    deep[:1] = False
    sample = spacing[deep]
    if len(sample) < MIN_SAMPLES:
        return DEFAULT_FLOOR_NS, False
    # What a full queue still leaves; far above the median are waits for other streams.
    usual = max(int(np.median(sample)), 1_000)
    near = sample[sample <= 4 * usual]
    return min(int(np.percentile(near, 99)), MAX_FLOOR_NS), True


def _latencies(
    trace: Trace,
    activities: Activities,
    empty: NDArray[np.bool_],
    begin: NDArray[np.int64],
) -> tuple[dict[int, int], int]:
    rows = np.flatnonzero(empty)
    kernels = trace.kind[activities.row[rows]] == SliceKind.KERNEL
    latency = activities.start_ns[rows] - begin[rows]
    default = _robust_p99(latency[kernels], DEFAULT_LATENCY_NS)
    names = trace.name_id[activities.launch[rows]]
    found: dict[int, int] = {}
    for name in np.unique(names):
        sample = latency[names == name]
        if len(sample) >= MIN_SAMPLES:
            found[int(name)] = _robust_p99(sample, default)
    return found, default


def _robust_p99(sample: NDArray[np.int64], otherwise: int) -> int:
    """The 99th percentile, kept from being set by a handful of slow calls."""
    if len(sample) < MIN_SAMPLES:
        return otherwise
    usual = max(int(np.median(sample)), 1_000)
    return int(min(np.percentile(sample, 99), 5 * usual, MAX_LATENCY_NS))
