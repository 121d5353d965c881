"""Activities that have no launch although the file holds a call with their number.

Their launch may be recorded, so that "it is not in the file" would be wrong of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.trace.columns import Bool, Trace
from whichlayer.analysis.trace.kinds import GPU_WORK, LaneKind, SliceKind


class Undecided(NamedTuple):
    """Why activities have no launch.

    Attributes:
        shared: bool (n,), calls of several processes have the number.
        foreign: bool (n,), just calls of one process have it, which nearly nothing else of the
            activity's stream is of.
    """

    shared: Bool
    foreign: Bool

    @property
    def any(self) -> Bool:
        """Which launches cannot be told, bool (n,)."""
        return self.shared | self.foreign


def undecided(trace: Trace, rows: NDArray[np.integer]) -> Undecided:
    """Which activities have the number of a call and yet no launch.

    Args:
        trace: the recording.
        rows: int (n,), any rows.
    """
    none = np.zeros(len(rows), np.bool_)
    names = {lane.pid for lane in trace.lanes if lane.kind == LaneKind.CPU_THREAD}
    alone = among(trace.kind[rows], GPU_WORK) & (trace.launch[rows] < 0)
    if len(names) < 2 or not alone.any():
        return Undecided(none, none)
    number = _numbers(trace)
    alone &= number[rows] > 0
    calls = np.flatnonzero(trace.kind == SliceKind.RUNTIME)
    calls = calls[among(number[calls], number[rows[alone]])]
    order = {name: index for index, name in enumerate(names)}
    process = np.array([order.get(lane.pid, -1) for lane in trace.lanes], np.int64)
    whose = process[trace.lane_id[calls]]
    pairs = np.unique(np.stack((number[calls], whose)), axis=1)
    has, times = np.unique(pairs[0], return_counts=True)
    shared = alone & among(number[rows], has[times > 1])
    return Undecided(shared, alone & among(number[rows], has[times == 1]))


def _numbers(trace: Trace) -> NDArray[np.int64]:
    """What activities and calls were joined by."""
    on_gpu = among(trace.kind, GPU_WORK)
    if bool((trace.correlation[on_gpu] > 0).any()):
        return trace.correlation
    return trace.external_id
