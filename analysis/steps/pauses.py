"""Where one inferred step ends and the next begins: at the longest pause between launches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Int64 = NDArray[np.int64]

#: How many places are tried, by the length of the pause there.
TRIED = 8
#: Of the steps, how many may begin inside an operator or module that began before.
MAX_INSIDE = 0.2


def best_offset(trace: Trace, row: Int64, time_ns: Int64, at: Int64, length: int) -> int | None:
    """How far behind each occurrence of the kernel that repeats a step begins.

    A step never begins inside an operator, a module's call or the launch of a graph. Where every place tried lies in
    one, what repeats is a part of a step: None.

    Args:
        trace: the recording.
        row: int64 (n,), the launches in order.
        time_ns: int64 (n,), when they began.
        at: int64 (k,), where the kernel occurs that repeats.
        length: launches of a step.
    """
    pause = np.diff(time_ns, prepend=time_ns[:1])
    first = at[at + length <= len(row)]
    usual = np.median(pause[first[:, None] + np.arange(length)], axis=0)
    # The longest first; of equal ones the earliest.
    for offset in np.argsort(-usual, kind="stable")[:TRIED].tolist():
        edges = at + offset
        edges = edges[(edges > 0) & (edges < len(row))]
        inside = _inside(trace, row[edges], time_ns[edges - 1]) | (row[edges] == row[edges - 1])
        if inside.mean() <= MAX_INSIDE:
            return int(offset)
    return None


def _inside(trace: Trace, rows: Int64, before_ns: Int64) -> NDArray[np.bool_]:
    """Which slices lie inside an operator or module that began by an instant: bool (n,)."""
    found = np.zeros(len(rows), np.bool_)
    up = trace.parent[rows]
    while bool((up >= 0).any()):
        one = np.maximum(up, 0)
        kind = trace.kind[one]
        whole = (kind == SliceKind.CPU_OP) | ((kind == SliceKind.PYTHON) & _modules(trace, one))
        found |= (up >= 0) & whole & (trace.start_ns[one] <= before_ns)
        up = np.where(up >= 0, trace.parent[one], -1)
    return found


def _modules(trace: Trace, rows: Int64) -> NDArray[np.bool_]:
    """Which slices have the name of a module's call: bool (n,)."""
    ids, place = np.unique(trace.name_id[rows], return_inverse=True)
    named = [trace.strings[one].startswith("nn.Module:") for one in ids.tolist()]
    found: NDArray[np.bool_] = np.array(named, np.bool_)[place]
    return found
