"""Activities that overlap on one stream, which runs one after the other.

Up to 5 µs is noise, and kernels of programmatic dependent launch (Hopper and later) begin
before their predecessor ends by design. All activities are kept and drawn stacked; each
instant counts once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.quality.gate import Gate, Recording, device_words
from whichlayer.analysis.text import times_text
from whichlayer.analysis.trace.columns import Trace

#: Overlap on one stream that says nothing.
NOISE_NS = 5_000

GATE = Gate(
    "Q5",
    "activities overlap on one stream",
    thresholds={"noise_us": NOISE_NS / 1000},
    source="trace-lanefix; torch's trace validator; up to 2.5 µs is normal",
    example="CUDA graphs on a V100: 9 activities overlap an earlier one of their stream, by "
    "up to 13.0 µs",
)


def check(recording: Recording) -> Iterator[TraceWarning]:
    """One warning for each device with an overlap above the noise."""
    noise_ns = recording.limit(GATE, "noise_us") * 1000
    for activities in recording.devices:
        count, worst = _overlaps(activities, noise_ns)
        if count:
            yield TraceWarning(
                GATE.id,
                f"{device_words(activities.number)}: activities overlap an earlier one of their "
                f"stream, {times_text(count)}, by up to {worst / 1e3:.1f} µs (threshold "
                f"{noise_ns / 1e3:g} µs); all are kept, each instant counts once, and the "
                f"time of a single one is uncertain{_shared(recording.trace, activities)}",
                count,
            )


def _shared(trace: Trace, activities: Activities) -> str:
    """That several processes are on one stream number, which explains it; else empty."""
    launch = activities.launch[activities.launch >= 0]
    threads = np.unique(np.stack((activities.lane[activities.launch >= 0],
                                  trace.lane_id[launch])), axis=1)  # fmt: skip
    callers: dict[int, set[int | str]] = {}
    for stream, thread in threads.T.tolist():
        callers.setdefault(stream, set()).add(trace.lanes[thread].pid)
    if all(len(processes) < 2 for processes in callers.values()):
        return ""
    return "; several processes use one stream number here (each has its own, as under MPS)"


def _overlaps(activities: Activities, noise_ns: float) -> tuple[int, int]:
    """How many begin while an earlier one of their stream runs, and the longest overlap."""
    count, worst = 0, 0
    for lane in np.unique(activities.lane).tolist():
        mine = activities.lane == lane
        start, end = activities.start_ns[mine], activities.end_ns[mine]
        reach = np.maximum.accumulate(end)[:-1]
        overlap = np.minimum(reach, end[1:]) - start[1:]
        count += int((overlap > noise_ns).sum())
        worst = max(worst, int(overlap.max(initial=0)))
    return count, worst
