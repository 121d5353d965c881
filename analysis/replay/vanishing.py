"""Operators that do nothing else than what is taken away."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.intervals import Intervals, union
from whichlayer.analysis.replay.schedule import Bool, Schedule
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind


def vanishing_operators(trace: Trace, schedule: Schedule, gone: Bool) -> dict[int, Intervals]:
    """By thread, when it was in operators (``item``, say) all of whose calls are taken away.

    Args:
        trace: the recording.
        schedule: of it.
        gone: bool (n,), the calls that are taken away.
    """
    calls = schedule.calls
    gone = gone & (calls.row >= 0)
    found: dict[int, Intervals] = {}
    for lane in np.unique(calls.lane[gone]).tolist():
        mine = np.flatnonzero(calls.lane == lane)
        begin, taken = calls.begin_ns[mine], np.concatenate(([0], np.cumsum(gone[mine])))
        rows = _operators_around(trace, calls.row[mine[gone[mine]]])
        first = np.searchsorted(begin, trace.start_ns[rows], "left")
        last = np.searchsorted(begin, trace.end_ns[rows], "left")
        rows = rows[taken[last] - taken[first] == last - first]
        found[lane] = union(trace.start_ns[rows], trace.end_ns[rows])
    return found


def _operators_around(trace: Trace, rows: NDArray[np.int32]) -> NDArray[np.int64]:
    """All operators around some calls."""
    found = []
    up = np.unique(trace.parent[rows])
    while len(up := up[up >= 0]):
        found.append(up[trace.kind[up] == SliceKind.CPU_OP])
        up = np.unique(trace.parent[up])
    return np.unique(np.concatenate(found)).astype(np.int64) if found else np.empty(0, np.int64)
