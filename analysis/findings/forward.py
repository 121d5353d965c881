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


def _arrows(trace: Trace) -> _Arrows:
    found = _KNOWN.get(trace)
    if found is None:
        found = _KNOWN[trace] = _join_ends(trace)
    return found


def _join_ends(trace: Trace) -> _Arrows:
    flows = trace.flows
    names = [i for i, text in enumerate(trace.strings) if text in ("fwdbwd", "forward_backward")]
    mine = np.isin(flows.category_id, names)
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
