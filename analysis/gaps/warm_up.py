"""What belongs to the first step's warm-up: one-off allocation and loading, the first compile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.catalogue import cause_code, cause_rules
from whichlayer.analysis.gaps.host import Marks
from whichlayer.analysis.results import Gaps
from whichlayer.analysis.settings import threshold
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.window import steps_on

#: Fewer recorded steps show no steady state.
MIN_STEPS = 3
#: A launch of this length loads what it launches (usual: 3 to 20 µs).
_SLOW_LAUNCH_NS = 1_000_000


def without_warm_up(gaps: Gaps, trace: Trace, marks: Marks, devices: Sequence[Activities]) -> Gaps:
    """The same pieces, with the first step's one-off allocation, loading and compile named as such.

    The calls decide, not the gaps: allocation that goes on under the queue's cover is no
    warm-up. A first compile is one however few steps are recorded; only where later steps
    compile about as much is the first no exception. Without steps it is one that comes before
    its thread has launched anything.
    """
    if not len(gaps):
        return gaps
    cause, layer = gaps.cause.copy(), gaps.layer.copy()
    early = _first_compiles(gaps, trace, marks)
    if len(trace.host_steps) >= MIN_STEPS:
        first = _first_ends(trace, devices)[gaps.device]
        calls = {"allocator": _marked(marks, "allocator"), "module-load": _loading(trace, marks)}
        for rule, rows in calls.items():
            if _stops(trace, rows, threshold(marks.options, "warm-up", "later_share")):
                early |= (gaps.cause == cause_code(rule)) & (gaps.start_ns < first)
    cause[early], layer[early] = cause_code("warm-up"), int(cause_rules()["warm-up"].layer)
    return replace(gaps, cause=cause, layer=layer)


def _marked(marks: Marks, rule: str) -> NDArray[np.intp]:
    """Slices that are marks of a cause."""
    return np.flatnonzero(marks.code == cause_code(rule))


def _loading(trace: Trace, marks: Marks) -> NDArray[np.intp]:
    """Calls that load: by name, and launches that take far longer than any launch does."""
    launches = np.unique(trace.launch[trace.launch >= 0])
    slow = trace.end_ns[launches] - trace.start_ns[launches] >= _SLOW_LAUNCH_NS
    return np.union1d(_marked(marks, "module-load"), launches[slow])


def _first_ends(trace: Trace, devices: Sequence[Activities]) -> NDArray[np.int64]:
    """When the first step ended on each device."""
    return np.array([int(steps_on(trace, d).end_ns[0]) for d in devices], np.int64)


def _first_compiles(gaps: Gaps, trace: Trace, marks: Marks) -> NDArray[np.bool_]:
    """Pieces of a compile that is the program's first: bool (gaps,)."""
    pieces = gaps.cause == cause_code("recompile")
    if not pieces.any():
        return np.asarray(pieces)
    rows = np.maximum(gaps.culprit_row, 0)
    begun = np.where(gaps.culprit_row >= 0, trace.start_ns[rows], gaps.start_ns)
    if trace.host_steps:
        limit = threshold(marks.options, "recompile", "later_share")
        recompiles = _marked(marks, "recompile")
        if len(trace.host_steps) > 1 and not _stops(trace, recompiles, limit):
            return np.zeros(len(gaps), np.bool_)
        later = (
            trace.host_steps[1].start_ns
            if len(trace.host_steps) > 1
            else trace.host_steps[0].end_ns
        )
        return np.asarray(pieces & (begun < later))
    launches = np.unique(trace.launch[trace.launch >= 0])
    lanes, first = np.unique(trace.lane_id[launches], return_index=True)
    at = np.searchsorted(lanes, trace.lane_id[rows])
    known = (at < len(lanes)) & (gaps.culprit_row >= 0)
    at = np.minimum(at, max(len(lanes) - 1, 0))
    known &= lanes[at] == trace.lane_id[rows] if len(lanes) else False
    opened = trace.start_ns[launches[first[at]]] if len(lanes) else gaps.start_ns
    return np.asarray(pieces & known & (begun <= opened))


def _stops(trace: Trace, rows: NDArray[np.intp], share: float) -> bool:
    """Whether slices belong to the first recorded step alone."""
    outermost = ~among(trace.parent[rows], rows)
    rows = rows[outermost]
    length = trace.end_ns[rows] - trace.start_ns[rows]
    second = trace.host_steps[1].start_ns
    early = int(length[trace.start_ns[rows] < second].sum())
    later = int(length[trace.start_ns[rows] >= second].sum()) / (len(trace.host_steps) - 1)
    return later < share * early
