"""From idle pieces to causes: the next activity's launch, then the thread that made it.

What overlaps a gap never explains it. The piece ends when activity K starts; K's launch L
either began after the piece did (the host was late: what kept its thread is the cause) or
before (the device made K wait).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.activities import Activities, role_of
from whichlayer.analysis.gaps.blocking import cause_of_copy
from whichlayer.analysis.gaps.calibrate import Calibration
from whichlayer.analysis.gaps.catalogue import cause_code
from whichlayer.analysis.gaps.composite import Drivers
from whichlayer.analysis.gaps.first_calls import is_first_call
from whichlayer.analysis.gaps.held import HELD_NS
from whichlayer.analysis.gaps.host import Doing, HostStates, Marks
from whichlayer.analysis.gaps.part import Part
from whichlayer.analysis.gaps.ramp import Ramp
from whichlayer.analysis.gaps.stream_waits import StreamWaits
from whichlayer.analysis.states import Role
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

#: A queued kernel may start this much later than usual because of an event's own cost.
EVENT_NS = 20_000
#: A launch call shorter than this has loaded no code (a module takes 0.1 ms and more).
LOADING_NS = 100_000


class Walk:
    """Explains the idle pieces of one device, in order of time."""

    def __init__(
        self,
        trace: Trace,
        activities: Activities,
        calibration: Calibration,
        marks: Marks,
        drivers: Drivers,
    ) -> None:
        """Prepare one device; ``explain`` must then be called in order of time."""
        self._trace = trace
        self._activities = activities
        self._calibration = calibration
        self._marks = marks
        self._drivers = drivers
        self._waits = StreamWaits(trace, activities)
        self._ramp = Ramp(trace, activities, drivers)
        self._first_of_launch = _first_start_by_launch(activities)
        # States in which the host only dispatches: who drained the queue pays for them first.
        self._dispatches = {
            int(Doing.DISPATCH): cause_code("launch-bound"),
            cause_code("optimizer-loop"): cause_code("optimizer-loop"),
        }
        # Parts of a program: what happens inside a call there may have a cause of its own.
        self._passages = (cause_code("optimizer-loop"), cause_code("graph-break"))
        self._latency = cause_code("launch-latency")
        self._unknown = cause_code("unattributed")

    def explain(self, start: int, end: int, following: int) -> list[Part]:
        """The parts of the idle piece ``[start, end)`` that activity ``following`` ends."""
        launch = int(self._activities.launch[following])
        if launch < 0:
            return [Part(start, end, self._unknown, -1)]
        began = int(self._trace.start_ns[launch])
        parts: list[Part] = []
        if began > start:
            lane = int(self._trace.lane_id[launch])
            parts += self._late_host(start, min(began, end), lane)
        if began < end:
            parts += self._after_launch(start, max(began, start), end, following, launch)
        return _joined(parts)

    def explain_tail(self, start: int, end: int, lane: int) -> list[Part]:
        """The parts of idle after the device's last activity, by what a thread did."""
        return _joined(list(self._late_host(start, end, lane)))

    def _late_host(self, start: int, end: int, lane: int) -> Iterator[Part]:
        """What a thread that should have launched did while the device had nothing to do."""
        states = self._drivers.states(lane)
        for begin, finish, state in _stretches_between(states, start, end):
            row = self._drivers.longest_row(lane, begin, finish)
            if self._bystander(lane, row, state, end):
                yield Part(begin, finish, self._unknown, -1)
            elif state in self._dispatches:
                yield from self._ramp.charge(lane, begin, finish, self._dispatches[state], row)
            else:
                self._ramp.stall(lane, begin, finish, state)
                yield Part(begin, finish, state, row)

    def _bystander(self, lane: int, row: int, state: int, launched: int) -> bool:
        """Whether a call of another thread went on after the launch: nobody waited for it."""
        if row < 0 or state < 0 or int(self._trace.lane_id[row]) == lane:
            return False
        call = self._trace.kind[row] != SliceKind.PYTHON
        return bool(call and int(self._trace.end_ns[row]) > launched)

    def _after_launch(
        self, piece: int, start: int, end: int, following: int, launch: int
    ) -> list[Part]:
        """The launch was made; why did the kernel not start at once?"""
        trace = self._trace
        blocked = self._marks.blocking.get(launch)
        if blocked is not None and blocked.to_device:
            return self._staging(start, end, following, launch)
        if self._first_of_launch[launch] < int(self._activities.start_ns[following]):
            return [Part(start, end, cause_code("in-graph-gap"), launch)]
        began, returned = int(trace.start_ns[launch]), int(trace.end_ns[launch])
        usual = self._calibration.latency(int(trace.name_id[launch]))
        parts: list[Part] = []
        at = min(max(began + usual, start), end)
        if at > start:
            parts.append(Part(start, at, self._latency, launch))
        slow_until = min(returned, end)
        if slow_until > at:
            parts += self._slow_call(at, slow_until, following, launch)
            at = slow_until
        if end > at:
            limit = max(EVENT_NS, 2 * usual)
            short = end - at <= limit
            other = self._waits.waited_for(following, piece if short else -1, limit)
            cause = self._cause_of_wait(other) if short or other >= 0 else self._unknown
            parts.append(Part(at, end, cause, other if other >= 0 else launch))
        return parts

    def _cause_of_wait(self, row: int) -> int:
        """The cause of a wait for other work of a device: that work's own; -1 for unknown work."""
        trace = self._trace
        role = role_of(int(trace.kind[row]), trace.name(row)) if row >= 0 else Role.COMPUTE
        if role == Role.COMM:
            spins = row in self._marks.receives
            return cause_code("pipeline-bubble" if spins else "exposed-comm")
        if role == Role.COPY:
            blocking = self._marks.blocking
            return cause_code(cause_of_copy(trace, blocking, row, int(trace.launch[row])))
        return cause_code("stream-wait")

    def _staging(self, start: int, end: int, following: int, launch: int) -> list[Part]:
        """A blocking copy to the device starts when its first chunk is staged.

        Staging is no slower than the copy itself; what goes beyond is not explained by it.
        """
        activities = self._activities
        copy = int(activities.end_ns[following] - activities.start_ns[following])
        staged = max(end - copy - self._calibration.default_latency_ns, start)
        parts = [Part(staged, end, cause_code("h2d-pageable"), launch)]
        return [Part(start, staged, self._unknown, launch), *parts] if staged > start else parts

    def _slow_call(self, start: int, end: int, following: int, launch: int) -> list[Part]:
        """The launch call itself took unusually long, with nothing queued before it.

        Only a kernel has code to load, and loading takes far longer than a slow call.
        """
        row = int(self._activities.row[following])
        usual = self._calibration.latency(int(self._trace.name_id[launch]))
        loads = self._trace.kind[row] == SliceKind.KERNEL and "Graph" not in self._trace.name(
            launch
        )
        long = end - start >= max(LOADING_NS, 5 * usual)
        loading = cause_code("module-load")
        slow = loading if loads and long else cause_code("launch-bound")
        if not loads and end - start >= HELD_NS and "Graph" not in self._trace.name(launch):
            first = is_first_call(self._trace, launch)
            slow = loading if first else self._unknown
        lane = int(self._trace.lane_id[launch])
        parts = []
        for begin, finish, state in _stretches_between(self._drivers.states(lane), start, end):
            named = state >= 0 and not (slow == loading and state in self._passages)
            row = self._drivers.longest_row(lane, begin, finish) if named else launch
            parts.append(Part(begin, finish, state if named else slow, row))
        return parts


