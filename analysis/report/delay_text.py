"""What one launch delay is made of: earlier work, launch overhead, a slow call, a wait."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.gaps.catalogue import cause_rules
from whichlayer.analysis.intervals import union
from whichlayer.analysis.report.units import time_text
from whichlayer.analysis.results import Analysis, GapKind
from whichlayer.analysis.trace.kinds import GPU_WORK

#: Causes that are told as overhead of a launch, not as something that is late.
_OVERHEAD = ("launch-latency",)

_MOST_CAUSES = 3


def judged_delay(analysis: Analysis, row: int, before: int | None) -> str:
    """What the time between a launch call and its GPU work was, and whether it cost anything.

    Args:
        analysis: what is known.
        row: trace row of the GPU work.
        before: launch calls that were unfinished when it was launched; None where not known.

    Returns:
        Sentences; empty where the launch is not recorded or ``row`` is no GPU work.
    """
    trace = analysis.trace
    launch = int(trace.launch[row])
    if launch < 0 or trace.kind[row] not in GPU_WORK:
        return ""
    low, high = int(trace.start_ns[launch]), int(trace.start_ns[row])
    if high < low:
        return "It begins before its launch call: the clocks disagree, so no delay is known (Q4)."
    places = np.flatnonzero(analysis.activities.row == row)
    if not len(places):
        return ""
    device = int(analysis.activities.device[places[0]])
    same = _started_by(analysis, launch, device)
    first = int(same.min()) if len(same) else high
    if first < high:
        return (
            f"Its launch call started {len(same)} pieces of work (a graph), the first of them after "
            f"{time_text(first - low)}; the rest of {time_text(high - low)} is the graph before it, "
            "no delay of a launch."
        )
    window = analysis.window
    if low < window.start_ns or high > window.end_ns:
        return f"{time_text(high - low)}; outside of what was analysed, where nothing is judged."
    return _parts(analysis, device, low, high, before)


def _started_by(analysis: Analysis, launch: int, device: int) -> NDArray[np.int64]:
    """When each activity that one call launched on a device starts."""
    activities = analysis.activities
    mine = (activities.device == device) & (analysis.trace.launch[activities.row] == launch)
    return np.asarray(activities.start_ns[mine])


def _parts(analysis: Analysis, device: int, low: int, high: int, before: int | None) -> str:
    activities, gaps = analysis.activities, analysis.gaps
    mine = (activities.device == device) & (activities.start_ns < high) & (activities.end_ns > low)
    delay = high - low
    work = union(
        np.maximum(activities.start_ns[mine], low), np.minimum(activities.end_ns[mine], high)
    )
    busy = work.total
    idle = delay - busy
    inside = (gaps.device == device) & (gaps.kind == GapKind.IDLE)
    inside &= (gaps.start_ns < high) & (gaps.end_ns > low)
    part = np.minimum(gaps.end_ns[inside], high) - np.maximum(gaps.start_ns[inside], low)
    by_cause: dict[str, int] = {}
    for cause, ns in zip(gaps.cause[inside].tolist(), part.tolist(), strict=True):
        name = gaps.rule_ids[cause]
        by_cause[name] = by_cause.get(name, 0) + ns
    told = [
        f"Of {time_text(delay)} the GPU worked {time_text(busy)} and was idle {time_text(idle)}."
    ]
    largest = max(by_cause, key=lambda name: by_cause[name], default="")
    if busy >= idle and before:
        told.append(
            "The work waited its turn behind earlier work of this GPU: the host was ahead, and that "
            "part of the delay costs nothing."
        )
    elif busy >= idle and busy:
        told.append(
            "Nothing launched earlier was left when it was launched; what ran meanwhile has no "
            "recorded launch before it, or waited beside it."
        )
    if idle and not by_cause:
        told.append("No idle piece is longer than between any two kernels: launch spacing.")
    elif largest in _OVERHEAD and idle > busy:
        told.append(
            "The queue had run empty, and most of the idle is what a launch into an empty queue "
            "takes in this recording: launch overhead, which only fewer launches or a host that is "
            "ahead take away."
        )
    told += _causes(by_cause)
    return " ".join(told)


def _causes(by_cause: dict[str, int]) -> list[str]:
    """The idle parts by cause, longest first, with what each means."""
    rules = cause_rules()
    ranked = sorted(by_cause.items(), key=lambda item: (-item[1], item[0]))[:_MOST_CAUSES]
    words = [f"{time_text(ns)} {name} ({rules[name].title})" if name in rules
             else f"{time_text(ns)} {name}" for name, ns in ranked]  # fmt: skip
    return [f"Idle by cause: {'; '.join(words)}."] if words else []
