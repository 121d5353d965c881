"""Why launches came late: what kept the thread that should have made them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.gaps.catalogue import cause_code
from whichlayer.analysis.gaps.composite import Drivers
from whichlayer.analysis.gaps.during import Stretches
from whichlayer.analysis.gaps.host import Doing
from whichlayer.analysis.gaps.part import Part, Parts
from whichlayer.analysis.gaps.ramp import Ramp
from whichlayer.analysis.intervals import Intervals, Measure
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Int64 = NDArray[np.int64]


class LateHost:
    """What threads did while one device had nothing to do."""

    def __init__(self, trace: Trace, activities: Activities, drivers: Drivers) -> None:
        """Prepare one device."""
        self._trace = trace
        self._activities = activities
        self._drivers = drivers
        # States in which the host only dispatches: who drained the queue pays for them first.
        self._dispatches = {
            int(Doing.DISPATCH): cause_code("launch-bound"),
            cause_code("optimizer-loop"): cause_code("optimizer-loop"),
        }

    def parts(
        self, piece: Int64, start: Int64, end: Int64, lane: Int64, latency: Intervals
    ) -> Parts:
        """The parts of idle stretches, by what a thread did.

        Args:
            piece: int64 (n,), whose parts they are.
            start: int64 (n,), of each stretch, in order of time.
            end: int64 (n,), of each.
            lane: int64 (n,), the thread that should have launched.
            latency: when the device was idle for the latency of a launch alone.
        """
        found = self._drivers.stretches(lane, start, end)
        aside = self._bystanders(found, lane, end)
        cause = found.state.copy()
        for state, charged in self._dispatches.items():
            cause[found.state == state] = charged
        cause[aside] = cause_code("unattributed")
        culprit = np.where(aside, -1, found.row)
        plain = Parts.of(piece[found.which], found.start_ns, found.end_ns, cause, culprit)
        return self._charged(plain, found, lane, aside, latency)

    def _bystanders(self, found: Stretches, lane: Int64, launched: Int64) -> NDArray[np.bool_]:
        """Where a call of another thread went on after the launch: nobody waited for it."""
        trace, row = self._trace, found.row
        other = (row >= 0) & (found.state >= 0) & (trace.lane_id[row] != lane[found.which])
        call = trace.kind[row] != SliceKind.PYTHON
        return np.asarray(other & call & (trace.end_ns[row] > launched[found.which]))

    def _charged(
        self,
        plain: Parts,
        found: Stretches,
        lane: Int64,
        aside: NDArray[np.bool_],
        latency: Intervals,
    ) -> Parts:
        """The same, with late dispatch charged to what drained the queue before.

        What a drain still owes depends on all that came before: one stretch after the other.
        """
        paid: dict[int, list[Part]] = {}
        ramp = Ramp(self._trace, self._activities, self._drivers, latency)
        columns = (lane[found.which], found.start_ns, found.end_ns, found.state, plain.cause)
        idled = Measure(latency).until(found.start_ns)
        told = zip(*(c.tolist() for c in (*columns, found.row, aside, idled)), strict=True)
        for i, (thread, start, end, state, cause, row, is_aside, until) in enumerate(told):
            if is_aside:
                continue
            if state not in self._dispatches:
                ramp.stall(thread, start, end, state, until)
                continue
            parts = list(ramp.charge(thread, start, end, cause, row, until))
            if len(parts) > 1 or parts[0].culprit != row or parts[0].cause != cause:
                paid[i] = parts
        return plain.replaced(paid) if paid else plain