def _stretches_between(states: HostStates, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """(begin, end, state) of a thread over ``[start, end)``."""
    times = states.start_ns
    first = int(times.searchsorted(start, "right"))
    last = int(times.searchsorted(end, "left"))
    if 0 < first >= last:
        if end > start:
            yield start, end, int(states.state[first - 1])
        return
    edges = [start, *times[first:last].tolist(), end]
    told = states.state[max(first - 1, 0) : last].tolist()
    if first == 0:
        told.insert(0, cause_code("unattributed"))
    for (begin, finish), state in zip(pairwise(edges), told, strict=True):
        if finish > begin:
            yield begin, finish, state


def _first_start_by_launch(activities: Activities) -> dict[int, int]:
    """When the first activity of each launch started."""
    first: dict[int, int] = {}
    pairs = zip(activities.launch.tolist(), activities.start_ns.tolist(), strict=True)
    for launch, start in pairs:
        first.setdefault(launch, start)
    return first


def _joined(parts: list[Part]) -> list[Part]:
    """Neighbours of one cause become one part; its culprit is that of the longest."""
    joined: list[Part] = []
    longest = 0
    for part in parts:
        length = part.end_ns - part.start_ns
        if joined and joined[-1].cause == part.cause:
            last = joined[-1]
            culprit = part.culprit if length > longest else last.culprit
            longest = max(longest, length)
            joined[-1] = Part(last.start_ns, part.end_ns, part.cause, culprit)
        else:
            joined.append(part)
            longest = length
    return joined


def next_activity(activities: Activities, end: NDArray[np.int64]) -> NDArray[np.int64]:
    """Index of the activity that ends each idle piece; ``len(activities)`` for none."""
    return np.asarray(np.searchsorted(activities.start_ns, end, "left"), np.int64)
