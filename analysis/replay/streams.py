"""What holds queued work back: its stream's earlier work, and events of other streams.

Where the recording does not say which event was waited for, a wait is read off the times:
work that starts later than its launch and its stream allow, just as work of another stream
ends, waited for it. Calls of ``StreamWaitEvent`` and collectives tell of waits that were
over in time; they are kept only where the recorded times agree.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.calibrate import DEEP_QUEUE_NS
from whichlayer.analysis.replay.recorded import RecordedSyncs
from whichlayer.analysis.replay.schedule import (
    NEVER,
    TICK_NS,
    Bool,
    CallKind,
    Calls,
    Events,
    Int64,
    Timing,
    Work,
    joined_events,
)
from whichlayer.analysis.replay.timing import (
    DEFAULT_LATENCY_NS,
    DEFAULT_SPACING_NS,
    MAX_LATENCY_NS,
    MIN_SAMPLES,
    Launches,
)
from whichlayer.analysis.results import Role
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

#: Work that starts this much later than it could has waited for something.
HELD_NS = 5_000
#: A stream goes on at most this long after the event that it waited for.
EVENT_NS = 20_000
#: Assumed where no recorded wait shows it.
DEFAULT_EVENT_NS = 2_000
#: Assumed for a call that only queues where the recording has none.
DEFAULT_CALL_NS = 5_000
#: At most so many ends of other work are looked at for one wait.
_LOOKED_AT = 16
#: What is looked at of the work queued before one that had to wait beside it.
_QUEUED = 2048
_STREAM_WAIT = re.compile(r"StreamWaitEvent")


def device_timing(
    trace: Trace,
    calls: Calls,
    work: Work,
    launches: Launches,
    staged: Bool,
    syncs: RecordedSyncs,
) -> tuple[Timing, Events]:
    """When work can start, and what it waits for besides its launch and its stream.

    Args:
        trace: the recording.
        calls: in order.
        work: in order.
        launches: how launches behave.
        staged: bool (n,), blocking copies to the device.
        syncs: recorded synchronisation events.
    """
    ready = _after_launch(calls, work, launches, staged)
    usual = _usual_spacing(calls, work, launches.first)[work.device]
    earliest = np.where(ready > NEVER, calls_return(calls)[work.call] + ready, NEVER)
    in_order = work.before_ns + usual
    possible = np.maximum(earliest, in_order)
    late = np.flatnonzero((possible > NEVER // 2) & (work.start_ns - possible > HELD_NS))
    ended, beside = _waited_for(work, late, possible, earliest > in_order)
    bound = np.zeros(len(work), np.bool_)
    bound[ended[:, 0]] = bound[beside[:, 0]] = True
    opens, alone = _opens_stream(calls, work, launches), _alone(calls, work)
    # What its stream held, or nothing that is known of, keeps its distance.
    kept = (work.before_ns > NEVER) & (in_order >= earliest) & ~bound & ~opens
    spacing = np.where(kept, work.start_ns - work.before_ns, usual)
    lead = work.start_ns - work.start_ns[calls.first_work[work.call]]
    ready = np.where(opens & ~bound, lead, ready)
    ready = np.where(alone, work.start_ns - calls.begin_ns[work.call], ready)
    queues = calls.kind == CallKind.LAUNCH
    timing = Timing(
        ready_ns=ready,
        spacing_ns=spacing,
        busy_ns=_busy_before(work, possible, spacing, bound | alone),
        depth=launches.depth,
        usual_call_ns=launches.usual_call_ns,
        async_call_ns=_median(launches.usual_call_ns[queues], DEFAULT_CALL_NS),
        async_ready_ns=_median(launches.ready_ns[queues[launches.call]], DEFAULT_LATENCY_NS),
    )
    told = np.concatenate((ended, _told(trace, calls, work, syncs)))
    cost = np.full(len(told), _event_cost(work, ended), np.int64)
    lag = np.concatenate((cost, work.start_ns[beside[:, 0]] - work.end_ns[beside[:, 1]]))
    return timing, joined_events(len(work), np.concatenate((told, beside)), lag)


def calls_return(calls: Calls) -> Int64:
    """From when on the latency of a call's work counts: its return, a copy's beginning."""
    return np.where(calls.kind == CallKind.COPY, calls.begin_ns, calls.leave_ns)


def _after_launch(calls: Calls, work: Work, launches: Launches, staged: Bool) -> Int64:
    """From its call's return to the earliest start of work; ``NEVER`` without a launch.

    A copy from pageable memory starts when the host has staged it: that is host work.
    """
    ready = np.full(len(work), NEVER, np.int64)
    ready[launches.first] = launches.ready_ns
    copies = launches.first[staged[launches.call]]
    begin, start = calls.begin_ns[work.call[copies]], work.start_ns[copies]
    until, length = start - begin, np.maximum(work.end_ns[copies] - start, 1)
    # Work of its stream held a copy that follows it at once; how long that one was staged is then
    # taken from the others, by their length.
    shown = (work.before_ns[copies] <= begin) | (start - work.before_ns[copies] > HELD_NS)
    staging = np.maximum(until - ready[copies], 0)[shown].sum() / max(length[shown].sum(), 1)
    likely = np.minimum(ready[copies] + (staging * length).astype(np.int64), until)
    ready[copies] = np.where(shown, until, np.maximum(likely, ready[copies]))
    return ready


def _opens_stream(calls: Calls, work: Work, launches: Launches) -> Bool:
    """Work of a graph that is the graph's first on its stream, but not the first of all."""
    follows = calls.kind[work.call] != CallKind.DEVICE
    follows[launches.first] = False
    before = np.where(work.before_work >= 0, work.call[work.before_work], -1)
    return np.asarray(follows & (before != work.call))


