"""What every slice of the launching threads is a mark of.

``stretches.py`` cuts a thread's time by these marks, and the walk lays the stretches over the
device's gaps.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.blocking import BlockingCopy
from whichlayer.analysis.gaps.catalogue import cause_code, cause_of_slice
from whichlayer.analysis.gaps.first_calls import mark_initialisation
from whichlayer.analysis.gaps.receives import spinning_receives
from whichlayer.analysis.gaps.waits import Wait, wait_of
from whichlayer.analysis.options import Options
from whichlayer.analysis.settings import threshold
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
    RESTING = -7  # for a message, another process or a time: no thread's work


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
#: What torch.compile records around all of a compiled function: no cost of its own either.
_COMPILED = re.compile(r"^Torch-Compiled Region\b|^CompiledFunction$|^(## )?Call CompiledFxGraph\b")
#: Wrappers that PyTorch records around Python of the model: they name a place, not a cost.
_WRAPPER = re.compile(r"^(DistributedDataParallel|FullyShardedDataParallel|FSDP|\w+)\.forward")
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
            state, else equal to ``state``.
        row: int32 (n,), the slice that explains the state, -1 for none.
    """

    start_ns: NDArray[np.int64]
    state: NDArray[np.int32]
    drain: NDArray[np.int32]
    row: NDArray[np.int32]


class Marks:
    """What every slice of a trace is a mark of, by name and by what it launched."""

    def __init__(
        self, trace: Trace, blocking: dict[int, BlockingCopy], options: Options | None = None
    ) -> None:
        """Classify each distinct name once; the options set what thresholds apply."""
        self.options = options or Options()
        self.blocking = blocking
        self.code = self._by_name(trace)
        self.autograd_lanes = _autograd_lanes(trace)
        self.receives = spinning_receives(trace, self.options)
        self._mark_cpu_operators(trace)
        mark_initialisation(trace, self.code)

    @staticmethod
    def _by_name(trace: Trace) -> NDArray[np.int32]:
        """What each slice's name, kind and category say."""
        sort = trace.category_id * len(SliceKind) + trace.kind
        # Nearly every name has one kind and category, those of its first slice.
        first = np.zeros(len(trace.strings), np.int32)
        first[trace.name_id[::-1]] = np.arange(len(trace) - 1, -1, -1, dtype=np.int32)
        used = np.zeros(len(trace.strings), np.bool_)
        used[trace.name_id] = True
        codes = np.zeros(len(trace.strings), np.int32)
        for name in np.flatnonzero(used).tolist():
            codes[name] = _classify_row(trace, int(first[name]))
        code = codes[trace.name_id]
        other = np.flatnonzero(sort != sort[first[trace.name_id]])
        keys = trace.name_id[other].astype(np.int64) << 32 | sort[other]
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        told = [_classify_row(trace, row) for row in other[first].tolist()]
        code[other] = np.array(told, np.int32)[which]
        return code

    def _mark_cpu_operators(self, trace: Trace) -> None:
        """Operators that last and never call the runtime work in host memory."""
        calls = _around(trace, np.flatnonzero(trace.kind == SliceKind.RUNTIME))
        operator = trace.kind == SliceKind.CPU_OP
        dispatches = operator & (self.code == Doing.DISPATCH)
        least_ns = 1000 * threshold(self.options, "cpu-operator", "min_us")
        long = trace.end_ns - trace.start_ns >= least_ns
        rows = np.flatnonzero(dispatches & ~calls & long)
        names, which = np.unique(trace.name_id[rows], return_inverse=True)
        texts = [trace.strings[name] for name in names.tolist()]
        communicates = [_COMMUNICATION.match(text) is not None for text in texts]
        works = [bool(_OPERATOR.match(text)) and not _NO_WORK.search(text) for text in texts]
        # A part of an operator that launches is part of its dispatch.
        part = _inside_any(trace, rows, dispatches & calls)
        self.code[rows[np.array(works, np.bool_)[which] & ~part]] = cause_code("cpu-operator")
        self.code[rows[np.array(communicates, np.bool_)[which]]] = cause_code("exposed-comm")


def _around(trace: Trace, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which slices are around any of these rows: bool (slices,)."""
    around = np.zeros(len(trace), np.bool_)
    seen = np.empty(len(trace), np.int32)
    up = trace.parent[rows]
    while True:
        up = up[up >= 0]
        up = up[~around[up]]
        # Of several rows in one slice, one goes on.
        seen[up] = np.arange(len(up), dtype=np.int32)
        up = up[seen[up] == np.arange(len(up))]
        if not len(up):
            return around
        around[up] = True
        up = trace.parent[up]


def _inside_any(
    trace: Trace, rows: NDArray[np.intp], chosen: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Whether each of these rows is inside of a chosen slice."""
    inside = np.zeros(len(rows), np.bool_)
    at, up = np.arange(len(rows)), trace.parent[rows]
    while len(at):
        at, up = at[up >= 0], up[up >= 0]
        hit = chosen[up]
        inside[at[hit]] = True
        at, up = at[~hit], trace.parent[up[~hit]]
    return inside


def _classify_row(trace: Trace, row: int) -> int:
    kind = SliceKind(int(trace.kind[row]))
    return _classify(trace.name(row), kind, trace.strings[int(trace.category_id[row])])


def _classify(name: str, kind: SliceKind, category: str) -> int:
    cause = cause_of_slice(name, kind, category)
    if cause >= 0:
        return cause
    if kind == SliceKind.PYTHON:
        if (wait := wait_of(name)) is not None:
            return Doing.LOCKED if wait == Wait.THREAD else Doing.RESTING
        return Doing.WAITING if _WAITS.search(name) else Doing.PYTHON
    if kind in (SliceKind.ANNOTATION, SliceKind.CPU_OP) and _COMPILED.search(name):
        return Doing.NOTHING
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


def is_poll(name: str) -> bool:
    """Whether a call of this name only looks whether the device has finished something."""
    return _POLLS.search(name) is not None


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
    backward = outermost & among(trace.name_id, names)
    size = len(trace.lanes)
    every = np.bincount(trace.lane_id[outermost], minlength=size)
    mostly = np.bincount(trace.lane_id[backward], minlength=size) * 2 > every
    return frozenset(named | set(np.flatnonzero(mostly).tolist()))


_AUTOGRAD = re.compile(r"^autograd::engine|Backward\d*$|AccumulateGrad")
