"""What each launching thread was doing at every instant.

A thread's slices nest. At each instant the innermost slice says what runs; what *explains* it
may be further out (any operator inside the loader call is loading), so marks are inherited
inwards and the innermost mark wins. The result is a cut of the thread's time into stretches
of one state, which the walk lays over the device's gaps.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.gaps.blocking import BlockingCopy
from whichlayer.analysis.gaps.catalogue import cause_code, cause_of_slice
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind


class Doing(IntEnum):
    """States without a cause of their own; cause codes are >= 0, these are below."""

    NOTHING = -1  # no slice, or only the step's
    DISPATCH = -2  # in an operator or a runtime call
    PYTHON = -3  # in a Python frame, no operator
    ANNOTATED = -4  # in a user's annotation, nothing else recorded
    WAITING = -5  # for another thread (backward runs on the autograd thread)
    LOCKED = -6  # for a lock or a queue: some other thread holds it


#: Frames in which a thread waits for the autograd engine's threads.
_WAITS = re.compile(r"run_backward|_engine_run_backward")
#: Operators that only allocate or make views, and autograd's bookkeeping: never CPU work.
_NO_WORK = re.compile(
    r"^aten::(empty|new_empty|view|_unsafe_view|reshape|as_strided|t|transpose|permute|expand"
    r"|slice|select|narrow|split|chunk|unbind|squeeze|unsqueeze|flatten|detach|alias|resize"
    r"|set_|result_type|lift_fresh|is_\w+|_reshape_alias)(_|\b)"
    r"|^autograd::|^torch::autograd|Backward\d*$|^detach_?$"
)
#: A registered operator; record_function's names were operators too until 2021.
_OPERATOR = re.compile(r"^\w+::\w")
#: Operators and annotations of collectives: without a launch, the host waits for its peers.
_COMMUNICATION = re.compile(r"^(c10d::|record_param_comms|(gloo|mpi|ucc|nccl):)")
#: Wrappers that PyTorch records around Python of the model: they name a place, not a cost.
_WRAPPER = re.compile(r"^(DistributedDataParallel|FullyShardedDataParallel|FSDP|\w+)\.forward")
#: A thread in one of these waits for another thread.
_LOCKS = re.compile(
    r"(^|/)(queue|threading)\.py\(\d+\): (get|put|wait|join|acquire)\b|_thread\.lock"
)
_POLLS = re.compile(r"(Event|Stream)Query(_\w+)?$")
_BACKWARD = re.compile(r"Backward\d*$")
_STEP = re.compile(r"^ProfilerStep#\d+$")


@dataclass(frozen=True, slots=True)
class HostStates:
    """One thread's time as stretches of one state, in order.

    A stretch lasts from its ``start_ns`` to the next one's; before the first the state is
    ``Doing.NOTHING``.

    Attributes:
        start_ns: int64 (n,).
        state: int32 (n,), a cause code or a ``Doing``.
        drain: int32 (n,), the cause to charge for what follows, where it differs from the
            state (a blocking copy first waits for earlier work), else equal to ``state``.
        row: int32 (n,), the slice that explains the state, -1 for none.
    """

    start_ns: NDArray[np.int64]
    state: NDArray[np.int32]
    drain: NDArray[np.int32]
    row: NDArray[np.int32]


class Marks:
    """What every slice of a trace is a mark of, by name and by what it launched."""

    def __init__(self, trace: Trace, blocking: dict[int, BlockingCopy]) -> None:
        """Classify each distinct name once."""
        self.blocking = blocking
        self.code = self._by_name(trace)
        self.autograd_lanes = _autograd_lanes(trace)
        self._mark_cpu_operators(trace)

    @staticmethod
    def _by_name(trace: Trace) -> NDArray[np.int32]:
        keys = (
            trace.name_id.astype(np.int64) * 16 + trace.kind
        ) * 65536 + trace.category_id.astype(np.int64) % 65536
        unique, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        codes = np.empty(len(unique), np.int32)
        for i, row in enumerate(first.tolist()):
            codes[i] = _classify(
                trace.name(row),
                SliceKind(int(trace.kind[row])),
                trace.strings[int(trace.category_id[row])],
            )
        return codes[inverse]

    def _mark_cpu_operators(self, trace: Trace) -> None:
        """Operators that last and never call the runtime work in host memory."""
        calls = np.zeros(len(trace), bool)
        up = np.unique(trace.parent[trace.kind == SliceKind.RUNTIME])
        up = up[up >= 0]
        while len(up):
            calls[up] = True
            up = np.unique(trace.parent[up])
            up = up[up >= 0]
            up = up[~calls[up]]
        long = trace.end_ns - trace.start_ns >= MIN_STRETCH_NS
        alone = (trace.kind == SliceKind.CPU_OP) & ~calls & long & (self.code == Doing.DISPATCH)
        code = cause_code("cpu-operator")
        communicates = cause_code("exposed-comm")
        for row in np.flatnonzero(alone).tolist():
            # A part of an operator that launches is part of its dispatch.
            part = any(calls[r] and trace.kind[r] == SliceKind.CPU_OP for r in trace.enclosing(row))
            name = trace.name(row)
            if _COMMUNICATION.match(name):
                self.code[row] = communicates
            elif not part and _OPERATOR.match(name) and not _NO_WORK.search(name):
                self.code[row] = code


#: Shorter stretches without an operator are the framework between two operators: dispatch.
#: Setting ``rules.python-overhead.min_us``.
MIN_STRETCH_NS = 200_000


def _classify(name: str, kind: SliceKind, category: str) -> int:
    cause = cause_of_slice(name, kind, category)
    if cause >= 0:
        return cause
    if kind == SliceKind.PYTHON:
        if _LOCKS.search(name):
            return Doing.LOCKED
        return Doing.WAITING if _WAITS.search(name) else Doing.PYTHON
    if kind == SliceKind.ANNOTATION:
        if _COMMUNICATION.match(name):
            return cause_code("exposed-comm")
        return Doing.NOTHING if _STEP.match(name) else Doing.ANNOTATED
    if kind == SliceKind.RUNTIME and _POLLS.search(name):
        return Doing.NOTHING
    if kind == SliceKind.CPU_OP and _WRAPPER.match(name):
        return Doing.ANNOTATED
    if category == "Operator" and not _OPERATOR.match(name) and not _BACKWARD.search(name):
        return Doing.ANNOTATED
    if kind in (SliceKind.CPU_OP, SliceKind.RUNTIME):
        return Doing.DISPATCH
    return Doing.NOTHING


def host_states(trace: Trace, marks: Marks, lane: int) -> HostStates:
    """Cut one thread's time by what it does.

    Args:
        trace: the recording.
        marks: of this trace.
        lane: a lane of kind ``CPU_THREAD``.
    """
    first, last = int(trace.lane_rows[lane]), int(trace.lane_rows[lane + 1])
    kinds, codes_here = trace.kind[first:last], marks.code[first:last]
    told = np.flatnonzero((kinds == SliceKind.ANNOTATION) & (codes_here >= 0)) + first
    walk = _Walk(marks, frozenset(told.tolist()))
    start = trace.start_ns[first:last].tolist()
    end = trace.end_ns[first:last].tolist()
    for i, (s, e, code) in enumerate(zip(start, end, codes_here.tolist(), strict=True)):
        walk.enter(first + i, s, e, code)
    walk.leave_until(None)
    return _stretches(walk, trace)


_NAMED_IN_OPERATOR = (Doing.DISPATCH, Doing.ANNOTATED)
#: A blocking copy's call before it is split into its wait and its copy.
BLOCKED = -100


class _Walk:
    """The stack of open slices, and the stretches that it has passed through."""

    def __init__(self, marks: Marks, annotations: frozenset[int]) -> None:
        self.blocking = marks.blocking
        self._annotations = annotations
        # Says less than any mark around it: operators of the loader are loading.
        self._cpu_operator = cause_code("cpu-operator")
        self._stack: list[tuple[int, int, int]] = []  # end, state, explaining row
        self.time: list[int] = []
        self.state: list[int] = []
        self.row: list[int] = []

    def enter(self, row: int, start: int, end: int, code: int) -> None:
        self.leave_until(start)
        state, why = code, row if code != Doing.NOTHING else -1
        _, outer, outer_row = self._stack[-1] if self._stack else (0, Doing.NOTHING, -1)
        if code >= 0 and outer == code:
            # The loader's inner frames are the same call; its annotation says most.
            told = outer_row >= 0 and row in self._annotations
            why = row if told and outer_row not in self._annotations else outer_row
        elif self._stack and (code < 0 or code == self._cpu_operator):
            # A mark explains all that runs inside it; an operator explains the annotations
            # it holds, but Python that it calls for long is Python; a step explains nothing.
            inherits = code == Doing.NOTHING or (outer, code) == _NAMED_IN_OPERATOR
            if outer >= 0 or outer == BLOCKED or inherits:
                state, why = outer, outer_row
        if row in self.blocking:
            state, why = BLOCKED, row
        self._stack.append((end, state, why))
        self._emit(start)

    def leave_until(self, time: int | None) -> None:
        stack = self._stack
        while stack and (time is None or stack[-1][0] <= time):
            left = stack.pop()[0]
            while stack and stack[-1][0] <= left:
                stack.pop()
            self._emit(left)

    def _emit(self, time: int) -> None:
        self.time.append(time)
        if self._stack:
            _, state, row = self._stack[-1]
            self.state.append(state)
            self.row.append(row)
        else:
            self.state.append(Doing.NOTHING)
            self.row.append(-1)


def _stretches(walk: _Walk, trace: Trace) -> HostStates:
    start = np.array(walk.time, np.int64)
    state = np.array(walk.state, np.int32)
    row = np.array(walk.row, np.int32)
    if len(start):
        lasts = np.concatenate((start[1:] > start[:-1], [True]))
        start, state, row = start[lasts], state[lasts], row[lasts]
    drain = state.copy()
    if (state == BLOCKED).any():
        start, state, drain, row = _split_blocking(start, state, row, walk, trace)
    return HostStates(start, state, drain, row)


def _split_blocking(
    start: NDArray[np.int64],
    state: NDArray[np.int32],
    row: NDArray[np.int32],
    walk: _Walk,
    trace: Trace,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Split each blocking copy's call where its copy begins.

    Idle inside the first part of a host-to-device call cannot be a wait for the device, which
    has nothing to do: it is the staging of the copy. Of what follows the call, the wait for
    earlier work is a sync and the copy is the copy's.
    """
    sync, pageable = cause_code("host-sync"), cause_code("h2d-pageable")
    drain = state.copy()
    ends = np.append(start[1:], start[-1])
    at = np.flatnonzero(state == BLOCKED)
    copies = [walk.blocking[why] for why in row[at].tolist()]
    copied = trace.start_ns[[copy.copy for copy in copies]]
    direct = np.array([pageable if copy.to_device else sync for copy in copies], np.int32)
    state[at] = direct
    drain[at] = np.where(start[at] < copied, sync, direct)
    cut = (start[at] < copied) & (copied < ends[at])
    after = at[cut] + 1
    return (
        np.insert(start, after, copied[cut]),
        np.insert(state, after, direct[cut]),
        np.insert(drain, after, direct[cut]),
        np.insert(row, after, row[at[cut]]),
    )


def launching_lanes(trace: Trace) -> list[int]:
    """CPU threads that launched GPU work, most launches first."""
    launched = trace.launch[trace.launch >= 0]
    if not len(launched):
        return []
    lanes, counts = np.unique(trace.lane_id[launched], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return [
        int(lane) for lane in lanes[order] if trace.lanes[int(lane)].kind == LaneKind.CPU_THREAD
    ]


def _autograd_lanes(trace: Trace) -> frozenset[int]:
    """Threads of the autograd engine: by name, else by what they mostly run at top level."""
    named = {i for i, lane in enumerate(trace.lanes) if "autograd" in lane.name}
    outermost = (trace.kind == SliceKind.CPU_OP) & (trace.parent < 0)
    names = [i for i, text in enumerate(trace.strings) if _AUTOGRAD.search(text)]
    backward = outermost & np.isin(trace.name_id, names)
    size = len(trace.lanes)
    every = np.bincount(trace.lane_id[outermost], minlength=size)
    mostly = np.bincount(trace.lane_id[backward], minlength=size) * 2 > every
    return frozenset(named | set(np.flatnonzero(mostly).tolist()))


_AUTOGRAD = re.compile(r"^autograd::engine|Backward\d*$|AccumulateGrad")
