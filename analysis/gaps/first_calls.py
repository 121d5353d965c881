"""First calls: what a process does once, such as bringing up a context or loading a library."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.catalogue import cause_code
from whichlayer.analysis.intervals import Measure, union
from whichlayer.analysis.trace.columns import StepSource, Trace
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind

Int32 = NDArray[np.int32]

#: Allocation calls take up to a few milliseconds; a context or a library takes more.
CONTEXT_NS = 10_000_000
#: A first call that initialises takes at least so many times as long as later ones.
CONTEXT_RATIO = 10


def mark_initialisation(trace: Trace, code: Int32) -> None:
    """Mark allocation calls that bring up a context or a library as loading, in place.

    Such a call is its thread's first of that name, far longer than the later ones, and no
    device works meanwhile: ``cudaFree`` also waits for the device.

    Args:
        trace: the recording.
        code: int32 (slices,), what each slice is a mark of.
    """
    allocator = cause_code("allocator")
    length = trace.end_ns - trace.start_ns
    rows = np.flatnonzero((code == allocator) & (length >= CONTEXT_NS))
    for row in rows.tolist():
        if not is_first_call(trace, row):
            continue
        first, last = _lane(trace, row)
        same = length[first:last][trace.name_id[first:last] == trace.name_id[row]]
        rest = np.sort(same)[:-1]
        if len(rest) and CONTEXT_RATIO * int(np.median(rest)) > int(length[row]):
            continue
        begin, end = int(trace.start_ns[row]), int(trace.end_ns[row])
        if 2 * _busy_ns(trace, begin, end) <= end - begin:
            code[row] = cause_code("module-load")


def _busy_ns(trace: Trace, begin: int, end: int) -> int:
    """How long any device worked inside a stretch of time."""
    rows = np.flatnonzero((trace.start_ns < end) & (trace.end_ns > begin))
    rows = rows[among(trace.kind[rows], [int(kind) for kind in GPU_WORK])]
    starts, ends = np.maximum(trace.start_ns[rows], begin), np.minimum(trace.end_ns[rows], end)
    busy = Measure(union(starts, ends))
    return int(busy.between(np.array([begin], np.int64), np.array([end], np.int64))[0])


def is_first_call(trace: Trace, row: int) -> bool:
    """Whether a call, or the operator that it is a part of, is its thread's first of that name."""
    return first_call(trace, row) >= 0


def first_call(trace: Trace, row: int) -> int:
    """A call itself or the operator around it, whichever is its thread's first of that name.

    A recording that begins after earlier steps holds no first calls.

    Returns:
        A trace row, or -1 for neither.
    """
    steps = trace.host_steps
    if steps:
        earlier = steps[0].source is StepSource.PROFILER and steps[0].number > 0
        if earlier or trace.start_ns[row] >= steps[0].end_ns:
            return -1
    chain = (r for r in (row, *trace.enclosing(row)) if trace.kind[r] == SliceKind.CPU_OP)
    return next((r for r in (row, next(chain, row)) if _is_first(trace, r)), -1)


def _is_first(trace: Trace, row: int) -> bool:
    first, last = _lane(trace, row)
    same = trace.name_id[first:last] == trace.name_id[row]
    return first + int(same.argmax()) == row


def _lane(trace: Trace, row: int) -> tuple[int, int]:
    lane = int(trace.lane_id[row])
    return int(trace.lane_rows[lane]), int(trace.lane_rows[lane + 1])
