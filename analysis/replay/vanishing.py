"""Operators that do nothing else than what is taken away.

With an operator goes the pause before it: of n operators in a row there are n pauses, and one
less without one of them. Only what is ordinary dispatch of it counts, which the caller knows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.intervals import Intervals, union
from whichlayer.analysis.replay.schedule import Bool, Schedule
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind


def vanishing_operators(trace: Trace, schedule: Schedule, gone: Bool) -> dict[int, Intervals]:
    """By thread, when it was in operators (``item``, say) all of whose calls are taken away.

    Each stretch begins where the operator or call before has ended, or the one around it begun.

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
        since = _last_edge(trace, lane, trace.start_ns[rows])
        found[lane] = union(since, trace.end_ns[rows])
    return found


def _last_edge(trace: Trace, lane: int, instants: NDArray[np.int64]) -> NDArray[np.int64]:
    """When the thread last entered or left an operator or a call before each: int64 (n,)."""
    span = slice(*trace.lane_rows[lane : lane + 2].tolist())
    mine = (trace.kind[span] == SliceKind.CPU_OP) | (trace.kind[span] == SliceKind.RUNTIME)
    # Its own beginning is no edge before it.
    edges = np.sort(np.concatenate((trace.start_ns[span][mine] + 1, trace.end_ns[span][mine])))
    at = np.searchsorted(edges, instants, "right") - 1
    return np.asarray(np.where(at >= 0, edges[np.maximum(at, 0)], instants), np.int64)


def _operators_around(trace: Trace, rows: NDArray[np.int32]) -> NDArray[np.int64]:
    """All operators around some calls."""
    found = []
    up = np.unique(trace.parent[rows])
    while len(up := up[up >= 0]):
        found.append(up[trace.kind[up] == SliceKind.CPU_OP])
        up = np.unique(trace.parent[up])
    return np.unique(np.concatenate(found)).astype(np.int64) if found else np.empty(0, np.int64)
