"""From a backward operator to the forward operator that it differentiates.

Backward runs on autograd's own threads, where no Python stack leads to the model. Profilers
draw a flow (category ``fwdbwd``) from the forward operator to the backward one; its ends lie
inside the two operators.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

_START, _FINISH = 0, 2


@dataclass(frozen=True, slots=True)
class _Arrows:
    """Where each backward end came from, sorted by lane, then time."""

    lane: NDArray[np.int32]
    time_ns: NDArray[np.int64]
    from_lane: NDArray[np.int32]
    from_ns: NDArray[np.int64]


_KNOWN: WeakKeyDictionary[Trace, _Arrows] = WeakKeyDictionary()


def forward_of(trace: Trace, row: int) -> int:
    """The forward operator behind a slice of a backward thread.

    Args:
        trace: the recording.
        row: any slice; the operators around it are tried, innermost first.

    Returns:
        A trace row, or -1 where no flow leads forward.
    """
    arrows = _arrows(trace)
    if not len(arrows.time_ns):
        return -1
    for around in (row, *trace.enclosing(row)):
        if trace.kind[around] == SliceKind.CPU_OP:
            found = _behind(trace, arrows, around)
            if found >= 0:
                return found
    return -1


def forward_rows(trace: Trace, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """As :func:`forward_of` for many operators, by the arrow into the outermost one around each.

    Args:
        trace: the recording.
        rows: int64 (n,), operators of backward threads.

    Returns:
        int64 (n,), trace rows; -1 where no flow leads forward.
    """
    found = np.full(len(rows), -1, np.int64)
    arrows = _arrows(trace)
    if not len(arrows.time_ns) or not len(rows):
        return found
    outer, up = rows.copy(), trace.parent[rows].astype(np.int64)
    while (up >= 0).any():
        inside = (up >= 0) & (trace.kind[np.maximum(up, 0)] == SliceKind.CPU_OP)
        outer[inside] = up[inside]
        up = np.where(up >= 0, trace.parent[np.maximum(up, 0)], -1).astype(np.int64)
    for lane in np.unique(trace.lane_id[outer]).tolist():
        low, high = np.searchsorted(arrows.lane, [lane, lane + 1])
        mine = np.flatnonzero(trace.lane_id[outer] == lane)
        times = arrows.time_ns[low:high]
        if not len(times):
            continue
        at = np.searchsorted(times, trace.start_ns[outer[mine]], "left")
        hit = (at < len(times)) & (
            times[np.minimum(at, len(times) - 1)] <= trace.end_ns[outer[mine]]
        )
        index = int(low) + at[hit]
        found[mine[hit]] = _operators_at(trace, arrows.from_lane[index], arrows.from_ns[index])
    return found


def _operators_at(
    trace: Trace, lanes: NDArray[np.int32], times: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The innermost operator of a lane that covers each instant: int64 (n,), -1 for none."""
    row = np.full(len(lanes), -1, np.int64)
    for lane in np.unique(lanes[lanes >= 0]).tolist():
        first, last = int(trace.lane_rows[lane]), int(trace.lane_rows[lane + 1])
        here = lanes == lane
        at = first + np.searchsorted(trace.start_ns[first:last], times[here], "right") - 1
        row[here] = np.where(at >= first, at, -1)
    while True:
        safe = np.maximum(row, 0)
        covers = (trace.kind[safe] == SliceKind.CPU_OP) & (trace.end_ns[safe] >= times)
        climb = (row >= 0) & ~covers
        if not climb.any():
            return row
        row[climb] = trace.parent[row[climb]]


def _arrows(trace: Trace) -> _Arrows:
    found = _KNOWN.get(trace)
    if found is None:
        found = _KNOWN[trace] = _join_ends(trace)
    return found


def _join_ends(trace: Trace) -> _Arrows:
    flows = trace.flows
    names = [i for i, text in enumerate(trace.strings) if text in ("fwdbwd", "forward_backward")]
    mine = among(flows.category_id, names)
    starts = np.flatnonzero(mine & (flows.phase == _START))
    ends = np.flatnonzero(mine & (flows.phase == _FINISH))
    starts = starts[np.argsort(flows.id[starts], kind="stable")]
    at = np.searchsorted(flows.id[starts], flows.id[ends], "left")
    at = np.minimum(at, max(len(starts) - 1, 0))
    joined = flows.id[starts][at] == flows.id[ends] if len(starts) else np.zeros(len(ends), bool)
    ends, source = ends[joined], starts[at[joined]] if len(starts) else ends[joined]
    order = np.lexsort((flows.time_ns[ends], flows.lane_id[ends]))
    ends, source = ends[order], source[order]
    return _Arrows(
        flows.lane_id[ends], flows.time_ns[ends], flows.lane_id[source], flows.time_ns[source]
    )


def _behind(trace: Trace, arrows: _Arrows, row: int) -> int:
    """The operator that the first arrow into a slice comes from."""
    lane = int(trace.lane_id[row])
    low, high = np.searchsorted(arrows.lane, [lane, lane + 1])
    times = arrows.time_ns[low:high]
    at = int(np.searchsorted(times, trace.start_ns[row], "left"))
    if at >= len(times) or times[at] > trace.end_ns[row]:
        return -1
    index = int(low) + at
    return _operator_at(trace, int(arrows.from_lane[index]), int(arrows.from_ns[index]))


def _operator_at(trace: Trace, lane: int, time: int) -> int:
    """The innermost operator of a lane that covers an instant, or -1."""
    if lane < 0:
        return -1
    first, last = int(trace.lane_rows[lane]), int(trace.lane_rows[lane + 1])
    row = first + int(np.searchsorted(trace.start_ns[first:last], time, "right")) - 1
    while row >= first:
        if trace.kind[row] == SliceKind.CPU_OP and trace.end_ns[row] >= time:
            return row
        row = int(trace.parent[row])
    return -1
