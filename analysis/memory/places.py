"""What a thread was doing at an instant: the innermost slice, and the operator around it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


def innermost_at(trace: Trace, lane: Int32, time_ns: Int64) -> Int64:
    """The innermost slice of a lane that is open at an instant.

    Args:
        trace: the recording.
        lane: int32 (n,), -1 for none.
        time_ns: int64 (n,).

    Returns:
        int64 (n,), trace rows, -1 where none is open.
    """
    found = np.full(len(lane), -1, np.int64)
    for one in np.unique(lane[lane >= 0]).tolist():
        first, last = int(trace.lane_rows[one]), int(trace.lane_rows[one + 1])
        here = np.flatnonzero(lane == one)
        at = first + np.searchsorted(trace.start_ns[first:last], time_ns[here], "right") - 1
        at = np.where(at < first, -1, at)
        while True:
            over = (at >= 0) & (trace.end_ns[np.maximum(at, 0)] < time_ns[here])
            if not over.any():
                break
            at[over] = trace.parent[at[over]]
        found[here] = at
    return found


def operator_around(trace: Trace, rows: Int64) -> Int64:
    """The innermost operator around each slice, itself included: int64 (n,), -1 for none."""
    at = rows.copy()
    while True:
        climb = (at >= 0) & (trace.kind[np.maximum(at, 0)] != SliceKind.CPU_OP)
        if not climb.any():
            return at
        at[climb] = trace.parent[at[climb]]
