"""What taking one problem away means for the schedule.

* A cause that is a state of the host takes no host time, and its blocking calls do not wait.
* ``launch-bound``: dispatching takes no host time. An upper bound: dispatch is never free, and
  the profiler makes it look slower than it is.
* ``module-load``: besides, launch calls that loaded code take their usual time.
* ``host-sync``: nothing is waited for, and the copies that carry the values back vanish, with
  the operators that do nothing else (``item``). A wait for the rest of a blocking copy to the
  device is that copy's. What a collective, a receive or a copy to the device brought is used by
  later kernels, which then wait for it on the device: the host only launches them earlier.
* ``graph-break`` and ``optimizer-loop``: their dispatch takes no host time, and their launches no
  places in the launch queue: one graph, or one launch for all tensors, is launched instead. An
  upper bound as well, since that one is launched too.
* exposed copies and collectives, and receives that wait: they take no time, as if all of each were hidden. An upper
  bound: hiding needs other work to hide behind.
* ``h2d-pageable``: the same, and the calls do not block, as with copies from pinned memory.
* A slow kernel takes what a well-made one would.

Launch latency, spacing, waits between streams, the profiler's own work and what cannot be
attributed are nobody's to take away.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.blocking import copies_to_device
from whichlayer.analysis.gaps.catalogue import cause_code, cause_ids
from whichlayer.analysis.gaps.host import Doing, Marks
from whichlayer.analysis.replay.host_time import HostTime
from whichlayer.analysis.replay.removal import Removal, nothing
from whichlayer.analysis.replay.schedule import Bool, CallKind, Int64, Schedule
from whichlayer.analysis.replay.timing import is_slow
from whichlayer.analysis.replay.vanishing import vanishing_operators
from whichlayer.analysis.results import GapKind, Gaps, Kernels
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

#: Causes that nothing can be replayed without.
NOT_REPLAYED = frozenset(
    {
        "graph-capture",
        "in-graph-gap",
        "launch-latency",
        "profiler-overhead",
        "stream-wait",
        "unattributed",
        "warm-up",
    }
)
#: Causes whose replay takes away more than any change can.
UPPER_BOUND = frozenset(
    {
        "d2h-exposed",
        "exposed-comm",
        "graph-break",
        "h2d-exposed",
        "h2d-pageable",
        "launch-bound",
        "optimizer-loop",
        "p2p-exposed",
        "pipeline-bubble",
    }
)
#: Of these the first step's share may be warm-up, which no change takes away.
_WARMS_UP = ("allocator", "module-load", "recompile")
#: Without these, one call launches what many did.
_LAUNCHED_AS_ONE = ("graph-break", "optimizer-loop")
_BLOCKING = (CallKind.WAIT, CallKind.COPY, CallKind.PEER)
#: A wait that follows a copy within this belongs to the copy.
_FOLLOWS_NS = 20_000


def without_cause(
    rule: str, trace: Trace, marks: Marks, schedule: Schedule, host: HostTime, gaps: Gaps
) -> Removal | None:
    """What taking a cause of gaps away changes; None where that is not replayed."""
    if rule in NOT_REPLAYED or rule not in cause_ids():
        return None
    if rule == "launch-bound":
        return _without_dispatch(trace, schedule, host)
    state = cause_code(rule)
    cut, over, idle = host.before_calls(state)
    steady = _after_warm_up(trace, schedule, gaps, rule)
    cut, over, idle = (np.where(steady, time, 0) for time in (cut, over, idle))
    if rule == "module-load":
        cut, over = (time + _slow_part(trace, schedule, host) for time in (cut, over))
    waits = host.during(state) & among(schedule.calls.kind, _BLOCKING) & steady
    removal = replace(nothing(schedule), cut_ns=cut, handover_ns=over, idle_ns=idle)
    if rule in _LAUNCHED_AS_ONE:
        launches = among(schedule.calls.kind, (CallKind.LAUNCH, CallKind.HELD))
        removal = replace(removal, merged=host.during(state) & launches)
    copies = waits & (schedule.calls.kind == CallKind.COPY)
    duration = _hidden(schedule, gaps, rule, removal.duration_ns)
    if rule in ("h2d-pageable", "host-sync"):
        duration[schedule.calls.first_work[:-1][copies]] = 0
    if rule == "h2d-pageable":
        theirs = _waits_of_copies(trace, schedule) & host.during(cause_code("host-sync"))
        waits = theirs | (waits & ~copies)
        removal = replace(removal, unblocked=copies)
    elif rule == "host-sync":
        waits &= ~_waits_of_copies(trace, schedule, blocking=True)
        around = vanishing_operators(trace, schedule, waits)
        cut, over, idle = host.before_calls(int(Doing.DISPATCH), around)
        removal = replace(
            removal,
            cut_ns=removal.cut_ns + cut,
            handover_ns=removal.handover_ns + over,
            idle_ns=removal.idle_ns + idle,
        )
    return replace(removal, gone=waits, duration_ns=duration)


def _after_warm_up(trace: Trace, schedule: Schedule, gaps: Gaps, rule: str) -> Bool:
    """Calls whose time in a cause is the cause's and not the first step's: bool (n,)."""
    begun = schedule.calls.begin_ns
    warms = bool((gaps.cause == cause_code("warm-up")).any())
    if rule not in _WARMS_UP or not warms or len(trace.host_steps) < 2:
        return np.ones(len(begun), np.bool_)
    return np.asarray(begun >= trace.host_steps[1].start_ns)


def _without_dispatch(trace: Trace, schedule: Schedule, host: HostTime) -> Removal:
    """Dispatching takes no host time, but for calls that loaded code."""
    cut, over, idle = host.before_calls(int(Doing.DISPATCH))
    slow = _slow_part(trace, schedule, host)
    return replace(
        nothing(schedule),
        cut_ns=np.maximum(cut - slow, 0),
        handover_ns=np.maximum(over - slow, 0),
        idle_ns=idle,
    )


def _slow_part(trace: Trace, schedule: Schedule, host: HostTime) -> Int64:
    """What launch calls took beyond their usual time, doing nothing else: int64 (n,).

    They loaded code, as the walk over the gaps tells it: calls of kernels, no graph's, far
    above the usual.
    """
    calls, usual = schedule.calls, schedule.timing.usual_call_ns
    graph = np.array(["Graph" in text for text in trace.strings] or [False])
    loads = (calls.kind == CallKind.LAUNCH) & is_slow(calls.leave_ns - calls.begin_ns, usual)
    loads &= ~graph[trace.name_id[calls.row]]
    first = np.minimum(calls.first_work[:-1], max(len(schedule.work) - 1, 0))
    loads &= trace.kind[schedule.work.row[first]] == SliceKind.KERNEL
    inside = host.inside_calls(int(Doing.DISPATCH))
    return np.where(loads, np.maximum(inside - usual, 0), 0)


def without_losses(schedule: Schedule, kernels: Kernels, chosen: NDArray[np.bool_]) -> Removal:
    """Some kernels take what a well-made one would.

    Args:
        schedule: the recording.
        kernels: the judged activities.
        chosen: bool (activities,), which of them.
    """
    base = nothing(schedule)
    at = np.argsort(schedule.work.row, kind="stable")
    rows = kernels.row[chosen]
    index = np.searchsorted(schedule.work.row, rows, sorter=at)
    duration = base.duration_ns.copy()
    np.subtract.at(duration, at[index], kernels.loss_ns[chosen])
    return replace(base, duration_ns=np.maximum(duration, 0))


def _hidden(schedule: Schedule, gaps: Gaps, rule: str, duration: Int64) -> Int64:
    """Work that ran exposed for this cause takes no time."""
    pieces = (gaps.cause == cause_code(rule)) & (gaps.kind != GapKind.IDLE)
    hidden = among(schedule.work.row, np.unique(gaps.culprit_row[pieces]))
    return np.where(hidden, 0, duration)


def _waits_of_copies(trace: Trace, schedule: Schedule, blocking: bool = False) -> Bool:
    """Waits of a thread for the copy to the device that it has just queued: bool (n,).

    Args:
        trace: the recording.
        schedule: of it.
        blocking: only of copies whose own calls blocked.
    """
    calls, work, previous = schedule.calls, schedule.work, schedule.previous
    names = [i for i, text in enumerate(trace.strings) if copies_to_device(text)]
    to_device = among(trace.name_id[work.row], names)
    to_device &= trace.kind[work.row] == SliceKind.MEMCPY
    copies = np.zeros(len(calls), np.bool_)
    copies[work.call[to_device]] = True
    if blocking:
        copies &= calls.kind == CallKind.COPY
    close = calls.begin_ns - calls.leave_ns[previous] <= _FOLLOWS_NS
    wait = calls.kind == CallKind.WAIT
    return np.asarray(wait & (previous >= 0) & copies[previous] & close)
