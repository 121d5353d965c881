"""Who was driving the device: one thread's states, with hand-overs followed.

The thread that launches late may itself have waited for another: the autograd thread for the
main thread before ``backward``, the main thread for the autograd thread during it. Where a
thread shows no work of its own, the state of another thread *that launches work* stands in;
watchdogs, pin-memory threads and other bystanders never do.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.catalogue import cause_code
from whichlayer.analysis.gaps.during import Stretches, longest_rows, stretches_between
from whichlayer.analysis.gaps.graph_breaks import graph_breaks
from whichlayer.analysis.gaps.held import without_held
from whichlayer.analysis.gaps.host import (
    Doing,
    HostStates,
    Marks,
    launching_lanes,
)
from whichlayer.analysis.gaps.judged import WEAK, judge_stretches
from whichlayer.analysis.gaps.optimizers import optimizer_loops
from whichlayer.analysis.gaps.overlay import overlaid
from whichlayer.analysis.gaps.relabel import Spans, any_of, at_times, disjoint, relabelled
from whichlayer.analysis.gaps.silent import is_silent
from whichlayer.analysis.gaps.stretches import host_states
from whichlayer.analysis.gaps.turns import taking_turns
from whichlayer.analysis.intervals import Intervals, Measure, merged, union
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Int64 = NDArray[np.int64]


class Drivers:
    """The composite states of every launching thread, made when first asked for."""

    def __init__(self, trace: Trace, marks: Marks) -> None:
        """Remember which threads launch; nothing is computed yet."""
        self._trace = trace
        self._marks = marks
        self._lanes = launching_lanes(trace)
        self._own: dict[int, HostStates] = {}
        self._fine: dict[int, HostStates] = {}
        self._composite: dict[int, HostStates] = {}
        self._overhead = _overhead_intervals(trace, marks)
        self._captures = _captures(trace)
        self._breaks = graph_breaks(trace)
        self._optimizers = optimizer_loops(trace, marks.options)

    def states(self, lane: int) -> HostStates:
        """What kept this thread's launches from coming earlier, instant by instant."""
        found = self._composite.get(lane)
        if found is None:
            lanes = (lane, *self._stand_ins(lane))
            layers = [self.own(n) for n in lanes]
            over = [*self._captures.get(lane, ()), *self._overhead]
            whole = _with_overhead(self._unlocked(lane, overlaid(layers)), over)
            judged = judge_stretches(
                without_held(whole, self._trace), self._trace, lanes, self._marks.options
            )
            fine = self._within_spans(judged, lanes)
            self._fine[lane] = fine
            found = self._composite[lane] = _joined(fine)
        return found

    def loops(self, lane: int) -> Spans:
        """When a thread's optimizer went from tensor to tensor."""
        found = self._optimizers.get(lane)
        return disjoint([]) if found is None else found

    def stretches(self, lane: Int64, start: Int64, end: Int64) -> Stretches:
        """The stretches of one state that make up stretches of time of threads.

        Args:
            lane: int64 (n,), the thread of each.
            start: int64 (n,), of each.
            end: int64 (n,), of each.
        """
        each = [Stretches.none()]
        for one in np.unique(lane).tolist():
            at = np.flatnonzero(lane == one)
            found = stretches_between(self.states(one), start[at], end[at])
            row = longest_rows(self._fine[one], found.start_ns, found.end_ns)
            each.append(replace(found, which=at[found.which], row=row))
        return Stretches.together(each)

    def _within_spans(self, states: HostStates, lanes: tuple[int, ...]) -> HostStates:
        """Dispatch, and what else nothing better explains, named by what it is a part of."""
        dispatch = int(Doing.DISPATCH)
        rest = [dispatch, cause_code("python-overhead"), cause_code("unattributed")]
        for lane in lanes:
            if lane in self._breaks:
                code = cause_code("graph-break")
                states = relabelled(states, self._breaks[lane], code, rest)
            if lane in self._optimizers:
                code = cause_code("optimizer-loop")
                states = relabelled(states, self._optimizers[lane], code, [dispatch])
        return states

    def _stand_ins(self, lane: int) -> list[int]:
        """Threads that a thread hands over to: autograd's for others, others for autograd's.

        Of a process that recorded calls alone, those that take turns with it.
        """
        backward, trace = self._marks.autograd_lanes, self._trace
        pid = trace.lanes[lane].pid
        others = [n for n in self._lanes if n != lane and trace.lanes[n].pid == pid]
        if is_silent(trace, lane) and not backward.intersection((lane, *others)):
            return [other for other in others if taking_turns(trace, lane, other)]
        return [other for other in others if (lane in backward) != (other in backward)]

    def _unlocked(self, lane: int, states: HostStates) -> HostStates:
        """A thread that waits for a lock or a queue waits for the thread that loads."""
        locked = states.state == Doing.LOCKED
        if not locked.any():
            return states
        loader = cause_code("dataloader-wait")
        pid = self._trace.lanes[lane].pid
        loading = np.unique(self._trace.lane_id[self._marks.code == loader]).tolist()
        for other in loading:
            if other == lane or self._trace.lanes[other].pid != pid:
                continue
            theirs = self.own(other)
            time = merged(states.start_ns, theirs.start_ns)
            state, drain, row = at_times(states, time)
            their_state, _, their_row = at_times(theirs, time)
            take = (state == Doing.LOCKED) & (their_state == loader)
            state[take] = drain[take] = loader
            row[take] = their_row[take]
            states = HostStates(time, state, drain, row)
        return states

    def own(self, lane: int) -> HostStates:
        """What this thread itself shows, instant by instant."""
        if lane not in self._own:
            self._own[lane] = host_states(self._trace, self._marks, lane)
        return self._own[lane]


