"""What taking a cause away changes in the schedule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.replay.schedule import Bool, Int64, Schedule


@dataclass(frozen=True, slots=True)
class Removal:
    """What is taken away from a schedule.

    Attributes:
        cut_ns: int64 (n,), host time that falls away between a thread's previous call and
            this one.
        handover_ns: int64 (n,), the same between the other thread's call and this one.
        idle_ns: int64 (n,), of ``cut_ns`` what fell into the thread's own idle stretch.
        gone: bool (n,), calls that take no time and wait for nothing.
        unblocked: bool (n,), blocking copies that only queue.
        merged: bool (n,), launches that are part of one for all: they take no place in a queue.
        duration_ns: int64 (m,), what work takes.
    """

    cut_ns: Int64
    handover_ns: Int64
    idle_ns: Int64
    gone: Bool
    unblocked: Bool
    merged: Bool
    duration_ns: Int64

    def lost_before(self, lane: NDArray[np.int32]) -> Int64:
        """Host time that has fallen away on each call's thread up to the call: int64 (n,)."""
        order = np.argsort(lane, kind="stable")
        total = np.cumsum(self.cut_ns[order])
        opens = np.concatenate(([True], np.diff(lane[order]) != 0))[: len(order)]
        before = np.maximum.accumulate(np.where(opens, total - self.cut_ns[order], 0))
        lost = np.empty(len(order), np.int64)
        lost[order] = total - before
        return lost


def nothing(schedule: Schedule) -> Removal:
    """Take nothing away."""
    size = len(schedule.calls)
    zero, none = np.zeros(size, np.int64), np.zeros(size, np.bool_)
    duration = schedule.work.end_ns - schedule.work.start_ns
    return Removal(zero, zero, zero, none, none, none, duration)


def combined(schedule: Schedule, removals: Sequence[Removal]) -> Removal:
    """Take several things away at once.

    Causes are states of which a thread has one at a time, so their host time adds up; work
    never takes less than nothing.
    """
    base = nothing(schedule)
    saved = np.sum([base.duration_ns - one.duration_ns for one in removals], axis=0)
    return Removal(
        cut_ns=np.sum([one.cut_ns for one in removals], axis=0),
        handover_ns=np.sum([one.handover_ns for one in removals], axis=0),
        idle_ns=np.sum([one.idle_ns for one in removals], axis=0),
        gone=np.logical_or.reduce([one.gone for one in removals]),
        unblocked=np.logical_or.reduce([one.unblocked for one in removals]),
        merged=np.logical_or.reduce([one.merged for one in removals]),
        duration_ns=np.maximum(base.duration_ns - saved, 0),
    )
