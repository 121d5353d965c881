"""Operators that tell what another one left out.

Until torch 2.1 the profiler recorded no numbers: a convolution's stride and padding, and the
size lists of its old backward operators, are missing. What took the result (in program order
the next operator on the thread), or the call around, has the sizes as tensors.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.kernels.calls import OpCall
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]

_FORWARD: Final = frozenset(
    {"aten::cudnn_convolution", "aten::miopen_convolution", "aten::convolution"}
)
_BACKWARD: Final = frozenset(
    f"aten::{library}_convolution_backward_{of}"
    for library in ("cudnn", "miopen")
    for of in ("input", "weight")
)
#: Operators that may have left out what a neighbour tells.
NEEDS_CONTEXT: Final = _FORWARD | _BACKWARD
_WRAPPERS: Final = (*_FORWARD, "aten::_convolution", "aten::conv1d", "aten::conv2d",
                    "aten::conv3d")  # fmt: skip

#: How many operators after a convolution may come before the one that takes its result.
_LOOK_AHEAD: Final = 4


def context_rows(trace: Trace, operator_row: Int32) -> Int32:
    """For each operator the one that tells its missing sizes: int32 (n,), -1 for none."""
    found = np.full(len(operator_row), -1, np.int32)
    names = trace.name_id[np.maximum(operator_row, 0)]
    silent = (operator_row >= 0) & _is_silent(trace, operator_row, names)
    for wanted, look in ((_FORWARD, _next_operator), (_BACKWARD, parent_operator)):
        ids = [index for index, name in enumerate(trace.strings) if name in wanted]
        chosen = silent & among(names, ids)
        if chosen.any():
            found[chosen] = look(trace, operator_row[chosen].astype(np.int64))
    return found


def parent_operator(trace: Trace, rows: Int64) -> Int64:
    """The operator around each operator: int64 (n,), -1 for none."""
    at = trace.parent[rows].astype(np.int64)
    while True:
        climb = (at >= 0) & (trace.kind[np.maximum(at, 0)] != SliceKind.CPU_OP)
        if not climb.any():
            return at
        at[climb] = trace.parent[at[climb]]


def _is_silent(trace: Trace, rows: Int32, names: Int32) -> NDArray[np.bool_]:
    """Which convolutions recorded no numbers."""
    ids = [index for index, name in enumerate(trace.strings) if name in NEEDS_CONTEXT]
    candidates = np.flatnonzero(among(names, ids) & (rows >= 0))
    result = np.zeros(len(rows), np.bool_)
    details, inverse = np.unique(trace.detail_id[rows[candidates]], return_inverse=True)
    silent = np.array(
        ["Concrete Inputs" not in trace.detail_by_id(int(item)) for item in details], np.bool_
    )
    if len(candidates):
        result[candidates] = silent[inverse]
    return result


def _next_operator(trace: Trace, rows: Int64) -> Int64:
    """The operator that follows a convolution and its wrappers on the same thread."""
    wrappers = [index for index, name in enumerate(trace.strings) if name in _WRAPPERS]
    top = rows.copy()
    up = parent_operator(trace, top)
    while True:
        climb = (up >= 0) & among(trace.name_id[np.maximum(up, 0)], wrappers)
        if not climb.any():
            break
        top[climb] = up[climb]
        up = np.where(climb, parent_operator(trace, top), up)
        up[~climb] = -1
    operators = np.flatnonzero(trace.kind == SliceKind.CPU_OP)
    found = np.full(len(rows), -1, np.int64)
    for lane in np.unique(trace.lane_id[top]):
        here = trace.lane_id[top] == lane
        low, high = trace.lane_rows[lane], trace.lane_rows[lane + 1]
        of_lane = operators[np.searchsorted(operators, low) : np.searchsorted(operators, high)]
        at = np.searchsorted(trace.start_ns[of_lane], trace.end_ns[top[here]], "left")
        found[here] = _first_with_image(trace, of_lane, at)
    return found


def _first_with_image(trace: Trace, operators: Int64, at: NDArray[np.intp]) -> Int64:
    """The first of the next few operators whose first argument could be a convolution's result.

    Counting batches (``num_batches_tracked += 1``) comes between a convolution and its norm.
    """
    found = np.full(len(at), -1, np.int64)
    for step in range(_LOOK_AHEAD):
        open_ = np.flatnonzero((found < 0) & (at + step < len(operators)))
        rows = operators[at[open_] + step]
        details, inverse = np.unique(trace.detail_id[rows], return_inverse=True)
        fits = np.array([_has_image(trace, int(item)) for item in details], np.bool_)
        if len(rows):
            found[open_[fits[inverse]]] = rows[fits[inverse]]
    return found


def _has_image(trace: Trace, detail_id: int) -> bool:
    first = OpCall.from_detail("", trace.detail_by_id(detail_id)).tensor(0)
    return first is not None and len(first.shape) >= 3
