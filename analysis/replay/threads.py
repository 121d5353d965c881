"""Threads: what each did before, and where one waited for another."""

from __future__ import annotations

import numpy as np

from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.composite import Drivers
from whichlayer.analysis.gaps.host import Doing, HostStates
from whichlayer.analysis.replay.schedule import NEVER, Calls, Handover, Int64
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import LaneKind

#: A thread in one of these may have been waiting for another.
_PASSIVE = (Doing.NOTHING, Doing.WAITING, Doing.LOCKED, Doing.ANNOTATED)


def previous_calls(calls: Calls) -> Int64:
    """The previous call of the same thread, -1 for none: int64 (n,)."""
    previous = np.full(len(calls), -1, np.int64)
    order = np.argsort(calls.lane, kind="stable")
    same = (calls.lane[order[1:]] == calls.lane[order[:-1]]) & (calls.lane[order[1:]] >= 0)
    previous[order[1:][same]] = order[:-1][same]
    return previous


def find_handovers(trace: Trace, calls: Calls, previous: Int64, drivers: Drivers) -> Handover:
    """Where a thread had nothing to do while another one worked, and went on after it.

    A thread that shows nothing of its own until it goes on, while another launching thread of
    its process makes calls, waited for that thread: autograd's for the main one before
    ``backward``, the main one for autograd's during it.
    """
    size = len(calls)
    found = Handover(
        np.full(size, -1, np.int64),
        np.zeros(size, np.bool_),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
    )
    for lane in np.unique(calls.lane[calls.lane >= 0]).tolist():
        if trace.lanes[lane].kind == LaneKind.CPU_THREAD:
            _of_lane(trace, calls, previous, drivers, lane, found)
    return found


def _of_lane(
    trace: Trace, calls: Calls, previous: Int64, drivers: Drivers, lane: int, found: Handover
) -> None:
    mine = np.flatnonzero(calls.lane == lane)
    others = _calls_of_others(trace, calls, lane)
    if not len(others) or not len(mine):
        return
    # Before its first call a thread may have waited for ever.
    since = np.where(previous[mine] >= 0, calls.leave_ns[previous[mine]], NEVER // 2)
    until = calls.enter_ns[mine]
    begins = calls.begin_ns[others]
    met = np.searchsorted(begins, until, "left") > np.searchsorted(begins, since, "left")
    mine, since, until = mine[met], since[met], until[met]
    start, end = _passive_stretches(drivers.own(lane))
    worked = np.searchsorted(begins, end, "right") > np.searchsorted(begins, start, "right")
    start, end = start[worked], end[worked]
    if not len(start) or not len(mine):
        return
    # The last such stretch before the call, or around it.
    at = np.searchsorted(start, until, "left") - 1
    known = at >= 0
    idle_from = np.maximum(start[np.maximum(at, 0)], since)
    idle_to = np.minimum(end[np.maximum(at, 0)], until)
    last = np.searchsorted(begins, idle_to, "right") - 1
    last = np.minimum(last, np.searchsorted(others, mine, "left") - 1)
    known &= (idle_to > idle_from) & (last >= 0)
    known &= begins[np.maximum(last, 0)] > idle_from
    mine, last = mine[known], others[last[known]]
    idle_from, idle_to, until = idle_from[known], idle_to[known], until[known]
    left = calls.leave_ns[last] <= idle_to
    anchor = np.where(left, calls.leave_ns[last], calls.begin_ns[last])
    found.after[mine] = last
    found.at_leave[mine] = left
    found.offset_ns[mine] = until - anchor
    found.idle_ns[mine] = idle_to - idle_from
    found.resumed_ns[mine] = idle_to


def _calls_of_others(trace: Trace, calls: Calls, lane: int) -> Int64:
    """Calls of the other threads of a thread's process, in order."""
    pid = trace.lanes[lane].pid
    same = np.array([other.pid == pid for other in trace.lanes], np.bool_)
    ours = (calls.lane >= 0) & (calls.lane != lane) & same[calls.lane]
    return np.flatnonzero(ours)


def _passive_stretches(states: HostStates) -> tuple[Int64, Int64]:
    """Stretches in which a thread shows no work of its own: starts and ends, joined."""
    if not len(states.start_ns):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    passive = among(states.state, [int(state) for state in _PASSIVE])
    change = np.flatnonzero(np.diff(passive.astype(np.int8), prepend=0, append=0))
    edges = np.append(states.start_ns, np.iinfo(np.int64).max)
    # Before its first slice a thread shows nothing either.
    starts, ends = edges[change[::2]], edges[change[1::2]]
    first = int(states.start_ns[0])
    if passive[0]:
        return np.concatenate(([NEVER], starts[1:])), ends
    return np.concatenate(([NEVER], starts)), np.concatenate(([first], ends))
