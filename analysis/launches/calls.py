"""The launch calls of one device: when each was made, when its work began and when it was done."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.results import Kernels
from whichlayer.analysis.trace.columns import Trace

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class LaunchCalls:
    """What the host asked of one device, a row per call, sorted by the start of its work.

    Attributes:
        row: int32 (n,), trace row of the call.
        start_ns: int64 (n,), start of the call.
        first_ns: int64 (n,), start of the first activity that it launched.
        done_ns: int64 (n,), end of the last one.
        activities: int64 (n,), how many it launched: one, or all of a graph.
        unlinked: activities of the device whose call is not in the recording.
    """

    row: Int32
    start_ns: Int64
    first_ns: Int64
    done_ns: Int64
    activities: Int64
    unlinked: int

    def __len__(self) -> int:
        return len(self.row)

    @property
    def delay_ns(self) -> Int64:
        """From the start of each call to the start of its work.

        Negative where the clocks of host and device disagree by more than the delay.
        """
        return self.first_ns - self.start_ns

    @property
    def queued_ns(self) -> Int64:
        """When each call counts as queued: at its start, or with its work under clock skew."""
        return np.minimum(self.start_ns, self.first_ns)

    def begun_in(self, low_ns: int, high_ns: int) -> slice:
        """The calls whose work begins in ``[low, high)``."""
        first, stop = np.searchsorted(self.first_ns, (low_ns, high_ns), "left").tolist()
        return slice(first, max(first, stop))


def launch_calls(trace: Trace, activities: Kernels, device: int) -> LaunchCalls:
    """The launch calls of a device over the whole recording.

    Args:
        trace: the recording.
        activities: ``Analysis.activities``.
        device: index into ``Analysis.devices``.
    """
    mine = np.flatnonzero(activities.device == device)
    launch = trace.launch[activities.row[mine]]
    linked = launch >= 0
    mine, launch = mine[linked], launch[linked]
    order = np.argsort(launch, kind="stable")
    mine, launch = mine[order], launch[order]
    first = np.flatnonzero(np.concatenate(([True], launch[1:] != launch[:-1]))[: len(launch)])
    row = launch[first]
    if not len(row):
        none = np.empty(0, np.int64)
        return LaunchCalls(row, none, none, none, none, len(linked))
    begun = np.minimum.reduceat(activities.start_ns[mine], first)
    done = np.maximum.reduceat(activities.end_ns[mine], first)
    count = np.diff(np.append(first, len(mine)))
    order = np.argsort(begun, kind="stable")
    return LaunchCalls(
        row[order],
        trace.start_ns[row[order]],
        begun[order],
        done[order],
        count[order].astype(np.int64),
        int((~linked).sum()),
    )