def _joined(states: HostStates) -> HostStates:
    """Neighbours of one state as one stretch: a walk over gaps needs no more."""
    if not len(states.start_ns):
        return states
    changed = states.state[1:] != states.state[:-1]
    if states.drain is not states.state:
        changed |= states.drain[1:] != states.drain[:-1]
    keep = np.concatenate(([True], changed))
    return HostStates(
        states.start_ns[keep], states.state[keep], states.drain[keep], states.row[keep]
    )


def _overhead_intervals(trace: Trace, marks: Marks) -> list[tuple[int, Intervals]]:
    """The profiler's own events by cause; they name no thread."""
    rows = np.flatnonzero(trace.kind == SliceKind.OVERHEAD)
    found = []
    for code in np.unique(marks.code[rows]).tolist():
        if code >= 0:
            chosen = rows[marks.code[rows] == code]
            found.append((code, union(trace.start_ns[chosen], trace.end_ns[chosen])))
    return found


_CAPTURE = re.compile(r"StreamBeginCapture|StreamEndCapture")


def _captures(trace: Trace) -> dict[int, list[tuple[int, Intervals]]]:
    """By thread, when it captured a graph: what it launched then did not run."""
    names = [i for i, text in enumerate(trace.strings) if _CAPTURE.search(text)]
    rows = np.flatnonzero((trace.kind == SliceKind.RUNTIME) & among(trace.name_id, names))
    begun: dict[int, int] = {}
    found: dict[int, list[tuple[int, int]]] = {}
    for row in rows.tolist():
        lane = int(trace.lane_id[row])
        if "Begin" in trace.name(row):
            begun.setdefault(lane, int(trace.start_ns[row]))
        elif lane in begun:
            found.setdefault(lane, []).append((begun.pop(lane), int(trace.end_ns[row])))
    code = cause_code("graph-capture")
    spans = {lane: np.array(pairs, np.int64) for lane, pairs in found.items()}
    return {lane: [(code, union(both[:, 0], both[:, 1]))] for lane, both in spans.items()}


def _with_overhead(states: HostStates, overhead: list[tuple[int, Intervals]]) -> HostStates:
    """Where the host shows no better cause, the profiler's event explains it."""
    for code, intervals in overhead:
        time = merged(states.start_ns, intervals.start, intervals.end)
        state, drain, row = at_times(states, time)
        following = np.append(time[1:], time[-1] + 1)
        covered = Measure(intervals).between(time, following) > 0
        take = covered & any_of(state, (*WEAK, Doing.DISPATCH))
        state[take] = drain[take] = code
        row[take] = -1
        states = HostStates(time, state, drain, row)
    return states
