"""What drained the queue pays for the ramp that follows.

After a sync or a wait the queue is empty, and the next launches arrive a little late although
the host only dispatches. Without the wait the host would have been ahead by as long as it
waited while the device worked: that lead is the wait's *credit*. Late dispatch is charged to
the latest wait with credit left; what is left over is launch-bound. A lead ends when

* late dispatch has spent it, and the latency of launches into an idle device: with the host
  ahead by as much, neither would have been there,
* a later stall has eaten it: the device idled through the stall all the same,
* the host waits for the device again, for another reason, or is held by a full queue: from
  there on it is where it would have been anyway.

An optimizer's loop over its tensors pays for itself first, by as much as the host takes longer
for it than the device: so much of any lead the loop alone would have eaten.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.catalogue import cause_code
from whichlayer.analysis.gaps.composite import Drivers
from whichlayer.analysis.gaps.optimizers import own_time
from whichlayer.analysis.gaps.part import Part
from whichlayer.analysis.intervals import Intervals, Measure, union
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

#: States of the host after which the queue may be empty.
DRAINS = (
    "allocator",
    "cpu-operator",
    "dataloader-wait",
    "gc-pause",
    "graph-break",
    "h2d-pageable",
    "host-sync",
    "module-load",
    "python-overhead",
    "recompile",
)


#: Of these, the ones that wait for the device and so undo any earlier lead.
_WAITS = ("h2d-pageable", "host-sync")
#: A launch call is held by a full queue if it lasts this long under a busy device.
FULL_QUEUE_NS = 100_000


@dataclass(slots=True)
class _Credit:
    """A wait and how much of the lead that it cost has not been spent yet.

    ``latency_ns`` is how much launch latency the device had idled through until its end.
    """

    end_ns: int
    cause: int
    row: int
    left_ns: int
    latency_ns: int


class Ramp:
    """Charges late dispatch of one device; must be asked in order of time."""

    def __init__(
        self, trace: Trace, activities: Activities, drivers: Drivers, latency: Intervals
    ) -> None:
        """Find when the queue was full; waits are looked up when first needed.

        Args:
            trace: the recording.
            activities: of the device.
            drivers: what the threads did.
            latency: when the device was idle for the latency of a launch alone.
        """
        self._drivers = drivers
        self._latency = Measure(latency)
        self._spent_latency = 0
        self._busy = Measure(union(activities.start_ns, activities.end_ns))
        self._full = _full_queue_times(trace, activities).tolist()
        self._drains = [cause_code(rule) for rule in DRAINS]
        self._waits = [cause_code(rule) for rule in _WAITS]
        # A wait may show on several threads' states; its credit exists once.
        self._credits: dict[tuple[int, int], _Credit] = {}
        self._loop = cause_code("optimizer-loop")
        # When loops begin, and what each has not paid for yet.
        self._loops: dict[int, tuple[list[int], list[int]]] = {}
        self._trace, self._activities = trace, activities
        self._coming: dict[int, list[_Credit]] = {}
        self._open: dict[int, list[_Credit]] = {}

    def charge(
        self, lane: int, start: int, end: int, dispatch: int, row: int, latency: int
    ) -> Iterator[Part]:
        """Split late dispatch ``[start, end)`` of a thread between waits and dispatch.

        Args:
            lane: the thread.
            start: of the stretch.
            end: of the stretch.
            dispatch: the cause of what no wait is charged with.
            row: the slice that explains it.
            latency: how much launch latency the device had idled through until ``start``.
        """
        at = start
        if dispatch == self._loop:
            at += self._paid_by_loop(lane, start, end)
            if at > start:
                self.stall(lane, start, at, dispatch, latency)
                yield Part(start, at, dispatch, row)
        open_ = self._collect(lane, at, latency) if at < end else []
        while open_ and at < end:
            credit = open_[-1]
            paid = min(credit.left_ns, end - at)
            if paid > 0:
                yield Part(at, at + paid, credit.cause, credit.row)
                credit.left_ns -= paid
                at += paid
            if credit.left_ns <= 0:
                open_.pop()
        if at < end:
            yield Part(at, end, dispatch, row)

    def _paid_by_loop(self, lane: int, start: int, end: int) -> int:
        """How much of late dispatch an optimizer's loop pays for itself."""
        if lane not in self._loops:
            loops = self._drivers.loops(lane)
            own = own_time(self._trace, lane, loops, self._activities)
            self._loops[lane] = loops.start_ns.tolist(), own
        begins, left = self._loops[lane]
        at = bisect_right(begins, start) - 1
        if at < 0:
            return 0
        paid = min(left[at], end - start)
        left[at] -= paid
        return paid

    def stall(self, lane: int, start: int, end: int, cause: int, latency: int) -> None:
        """The device idled through a stall: it eats the leads that other causes cost.

        Not those of its own cause: without the cause this stall is gone as well. Arguments as of
        :meth:`charge`.
        """
        amount = end - start
        for credit in reversed(self._collect(lane, start, latency)):
            if amount <= 0:
                return
            if credit.cause != cause:
                eaten = min(credit.left_ns, amount)
                credit.left_ns -= eaten
                amount -= eaten

    def _collect(self, lane: int, time: int, latency: int) -> list[_Credit]:
        """Credits of a thread from waits that have ended, latest last."""
        if lane not in self._coming:
            self._coming[lane] = self._credits_of(lane)[::-1]
            self._open[lane] = []
        coming, open_ = self._coming[lane], self._open[lane]
        while coming and coming[-1].end_ns <= time:
            credit = coming.pop()
            self._spend_latency(open_, credit.latency_ns)
            if credit.cause in self._waits:
                open_[:] = [other for other in open_ if other.cause == credit.cause]
            open_.append(credit)
        self._spend_latency(open_, latency)
        seen = bisect_right(self._full, time) if open_ else 0
        if seen:
            since = self._full[seen - 1]
            open_[:] = [credit for credit in open_ if credit.end_ns > since]
        return open_

    def _spend_latency(self, open_: list[_Credit], until: int) -> None:
        """The device has idled through this much launch latency: leads would have hidden it."""
        amount = until - self._spent_latency
        if amount <= 0:
            return
        self._spent_latency = until
        for credit in reversed(open_):
            paid = min(credit.left_ns, amount)
            credit.left_ns -= paid
            amount -= paid
            if amount <= 0:
                return

    def _credits_of(self, lane: int) -> list[_Credit]:
        states = self._drivers.states(lane)
        if not len(states.start_ns):
            return []
        begin = states.start_ns
        finish = np.append(begin[1:], begin[-1])
        lead = self._busy.between(begin, finish)
        keep = np.flatnonzero(among(states.drain, self._drains) & (lead > 0))
        latency = self._latency.until(finish[keep]).tolist()
        found = []
        for i, until in zip(keep.tolist(), latency, strict=True):
            row, end = int(states.row[i]), int(finish[i])
            made = _Credit(end, int(states.drain[i]), row, int(lead[i]), until)
            found.append(self._credits.setdefault((row, end), made))
        return found


def _full_queue_times(trace: Trace, activities: Activities) -> NDArray[np.int64]:
    """Sorted ends of launch calls that a full queue held: long calls under a busy device."""
    if not len(activities):
        return np.empty(0, np.int64)
    reach = np.maximum.accumulate(activities.end_ns)
    before = np.concatenate((activities.start_ns[:1], reach[:-1]))
    launch = activities.launch
    linked = launch >= 0
    length = trace.end_ns[launch] - trace.start_ns[launch]
    # Copies wait for other reasons, and a graph's launch is long by itself.
    kernel = trace.kind[activities.row] == SliceKind.KERNEL
    once = np.concatenate(([True], launch[1:] != launch[:-1]))
    held = linked & kernel & once & (length > FULL_QUEUE_NS) & (trace.end_ns[launch] <= before)
    return np.sort(trace.end_ns[launch[held]])
