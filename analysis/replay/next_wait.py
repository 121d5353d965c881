"""What the device waits for instead, once a problem is gone that gains little alone."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from whichlayer.analysis.gaps.host import Doing
from whichlayer.analysis.replay.engine import Replayed
from whichlayer.analysis.replay.host_time import HostTime
from whichlayer.analysis.replay.schedule import Int64, Schedule

#: What is named has to be found in so much of the host time before the launches in question.
LEAST = 0.3


def next_wait(
    schedule: Schedule,
    host: HostTime,
    before: Replayed,
    after: Replayed,
    causes: Iterable[int],
) -> int | None:
    """The state of the host that new idle time is spent in; None for work of the device itself.

    Args:
        schedule: the recording.
        host: of it.
        before: a replay of it as it is.
        after: one without the problem, of the same calls.
        causes: codes of what may come next, besides dispatch.
    """
    grown = np.maximum(_idle_before(schedule, after) - _idle_before(schedule, before), 0)
    call = schedule.work.call[: len(grown)]
    late = np.bincount(call, weights=grown, minlength=len(schedule.calls))
    total = float(late.sum())
    found: tuple[float, int] | None = None
    for state in (*causes, int(Doing.DISPATCH)):
        spent = host.before_calls(state)[0] + host.inside_calls(state)
        share = float(np.minimum(spent, late).sum())
        if share >= LEAST * total > 0 and (found is None or share > found[0]):
            found = share, state
    return found[1] if found else None


def _idle_before(schedule: Schedule, replayed: Replayed) -> Int64:
    """How long its device had been idle when each replayed work started: int64 (k,)."""
    start, end = replayed.start_ns, replayed.end_ns
    device = schedule.work.device[: len(start)]
    idle = np.zeros(len(start), np.int64)
    for one in np.unique(device):
        mine = np.flatnonzero(device == one)
        mine = mine[np.argsort(start[mine], kind="stable")]
        reach = np.maximum.accumulate(end[mine])
        idle[mine[1:]] = np.maximum(start[mine[1:]] - reach[:-1], 0)
    return idle
