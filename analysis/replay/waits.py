"""What a blocking call waited for, as far as the recording tells.

A recording names the stream or the event only where synchronisation events were recorded
(cat ``cuda_sync``). Elsewhere it is read off the times: the call of one stream's wait returns
just after that stream's last work has ended.
"""

from __future__ import annotations

import re

import numpy as np

from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.blocking import copies_to_device
from whichlayer.analysis.replay.extract import FREES
from whichlayer.analysis.replay.recorded import RecordedSyncs
from whichlayer.analysis.replay.schedule import (
    TICK_NS,
    Bool,
    CallKind,
    Calls,
    Int64,
    Targets,
    Work,
    joined_targets,
)
from whichlayer.analysis.results import Role
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

#: No launch latency is off by more than this from the usual one.
LATENCY_ERROR_NS = 20_000
_EVENT = re.compile(r"EventSynchronize|EventsWait|EventWait|EventHostSynchronize")
_DEVICE = re.compile(r"(Device|Ctx|Context)Synchronize|cudaThreadSynchronize")


def wait_targets(trace: Trace, calls: Calls, work: Work, syncs: RecordedSyncs) -> Targets:
    """The work that each call waits for before it returns."""
    waits = np.flatnonzero(calls.kind == CallKind.WAIT)
    tails = _tails(trace, calls, work, waits)
    code = trace.name_id[calls.row[waits]]
    event = _named(trace, _EVENT)[code]
    whole = _named(trace, _DEVICE)[code] | _named(trace, FREES)[code]
    items: list[int] = []
    chosen: list[int] = []
    ends = np.argsort(work.end_ns, kind="stable")
    for i, call in enumerate(waits.tolist()):
        told = syncs.waited_for(trace, calls, work, int(calls.row[call]), call)
        if told is not None:
            found = told
        elif whole[i]:
            found = _all_done(calls, work, call, tails[i])
        elif event[i]:
            found = _last_done(calls, work, call, ends)
        else:
            found = _one_stream(trace, calls, work, call, tails[i])
        items += [call] * len(found)
        chosen += found
    copies = np.flatnonzero(calls.kind == CallKind.COPY)
    items += copies.tolist()
    chosen += calls.first_work[copies].tolist()
    return joined_targets(len(calls), np.array(items, np.int64), np.array(chosen, np.int64))


def needed_later(trace: Trace, calls: Calls, work: Work, targets: Targets) -> Targets:
    """Of what calls wait for, what later work of their thread uses.

    A collective, a receive and a copy from the host bring data for kernels: a program whose
    host does not wait for them lets the kernels' stream wait (``wait_stream``). Copies to the
    host and kernels leave nothing that later work of another stream is known to need. A call
    that frees memory waits for all, and nobody relies on that.

    Args:
        trace: the recording.
        calls: in order.
        work: in order.
        targets: what each call waits for.
    """
    brings = trace.kind[work.row] == SliceKind.MEMCPY
    names = [i for i, text in enumerate(trace.strings) if copies_to_device(text)]
    brings &= among(trace.name_id[work.row], names)
    brings |= work.role == Role.COMM
    owner = np.repeat(np.arange(len(calls)), np.diff(targets.first))
    frees = _named(trace, FREES)[trace.name_id[calls.row[owner]]]
    kept = brings[targets.work] & (calls.kind[owner] == CallKind.WAIT) & ~frees
    return joined_targets(len(calls), owner[kept], targets.work[kept])


def return_times(calls: Calls, work: Work, targets: Targets, expected_ns: Int64) -> Int64:
    """From the end of what a call waits for, or from its beginning, to its return: int64 (n,).

    The end is the one that the launches lead to with the latency that all replays assume, so
    that its errors do not add up from wait to wait; where that misses the recorded end by more
    than a latency can vary, the recorded end counts, and the replay shows the miss. Negative
    where a call returns before its copy has ended: the last chunk is on its way.

    Args:
        calls: in order.
        work: in order.
        targets: what each call waits for.
        expected_ns: int64 (m,), ends of work replayed from the recorded launches.
    """
    near = np.abs(expected_ns - work.end_ns) <= LATENCY_ERROR_NS
    ends = np.where(near, expected_ns, work.end_ns)
    waited = calls.begin_ns.copy()
    owner = np.repeat(np.arange(len(calls)), np.diff(targets.first))
    np.maximum.at(waited, owner, ends[targets.work])
    waited[calls.kind == CallKind.PEER] = 0
    return np.asarray(calls.leave_ns - waited, np.int64)


def _named(trace: Trace, pattern: re.Pattern[str]) -> Bool:
    """For every interned name whether it is one of these calls."""
    found = (pattern.search(text) is not None for text in trace.strings)
    return np.fromiter(found, np.bool_, len(trace.strings))


def _tails(trace: Trace, calls: Calls, work: Work, waits: Int64) -> list[list[int]]:
    """Per wait the last work that its process had queued on each stream."""
    pids = np.array([hash(lane.pid) for lane in trace.lanes] or [0], np.int64)
    linked = calls.lane[work.call] >= 0
    pid_of_work = np.where(linked, pids[calls.lane[work.call]], 0)
    pid_of_wait = pids[calls.lane[waits]]
    found: list[list[int]] = [[] for _ in range(len(waits))]
    by_stream = np.argsort(work.stream, kind="stable")
    edges = np.flatnonzero(np.diff(work.stream[by_stream])) + 1
    for mine in np.split(by_stream, edges):
        for pid in np.unique(pid_of_wait):
            own = mine[(pid_of_work[mine] == pid) | ~linked[mine]]
            at = np.searchsorted(work.call[own], waits, "left") - 1
            take = np.flatnonzero((at >= 0) & (pid_of_wait == pid))
            for i in take.tolist():
                found[i].append(int(own[at[i]]))
    return found


def _all_done(calls: Calls, work: Work, call: int, tails: list[int]) -> list[int]:
    """All streams' last work, but for what was still to run when the call returned."""
    until = int(calls.leave_ns[call]) + TICK_NS
    return [w for w in tails if work.end_ns[w] <= until]


def _last_done(calls: Calls, work: Work, call: int, ends: Int64) -> list[int]:
    """The work queued before the call that ended last while it waited; none if none did."""
    low, high = int(calls.begin_ns[call]), int(calls.leave_ns[call]) + TICK_NS
    at = int(np.searchsorted(work.end_ns, high, "right", sorter=ends)) - 1
    while at >= 0 and work.end_ns[ends[at]] > low:
        candidate = int(ends[at])
        if work.call[candidate] < call:
            return [candidate]
        at -= 1
    return []


def _one_stream(trace: Trace, calls: Calls, work: Work, call: int, tails: list[int]) -> list[int]:
    """The stream whose last work ended in the call; else the one that its thread uses."""
    low, high = int(calls.begin_ns[call]), int(calls.leave_ns[call]) + TICK_NS
    done = [w for w in tails if work.end_ns[w] <= high]
    during = [w for w in done if work.end_ns[w] > low]
    if during:
        return [max(during, key=lambda w: int(work.end_ns[w]))]
    return [max(done, key=lambda w: int(work.call[w]))] if done else []