def _alone(calls: Calls, work: Work) -> Bool:
    """Work whose launch is not in the file, and nothing earlier of its stream."""
    loose = calls.kind[work.call] == CallKind.DEVICE
    return np.asarray(loose & (work.before_ns == NEVER))


def _median(values: Int64, otherwise: int) -> int:
    return int(np.median(values)) if len(values) else otherwise


def _busy_before(work: Work, possible: Int64, spacing: Int64, explained: Bool) -> Int64:
    """Streams whose first work came late for no recorded reason: earlier work held it.

    A launch into an idle stream takes up to ``MAX_LATENCY_NS``; what is no later than that tells
    of no earlier work, and holding it would hold all that follows where it was recorded.
    """
    busy = np.full(max(work.streams, 1), NEVER, np.int64)
    _, first = np.unique(work.stream, return_index=True)
    late = ~explained[first] & (work.start_ns[first] - possible[first] > MAX_LATENCY_NS)
    late &= possible[first] > NEVER // 2
    held = first[late]
    busy[work.stream[held]] = work.start_ns[held] - spacing[held]
    return busy


def _usual_spacing(calls: Calls, work: Work, first: Int64) -> Int64:
    """Per device the median distance of work under a deep queue: int64 (devices,)."""
    devices = int(work.device.max(initial=-1)) + 1
    usual = np.full(devices, DEFAULT_SPACING_NS, np.int64)
    before = work.before_ns[first]
    deep = calls.leave_ns[work.call[first]] + DEEP_QUEUE_NS <= before
    for device in range(devices):
        mine = first[deep & (work.device[first] == device)]
        if len(mine) >= MIN_SAMPLES:
            usual[device] = int(np.median(work.start_ns[mine] - work.before_ns[mine]))
    return usual


def _waited_for(
    work: Work, late: NDArray[np.intp], possible: Int64, launched: Bool
) -> tuple[Int64, Int64]:
    """What work waited for that came late: two times pairs (work, other stream's work).

    The first: just after whose end it started, as after an event. The second, where the stream
    was free when the launch came: beside what it had to wait, since that filled the device.
    """
    order = np.argsort(work.end_ns, kind="stable")
    behind = np.searchsorted(work.end_ns[order], work.start_ns[late] + TICK_NS, "right").tolist()
    ended: list[tuple[int, int]] = []
    beside: list[tuple[int, int]] = []
    for j, at in zip(late.tolist(), behind, strict=True):
        recent = order[max(at - _LOOKED_AT, 0) : at][::-1].tolist()
        other = _just_ended(work, j, recent)
        if other >= 0:
            ended.append((j, other))
        elif launched[j]:
            other = _running(work, j, int(possible[j]))
            if other >= 0:
                beside.append((j, other))
    return _pairs(ended), _pairs(beside)


def _pairs(found: list[tuple[int, int]]) -> Int64:
    return np.array(found, np.int64).reshape(-1, 2)


def _just_ended(work: Work, j: int, recent: list[int]) -> int:
    """The latest of these to end that another stream had been given before, -1 for none."""
    for other in recent:
        if work.end_ns[other] < work.start_ns[j] - EVENT_NS:
            return -1
        if work.stream[other] != work.stream[j] and other < j:
            return other
    return -1


