"""The launch view of a window: what the report says of launches, delays and the queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.intervals import union
from whichlayer.analysis.launches.calls import LaunchCalls, launch_calls
from whichlayer.analysis.launches.depth import (
    queue_depth,
    starved,
    weighted_quantile,
)
from whichlayer.analysis.launches.series import LaunchSeries, launch_series
from whichlayer.analysis.quality.launch_calls import is_launch
from whichlayer.analysis.results import Analysis, State

Int64 = NDArray[np.int64]

#: Bins of the series over time: enough for a chart as wide as a screen.
BINS = 240
#: With a larger share of activities without a launch, depths are lower bounds only. The same
#: share as gate Q3's.
MOST_UNLINKED = 0.05

RECORD_LAUNCHES = (
    "activities with ProfilerActivity.CPU: delay and queue depth are read from the launch calls"
)
RECORD_EARLIER = (
    "it does not count, so the queue was at least as deep; record from before it, with a warm-up "
    "step in the schedule"
)
_NSIGHT_LAUNCHES = "nsys profile --trace=cuda: delay and queue depth are read from the launch calls"
_NSIGHT_EARLIER = (
    "it does not count, so the queue was at least as deep; start nsys profile before the work is "
    "launched"
)


@dataclass(frozen=True, slots=True)
class Delays:
    """From the start of a launch call to the start of its work (ns); None without calls."""

    median_ns: int | None
    p90_ns: int | None
    p99_ns: int | None
    most_ns: int | None


@dataclass(frozen=True, slots=True)
class CallKind:
    """The launch calls of one name.

    Attributes:
        name: as recorded.
        launches: how many, of those whose work begins in the window.
        activities: what they launched.
        is_graph: the name is that of a graph launch.
        delays: of these calls.
    """

    name: str
    launches: int
    activities: int
    is_graph: bool
    delays: Delays


@dataclass(frozen=True, slots=True)
class StepLaunches:
    """The launch calls that begin inside one step, marked or inferred, and their activities."""

    number: int
    launches: int
    activities: int


@dataclass(frozen=True, slots=True)
class GraphLaunches:
    """Graph launches of the window and how many activities each put on the device."""

    launches: int
    fewest: int
    median: int
    most: int


@dataclass(frozen=True, slots=True)
class DeviceLaunches:
    """Launches, delays and queue of one device in the window.

    Attributes:
        device: index into ``Analysis.devices``.
        low_ns, high_ns: the part of the window that is not edge.
        launches, activities: calls whose work begins there, and what they launched.
        unlinked: activities of the recording without a recorded call.
        kinds: by name, most launches first.
        delays: of all calls.
        into_empty: calls made while nothing was unfinished, and their median delay: the bare
            launch latency.
        steps: of the window's steps.
        graphs: None without graph launches.
        depth_most, depth_median, depth_mean: unfinished calls, weighted by time; None without
            calls.
        empty_ns: nothing launched is unfinished, though other work may run.
        starved_ns: and nothing runs either: the device waits for the host.
        series: the same over time.
        record: what to record to know more, or empty.
    """

    device: int
    low_ns: int
    high_ns: int
    launches: int
    activities: int
    unlinked: int
    kinds: tuple[CallKind, ...]
    delays: Delays
    into_empty: int
    empty_latency_ns: int | None
    steps: tuple[StepLaunches, ...]
    graphs: GraphLaunches | None
    depth_most: int | None
    depth_median: int | None
    depth_mean: float | None
    empty_ns: int | None
    starved_ns: int | None
    series: LaunchSeries | None
    record: str


def launch_views(analysis: Analysis, bins: int = BINS) -> tuple[DeviceLaunches, ...]:
    """The launch view of every device of an analysis.

    Args:
        analysis: any.
        bins: of the series over time, at most.
    """
    return tuple(_view(analysis, device, bins) for device in range(len(analysis.devices)))


def accounted_bounds(analysis: Analysis, device: int) -> tuple[int, int]:
    """The part of the window that is not edge on a device; empty where all of it is."""
    segments = analysis.segments[device]
    real = np.flatnonzero(segments.state != State.EDGE)
    if not len(real):
        return analysis.window.start_ns, analysis.window.start_ns
    return int(segments.start_ns[real[0]]), int(segments.end_ns[real[-1]])


def _view(analysis: Analysis, device: int, bins: int) -> DeviceLaunches:
    trace = analysis.trace
    calls = launch_calls(trace, analysis.activities, device)
    depth = queue_depth(calls)
    low, high = accounted_bounds(analysis, device)
    inside = calls.begun_in(low, high)
    delay, count = calls.delay_ns[inside], calls.activities[inside]
    empty = depth.before(calls.queued_ns[inside]) == 0
    names = trace.name_id[calls.row[inside]]
    known = bool(len(calls)) and high > low
    mean = median = most = empty_ns = late = None
    if known:
        held, lasts = depth.within(low, high)
        mean = float((held * lasts).sum()) / (high - low)
        median, most = weighted_quantile(held, lasts, 0.5), int(held[lasts > 0].max())
        empty_ns = int(lasts[held == 0].sum())
        mine = analysis.activities.device == device
        busy = union(analysis.activities.start_ns[mine], analysis.activities.end_ns[mine])
        late = starved(depth, busy, low, high)
    return DeviceLaunches(
        device=device,
        low_ns=low,
        high_ns=high,
        launches=len(delay),
        activities=int(count.sum()),
        unlinked=calls.unlinked,
        kinds=_kinds(trace.strings, names, delay, count),
        delays=_delays(delay),
        into_empty=int(empty.sum()),
        empty_latency_ns=_quantile(delay[empty], 0.5),
        steps=_by_step(analysis, calls),
        graphs=_graphs(trace.strings, names, count),
        depth_most=most,
        depth_median=median,
        depth_mean=mean,
        empty_ns=empty_ns,
        starved_ns=late,
        series=launch_series(calls, depth, low, high, bins) if known else None,
        record=_record(calls, trace.producer == "nsight"),
    )


def _record(calls: LaunchCalls, nsight: bool) -> str:
    if not len(calls):
        return _NSIGHT_LAUNCHES if nsight else RECORD_LAUNCHES
    every = int(calls.activities.sum()) + calls.unlinked
    earlier = _NSIGHT_EARLIER if nsight else RECORD_EARLIER
    return earlier if calls.unlinked > MOST_UNLINKED * every else ""


def _quantile(value: Int64, share: float) -> int | None:
    """An observed value: the least with at least this share of all at or below it."""
    if not len(value):
        return None
    place = max(int(np.ceil(share * len(value))) - 1, 0)
    return int(np.partition(value, place)[place])


def _delays(delay: Int64) -> Delays:
    return Delays(*(_quantile(delay, share) for share in (0.5, 0.9, 0.99, 1.0)))


def _kinds(
    strings: Sequence[str], names: NDArray[np.int32], delay: Int64, count: Int64
) -> tuple[CallKind, ...]:
    kinds = []
    for name in np.unique(names).tolist():
        mine = names == name
        text = strings[name]
        kinds.append(
            CallKind(
                text,
                int(mine.sum()),
                int(count[mine].sum()),
                _is_graph(text),
                _delays(delay[mine]),
            )
        )
    return tuple(sorted(kinds, key=lambda kind: (-kind.launches, kind.name)))


def _is_graph(name: str) -> bool:
    return is_launch(name) and "Graph" in name


def _graphs(strings: Sequence[str], names: NDArray[np.int32], count: Int64) -> GraphLaunches | None:
    ids = [name for name in np.unique(names).tolist() if _is_graph(strings[name])]
    sizes = count[among(names, ids)]
    if not len(sizes):
        return None
    median = _quantile(sizes, 0.5) or 0
    return GraphLaunches(len(sizes), int(sizes.min()), median, int(sizes.max()))


def _by_step(analysis: Analysis, calls: LaunchCalls) -> tuple[StepLaunches, ...]:
    """By the start of the call; of steps that only the GPU marks, by that of its work."""
    table = analysis.steps
    steps = analysis.window.steps if table is None else [row.step for row in table.rows]
    if not steps:
        return ()
    when = calls.start_ns if steps[0].on_host else calls.first_ns
    order = np.argsort(when, kind="stable")
    start = when[order]
    total = np.concatenate(([0], np.cumsum(calls.activities[order])))
    found = []
    for step in steps:
        first, stop = np.searchsorted(start, (step.start_ns, step.end_ns), "left").tolist()
        stop = max(first, stop)
        found.append(StepLaunches(step.number, stop - first, int(total[stop] - total[first])))
    return tuple(found)
