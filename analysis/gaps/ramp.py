"""What drained the queue pays for the ramp that follows.

After a sync or a wait the queue is empty, and the next launches arrive a little late although
the host only dispatches. Without the wait the host would have been ahead by as long as it
waited while the device worked: that lead is the wait's *credit*. Late dispatch is charged to
the latest wait with credit left, until the credit is spent or the host is ahead again (a
launch call returned while the device was still busy); what is left is launch-bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.gaps.catalogue import cause_code
from whichlayer.analysis.gaps.composite import Drivers
from whichlayer.analysis.gaps.part import Part
from whichlayer.analysis.intervals import Measure, union
from whichlayer.analysis.trace.columns import Trace

#: States of the host after which the queue may be empty.
DRAINS = (
    "allocator",
    "cpu-operator",
    "dataloader-wait",
    "h2d-pageable",
    "host-sync",
    "module-load",
    "python-overhead",
)


@dataclass(slots=True)
class _Debt:
    """A wait and how much of the lead that it cost has not been charged yet."""

    start_ns: int
    end_ns: int
    cause: int
    row: int
    left_ns: int


class Ramp:
    """Charges late dispatch of one device; ``charge`` must be called in order of time."""

    def __init__(self, trace: Trace, activities: Activities, drivers: Drivers) -> None:
        """Find when the host was ahead; waits are looked up when first needed."""
        self._drivers = drivers
        self._busy = Measure(union(activities.start_ns, activities.end_ns))
        self._ahead = _launches_ahead(trace, activities)
        self._waits: dict[int, list[_Debt]] = {}
        self._next: dict[int, int] = {}
        self._open: dict[int, list[_Debt]] = {}

    def charge(self, lane: int, start: int, end: int, dispatch: int, row: int) -> Iterator[Part]:
        """Split late dispatch ``[start, end)`` of a thread between waits and dispatch."""
        open_ = self._collect(lane, start)
        at = start
        while open_ and at < end:
            debt = open_[-1]
            paid = min(debt.left_ns, end - at)
            if paid > 0:
                yield Part(at, at + paid, debt.cause, debt.row)
                debt.left_ns -= paid
                at += paid
            if debt.left_ns <= 0:
                open_.pop()
        if at < end:
            yield Part(at, end, dispatch, row)

    def _collect(self, lane: int, time: int) -> list[_Debt]:
        """Waits of a thread that ended by now and after the host was last ahead."""
        waits = self._waits.get(lane)
        if waits is None:
            waits = self._waits[lane] = self._waits_of(lane)
            self._next[lane], self._open[lane] = 0, []
        open_, index = self._open[lane], self._next[lane]
        while index < len(waits) and waits[index].end_ns <= time:
            open_.append(waits[index])
            index += 1
        self._next[lane] = index
        seen = int(np.searchsorted(self._ahead, time, "right"))
        if seen:
            since = int(self._ahead[seen - 1])
            while open_ and open_[0].start_ns < since:
                open_.pop(0)
        return open_

    def _waits_of(self, lane: int) -> list[_Debt]:
        states = self._drivers.states(lane)
        if not len(states.start_ns):
            return []
        begin = states.start_ns
        finish = np.append(begin[1:], begin[-1])
        draining = np.isin(states.drain, [cause_code(rule) for rule in DRAINS])
        credit = self._busy.between(begin, finish)
        keep = np.flatnonzero(draining & (credit > 0))
        return [
            _Debt(
                int(begin[i]),
                int(finish[i]),
                int(states.drain[i]),
                int(states.row[i]),
                int(credit[i]),
            )
            for i in keep.tolist()
        ]


def _launches_ahead(trace: Trace, activities: Activities) -> NDArray[np.int64]:
    """Sorted start times of launch calls that returned while earlier work still ran."""
    if not len(activities):
        return np.empty(0, np.int64)
    reach = np.maximum.accumulate(activities.end_ns)
    before = np.concatenate((activities.start_ns[:1], reach[:-1]))
    launch = activities.launch
    ahead = (launch >= 0) & (trace.end_ns[launch] <= before)
    # The later kernels of a graph say nothing about the host.
    _, first = np.unique(launch, return_index=True)
    leads = np.zeros(len(launch), bool)
    leads[first] = True
    return np.sort(trace.start_ns[launch[ahead & leads]])