def _running(work: Work, j: int, possible: int) -> int:
    """Work of another stream of the device that ran from before work could start, -1 for none."""
    earlier = slice(max(j - _QUEUED, 0), j)
    runs = (work.start_ns[earlier] <= possible) & (work.end_ns[earlier] > work.start_ns[j])
    runs &= (work.stream[earlier] != work.stream[j]) & (work.device[earlier] == work.device[j])
    found = np.flatnonzero(runs)
    return earlier.start + int(found[-1]) if len(found) else -1


def _event_cost(work: Work, pairs: Int64) -> int:
    if len(pairs) < MIN_SAMPLES:
        return DEFAULT_EVENT_NS
    cost = work.start_ns[pairs[:, 0]] - work.end_ns[pairs[:, 1]]
    return max(int(np.median(cost)), 0)


def _told(trace: Trace, calls: Calls, work: Work, syncs: RecordedSyncs) -> Int64:
    """Waits that calls tell of, where the times agree: pairs (work, work it waits for)."""
    if syncs.stream_waits:
        pairs = _recorded_waits(calls, work, syncs)
    else:
        pairs = np.concatenate((_guessed(trace, calls, work), _inputs(calls, work)))
    agree = work.end_ns[pairs[:, 1]] <= work.start_ns[pairs[:, 0]] + TICK_NS
    return pairs[agree & (pairs[:, 1] < pairs[:, 0])]


def _recorded_waits(calls: Calls, work: Work, syncs: RecordedSyncs) -> Int64:
    """The first work that each waiting stream was given after the call."""
    of_stream = [np.flatnonzero(work.stream == i) for i in range(work.streams)]
    found: list[tuple[int, int]] = []
    for stream, asked, waited in syncs.stream_waits:
        mine = of_stream[stream]
        behind = int(calls.first_work[int(np.searchsorted(calls.begin_ns, asked, "left"))])
        at = int(np.searchsorted(mine, behind, "left"))
        if at < len(mine):
            found.append((int(mine[at]), waited))
    return _pairs(found)


def _guessed(trace: Trace, calls: Calls, work: Work) -> Int64:
    """After ``StreamWaitEvent`` the thread's next launch waits for another stream.

    For the stream that the thread launched on before, if that is another; else for what was
    queued last on any other stream.
    """
    names = [i for i, text in enumerate(trace.strings) if _STREAM_WAIT.search(text)]
    rows = np.flatnonzero((trace.kind == SliceKind.RUNTIME) & among(trace.name_id, names))
    found: list[tuple[int, int]] = []
    launching = np.flatnonzero(np.diff(calls.first_work) > 0)
    last_other = _last_of_other_streams(work)
    for lane in np.unique(trace.lane_id[rows]):
        mine = launching[calls.lane[launching] == lane]
        asked = trace.start_ns[rows[trace.lane_id[rows] == lane]]
        at = np.unique(np.searchsorted(calls.begin_ns[mine], asked, "left"))
        for i in at[(at > 0) & (at < len(mine))].tolist():
            before = int(calls.first_work[mine[i - 1] + 1]) - 1
            following = int(calls.first_work[mine[i]])
            if work.stream[before] != work.stream[following]:
                found.append((following, before))
            elif last_other[following] >= 0:
                found.append((following, int(last_other[following])))
    return _pairs(found)


def _last_of_other_streams(work: Work) -> Int64:
    """For each work the latest one queued before it on another stream, -1 for none."""
    changed = np.concatenate(([False], work.stream[1:] != work.stream[:-1]))
    index = np.arange(len(work))
    run = np.maximum.accumulate(np.where(changed, index, 0))
    return np.asarray(run - 1, np.int64)


def _inputs(calls: Calls, work: Work) -> Int64:
    """A collective waits for what its thread launched before it: that made its input."""
    launching = np.flatnonzero(np.diff(calls.first_work) > 0)
    launching = launching[np.argsort(calls.lane[launching], kind="stable")]
    first = calls.first_work[launching]
    before = calls.first_work[launching[:-1] + 1] - 1
    same_thread = calls.lane[launching[1:]] == calls.lane[launching[:-1]]
    other = work.stream[first[1:]] != work.stream[before]
    take = same_thread & other & (work.role[first[1:]] == Role.COMM)
    return np.stack((first[1:][take], before[take]), axis=1)
