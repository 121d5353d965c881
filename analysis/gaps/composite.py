"""Who was driving the device: one thread's states, with hand-overs followed.

The thread that launches late may itself have waited for another: the autograd thread for the
main thread before ``backward``, the main thread for the autograd thread during it. Where a
thread shows no work of its own, the state of another thread *that launches work* stands in;
watchdogs, pin-memory threads and other bystanders never do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.findings.where import is_generated
from whichlayer.analysis.gaps.catalogue import cause_code
from whichlayer.analysis.gaps.graph_breaks import graph_breaks
from whichlayer.analysis.gaps.held import without_held
from whichlayer.analysis.gaps.host import (
    Doing,
    HostStates,
    Marks,
    launching_lanes,
)
from whichlayer.analysis.gaps.optimizers import optimizer_loops
from whichlayer.analysis.gaps.pauses import shortest_ns, users_python, usual_pause, without_launches
from whichlayer.analysis.gaps.relabel import Spans, any_of, at_times, disjoint, relabelled
from whichlayer.analysis.gaps.remembered import once_per_trace
from whichlayer.analysis.gaps.stretches import host_states
from whichlayer.analysis.intervals import Intervals, Measure, distinct, union
from whichlayer.analysis.options import Options
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

#: Hand-overs to the autograd thread without an event last up to this (seen: 0.1 to 3 ms).
MAX_HANDOVER_NS = 3_000_000
#: Less than this between two stretches of Python is no stretch of its own.
CRUMB_NS = 20_000
_PASSIVE = (int(Doing.NOTHING), int(Doing.WAITING), int(Doing.LOCKED))
_WEAK = (*_PASSIVE, int(Doing.PYTHON), int(Doing.ANNOTATED))


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
            whole = _with_overhead(self._unlocked(lane, _overlay(layers)), over)
            judged = _judge_stretches(
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

    def longest_row(self, lane: int, start: int, end: int) -> int:
        """The slice that explains the longest stretch of ``[start, end)``, -1 for none."""
        self.states(lane)
        fine = self._fine[lane]
        first = max(int(fine.start_ns.searchsorted(start, "right")) - 1, 0)
        last = int(fine.start_ns.searchsorted(end, "left"))
        if last - first <= 1:
            return int(fine.row[first]) if last > first else -1
        begins = np.maximum(fine.start_ns[first:last], start)
        length = np.append(begins[1:], end) - begins
        length[fine.row[first:last] < 0] = -1
        return int(fine.row[first + int(length.argmax())])

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
        """Threads that a thread hands over to: autograd's for others, others for autograd's."""
        backward = self._marks.autograd_lanes
        pid = self._trace.lanes[lane].pid
        return [
            other
            for other in self._lanes
            if other != lane
            and self._trace.lanes[other].pid == pid
            and (lane in backward) != (other in backward)
        ]

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
            time = distinct(np.concatenate((states.start_ns, theirs.start_ns)))
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
    changed = np.diff(states.state) | np.diff(states.drain)
    keep = np.concatenate(([True], changed != 0))
    return HostStates(
        states.start_ns[keep], states.state[keep], states.drain[keep], states.row[keep]
    )


def _overlay(layers: list[HostStates]) -> HostStates:
    """The first thread that visibly works, instant by instant; own thread first."""
    if len(layers) == 1:
        return layers[0]
    time = distinct(np.concatenate([layer.start_ns for layer in layers]))
    looked_up = [at_times(layer, time) for layer in layers]
    state, drain, row = (column.copy() for column in looked_up[0])
    # A bare annotation says less than another thread's operators.
    open_ = any_of(state, (*_PASSIVE, Doing.ANNOTATED))
    for other_state, other_drain, other_row in looked_up[1:]:
        take = open_ & ~any_of(other_state, (*_PASSIVE, Doing.ANNOTATED))
        state[take], drain[take], row[take] = other_state[take], other_drain[take], other_row[take]
        open_ &= ~take
    for other_state, other_drain, other_row in looked_up[1:]:
        take = open_ & any_of(state, _PASSIVE) & (other_state == Doing.ANNOTATED)
        take |= open_ & (state == Doing.NOTHING) & (other_state == Doing.WAITING)
        state[take], drain[take], row[take] = other_state[take], other_drain[take], other_row[take]
    return HostStates(time, state, drain, row)


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
    rows = np.flatnonzero((trace.kind == SliceKind.RUNTIME) & np.isin(trace.name_id, names))
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
        time = distinct(np.concatenate((states.start_ns, intervals.start, intervals.end)))
        state, drain, row = at_times(states, time)
        following = np.append(time[1:], time[-1] + 1)
        covered = Measure(intervals).between(time, following) > 0
        take = covered & any_of(state, (*_WEAK, Doing.DISPATCH))
        state[take] = drain[take] = code
        row[take] = -1
        states = HostStates(time, state, drain, row)
    return states


def _judge_stretches(
    states: HostStates, trace: Trace, lanes: Sequence[int], options: Options
) -> HostStates:
    """Short stretches without an operator are dispatch; long ones are what they show."""
    start, state = states.start_ns, states.state.copy()
    if not len(start):
        return states
    # The autograd engine takes its time to wake a thread and to find the first node.
    waiting = state == Doing.WAITING
    state[waiting & (_run_lengths(start, waiting) < MAX_HANDOVER_NS)] = Doing.DISPATCH
    weak = any_of(state, _WEAK)
    lasts = _run_lengths(start, weak)
    told = users_python(states, trace, weak, options)
    short = (lasts < usual_pause(lasts, weak, shortest_ns(options))) & ~told
    idle = short & without_launches(states, trace, weak, lanes)
    short &= ~idle
    state[weak & short] = Doing.DISPATCH
    long = weak & ~short
    python = long & ~idle & (state == Doing.PYTHON)
    noted = np.flatnonzero(long & (state == Doing.ANNOTATED))
    python[noted] = _names_it(states, trace, noted)
    # A crumb between a frame's end and the next operator belongs to the Python around it.
    crumb = long & ~python & (np.append(np.diff(start), 0) < CRUMB_NS)
    python |= crumb & (np.append(False, python[:-1]) | np.append(python[1:], False))
    wraps = _in_generated_code(states.row, trace, python)
    state[wraps], python = Doing.DISPATCH, python & ~wraps
    state[python] = cause_code("python-overhead")
    state[long & ~python & ~wraps] = cause_code("unattributed")
    drain = np.where(states.drain == states.state, state, states.drain).astype(np.int32)
    return HostStates(start, state, drain, states.row)


def _in_generated_code(
    row: NDArray[np.int32], trace: Trace, among: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which stretches are Python that torch.compile wrote: it only dispatches."""
    found = np.zeros(len(row), np.bool_)
    generated = _generated_names(trace)
    at = np.flatnonzero(among & (row >= 0))
    if not generated.any() or not len(at):
        return found
    up = row[at].astype(np.int64)
    while len(at):
        hit = (trace.kind[up] == SliceKind.PYTHON) & generated[trace.name_id[up]]
        found[at[hit]] = True
        up = trace.parent[up].astype(np.int64)
        going = ~hit & (up >= 0)
        at, up = at[going], up[going]
    return found


@once_per_trace
def _generated_names(trace: Trace) -> NDArray[np.bool_]:
    return np.array([is_generated(text) for text in trace.strings], np.bool_)


def _names_it(states: HostStates, trace: Trace, at: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Where an annotation is about little else than this stretch, it says what was done.

    One around a whole iteration says nothing about a hole in it.
    """
    row = np.maximum(states.row[at], 0)
    length = np.append(np.diff(states.start_ns), 0)[at]
    whole = trace.end_ns[row] - trace.start_ns[row]
    return np.asarray((states.row[at] >= 0) & (2 * length >= whole))


def _run_lengths(start: NDArray[np.int64], member: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each stretch, how long the run of members or others around it lasts."""
    first = np.flatnonzero(np.diff(member.astype(np.int8), prepend=~member[:1]))
    begins = start[first]
    length = np.append(begins[1:], np.iinfo(np.int64).max) - begins
    run = np.searchsorted(first, np.arange(len(start)), "right") - 1
    return np.asarray(length[run], np.int64)
