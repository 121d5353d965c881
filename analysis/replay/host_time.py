"""How much of a thread's time between two calls went to one cause."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from whichlayer.analysis.gaps.composite import Drivers
from whichlayer.analysis.intervals import EMPTY, Intervals, Measure, clip, intersect
from whichlayer.analysis.replay.schedule import Bool, Int64, Schedule
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import LaneKind


class HostTime:
    """Looks up what threads did, inside the window alone."""

    def __init__(
        self, trace: Trace, drivers: Drivers, schedule: Schedule, window: tuple[int, int]
    ) -> None:
        """Nothing is computed yet."""
        self._drivers = drivers
        self._schedule = schedule
        self._window = window
        lanes = np.unique(schedule.calls.lane[schedule.calls.lane >= 0]).tolist()
        self._lanes = [n for n in lanes if trace.lanes[n].kind == LaneKind.CPU_THREAD]

    def before_calls(
        self, state: int, within: Mapping[int, Intervals] | None = None
    ) -> tuple[Int64, Int64, Int64]:
        """Time in a state before each call, three times int64 (n,).

        Args:
            state: a cause code or a ``Doing``.
            within: by thread, the only stretches that count; all where None.

        Returns:
            Since the thread's previous call; since the hand-over; of the former, what fell into
            the thread's own idle stretch.
        """
        schedule, calls = self._schedule, self._schedule.calls
        hand = schedule.handover
        cut, over, idle = (np.zeros(len(calls), np.int64) for _ in range(3))
        last = calls.leave_ns[schedule.previous]
        since = np.where(schedule.previous >= 0, last, self._window[0])
        for lane in self._lanes:
            intervals = self._intervals(lane, state)
            if within is not None:
                intervals = intersect(intervals, within.get(lane, EMPTY))
            measure = Measure(intervals)
            mine = np.flatnonzero(calls.lane == lane)
            reached = calls.enter_ns[mine]
            cut[mine] = measure.between(np.minimum(since[mine], reached), reached)
            met = mine[hand.after[mine] >= 0]
            reached, waited = calls.enter_ns[met], hand.resumed_ns[met]
            over[met] = measure.between(reached - hand.offset_ns[met], reached)
            idle[met] = measure.between(waited - hand.idle_ns[met], waited)
        return cut, over, idle

    def inside_calls(self, state: int) -> Int64:
        """Time in a state from each call's beginning to its return: int64 (n,)."""
        calls = self._schedule.calls
        found = np.zeros(len(calls), np.int64)
        for lane in self._lanes:
            mine = np.flatnonzero(calls.lane == lane)
            measure = Measure(self._intervals(lane, state))
            found[mine] = measure.between(calls.begin_ns[mine], calls.leave_ns[mine])
        return found

    def during(self, state: int) -> Bool:
        """Calls that began inside the window while their thread was in a state: bool (n,)."""
        calls = self._schedule.calls
        found = np.zeros(len(calls), np.bool_)
        for lane in self._lanes:
            states = self._drivers.states(lane)
            if not len(states.start_ns):
                continue
            mine = np.flatnonzero(calls.lane == lane)
            at = np.searchsorted(states.start_ns, calls.begin_ns[mine], "right") - 1
            found[mine] = (at >= 0) & (states.state[np.maximum(at, 0)] == state)
        low, high = self._window
        return found & (calls.leave_ns > low) & (calls.begin_ns < high)

    def _intervals(self, lane: int, state: int) -> Intervals:
        states = self._drivers.states(lane)
        chosen = np.flatnonzero(states.state == state)
        if not len(chosen):
            return EMPTY
        ends = np.append(states.start_ns[1:], states.start_ns[-1])
        return clip(Intervals(states.start_ns[chosen], ends[chosen]), *self._window)
