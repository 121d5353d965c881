"""From a trace to its schedule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.composite import Drivers
from whichlayer.analysis.gaps.host import Marks
from whichlayer.analysis.replay.engine import replay
from whichlayer.analysis.replay.extract import calls_and_work
from whichlayer.analysis.replay.recorded import RecordedSyncs
from whichlayer.analysis.replay.removal import nothing
from whichlayer.analysis.replay.schedule import Bool, CallKind, Calls, Int64, Schedule
from whichlayer.analysis.replay.streams import device_timing
from whichlayer.analysis.replay.threads import find_handovers, previous_calls
from whichlayer.analysis.replay.timing import launch_model
from whichlayer.analysis.replay.waits import needed_later, return_times, wait_targets
from whichlayer.analysis.trace.columns import Trace


def build_schedule(
    trace: Trace,
    marks: Marks,
    drivers: Drivers,
    devices: Sequence[Activities],
    point: tuple[int, int] | None,
) -> Schedule:
    """Everything a replay needs to know, in time linear in the events.

    Args:
        trace: the recording.
        marks: of this trace.
        drivers: what the threads did.
        devices: whose work is replayed; at least one, each with activities.
        point: (row, instant) of a slice whose end is looked at, or None.
    """
    calls, work = calls_and_work(trace, marks, devices, point)
    launches = launch_model(trace, calls, work)
    syncs = RecordedSyncs(trace, calls, work)
    timing, events = device_timing(trace, calls, work, launches, _staged(calls, marks), syncs)
    held = launches.held
    calls = replace(
        calls,
        kind=np.where(held, CallKind.HELD, calls.kind).astype(np.uint8),
        enter_ns=np.where(held, calls.begin_ns, calls.enter_ns),
    )
    waits = wait_targets(trace, calls, work, syncs)
    previous = previous_calls(calls)
    schedule = Schedule(
        calls=calls,
        work=work,
        previous=previous,
        waits=waits,
        needed=needed_later(trace, calls, work, waits),
        return_ns=np.zeros(len(calls), np.int64),
        events=events,
        timing=timing,
        handover=find_handovers(trace, calls, previous, drivers),
    )
    expected = _from_recorded_launches(schedule)
    return replace(schedule, return_ns=return_times(calls, work, waits, expected))


def _from_recorded_launches(schedule: Schedule) -> Int64:
    """When work ends if every call is made when it was recorded: int64 (m,)."""
    calls = schedule.calls
    copies = calls.kind == CallKind.COPY
    kind = calls.kind.copy()
    kind[calls.kind == CallKind.HELD] = CallKind.LAUNCH
    kind[among(calls.kind, (CallKind.WAIT, CallKind.PEER))] = CallKind.POINT
    kind[copies] = CallKind.DEVICE
    still = replace(
        calls,
        kind=kind,
        lane=np.where(copies, -1, calls.lane),
        enter_ns=np.where(copies, calls.begin_ns, calls.leave_ns),
        leave_ns=np.where(copies, calls.begin_ns, calls.leave_ns),
    )
    nobody = replace(schedule.handover, after=np.full(len(calls), -1, np.int64))
    timing = replace(schedule.timing, depth=len(calls) + 1)
    fixed = replace(schedule, calls=still, handover=nobody, timing=timing)
    return replay(fixed, 0, nothing(fixed)).end_ns


def _staged(calls: Calls, marks: Marks) -> Bool:
    """Blocking copies to the device."""
    rows = [row for row, copy in marks.blocking.items() if copy.to_device]
    return np.asarray(among(calls.row, rows) & (calls.row >= 0))
