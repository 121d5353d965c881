"""Where an optimizer updates its parameters tensor by tensor."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.relabel import Spans, disjoint
from whichlayer.analysis.gaps.remembered import once_per_trace
from whichlayer.analysis.options import Options
from whichlayer.analysis.settings import thresholds
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind

_ANNOTATION = re.compile(r"^Optimizer\.(step|zero_grad)\b", re.IGNORECASE)
_FRAME = re.compile(r"(^|/)optim/\w+\.py\(\d+\): (zero_grad|_single_tensor_\w+)$")
_PROOF = re.compile(r": _single_tensor_\w+$")
#: One kernel of these serves many tensors.
_MANY = re.compile(r"multi_tensor|_foreach_|_fused_|fused_\w*(adam|sgd|optim)", re.IGNORECASE)
#: Kernels that work through one tensor, element by element.
_ELEMENTWISE = re.compile(r"elementwise|pointwise|FillFunctor|^Memset", re.IGNORECASE)
_OPERATOR = re.compile(
    r"^aten::(?!\w*(mm|matmul|bmm|mv|dot|linalg|svd|qr|eigh|cholesky|conv|einsum)\w*$)\w"
)

Bool = NDArray[np.bool_]


def optimizer_loops(trace: Trace, options: Options) -> dict[int, Spans]:
    """By thread, when its optimizer went through the tensors one by one."""
    marked = _named(trace, _ANNOTATION) & among(
        trace.kind, (SliceKind.ANNOTATION, SliceKind.CPU_OP)
    )
    marked |= _named(trace, _FRAME) & (trace.kind == SliceKind.PYTHON)
    rows = np.flatnonzero(marked)
    if not len(rows):
        return {}
    proof = _named(trace, _PROOF)
    limits = thresholds(options, "optimizer-loop")
    found: dict[int, list[tuple[int, int, int]]] = {}
    for row in rows.tolist():
        if proof[row] or _loops(trace, row, limits):
            span = (int(trace.start_ns[row]), int(trace.end_ns[row]), -1)
            found.setdefault(int(trace.lane_id[row]), []).append(span)
    return {lane: disjoint(spans) for lane, spans in found.items()}


def own_time(trace: Trace, lane: int, loops: Spans, activities: Activities) -> list[int]:
    """How much longer the host takes for each loop than the device: nanoseconds, 0 or more.

    A host that had been ahead of the device would have lost so much of its lead in the loop:
    that is the loop's doing, and not that of what drained the queue before.
    """
    launch = activities.launch
    known = launch >= 0
    row = np.maximum(launch, 0)
    mine = np.flatnonzero(known & (trace.lane_id[row] == lane))
    begun = trace.start_ns[row[mine]]
    order = np.argsort(begun, kind="stable")
    length = (activities.end_ns - activities.start_ns)[mine[order]]
    total = np.concatenate(([0], np.cumsum(length)))
    first = np.searchsorted(begun[order], loops.start_ns, "left")
    last = np.searchsorted(begun[order], loops.end_ns, "left")
    took = loops.end_ns - loops.start_ns
    own = np.where(last > first, np.maximum(took - (total[last] - total[first]), 0), 0)
    return [int(ns) for ns in own]


class _Launches:
    """Launches of GPU work by thread and time, and what each says about tensors."""

    def __init__(self, trace: Trace) -> None:
        """Read every launch once."""
        work = np.flatnonzero(among(trace.kind, GPU_WORK) & (trace.launch >= 0))
        order = np.argsort(trace.launch[work], kind="stable")
        work = work[order]
        self.row = trace.launch[work]  # rows are sorted by thread and time
        many, single = _named_ids(trace, _MANY), _named_ids(trace, _ELEMENTWISE)
        name = trace.name_id[work]
        parent = trace.parent[self.row]
        known = parent >= 0
        around = np.where(known, trace.name_id[parent], -1)
        is_operator = known & among(around, _named_ids(trace, _OPERATOR))
        many_tensors = among(name, many) | among(around, many)
        self.by_operator = is_operator & ~many_tensors
        self.elementwise = among(name, single) & ~many_tensors
        self.time = trace.start_ns[self.row]


@once_per_trace
def _launches(trace: Trace) -> _Launches:
    return _Launches(trace)


def _inside(trace: Trace, row: int) -> tuple[_Launches, slice]:
    """Launches of the trace, and which of them a slice's thread made inside it."""
    launches = _launches(trace)
    lane = int(trace.lane_id[row])
    first, last = (int(n) for n in np.searchsorted(launches.row, trace.lane_rows[lane : lane + 2]))
    times = launches.time[first:last]
    low = first + int(np.searchsorted(times, trace.start_ns[row], "left"))
    high = first + int(np.searchsorted(times, trace.end_ns[row], "left"))
    return launches, slice(low, high)


def _loops(trace: Trace, row: int, limits: Mapping[str, float]) -> bool:
    """Whether what an optimizer launched is a loop over tensors."""
    launches, inside = _inside(trace, row)
    count = inside.stop - inside.start
    elementwise = int(launches.elementwise[inside].sum())
    if elementwise > limits["kernels"]:
        return bool(elementwise >= limits["share"] * count)
    single = int(launches.by_operator[inside].sum())
    return bool(single >= limits["per_tensor"] and single >= limits["share"] * count)


def optimizer_launches(trace: Trace, row: int) -> tuple[int, int]:
    """How much an optimizer launched, and how much of it operators on one tensor did."""
    launches, inside = _inside(trace, row)
    return inside.stop - inside.start, int(launches.by_operator[inside].sum())


def optimizer_span(trace: Trace, row: int) -> int:
    """The optimizer's own slice around another, outermost; -1 where there is none."""
    found = -1
    for up in [row, *trace.enclosing(row)]:
        name = trace.name(up)
        if _ANNOTATION.match(name) or _FRAME.search(name.replace("\\", "/")):
            found = up
    return found


def _named_ids(trace: Trace, pattern: re.Pattern[str]) -> list[int]:
    return [i for i, text in enumerate(trace.strings) if pattern.search(text)]


def _named(trace: Trace, pattern: re.Pattern[str]) -> Bool:
    ids = _named_ids(trace, pattern)
    return among(trace.name_id, ids) if ids else np.zeros(len(trace), np.bool_)
