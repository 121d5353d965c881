"""From idle pieces to causes: the next activity's launch, then the thread that made it.

What overlaps a gap never explains it. The piece ends when activity K starts; K's launch L
either began after the piece did (the host was late: what kept its thread is the cause) or
before (the device made K wait). All pieces of a device are looked at together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.gaps.after_launch import AfterLaunch
from whichlayer.analysis.gaps.calibrate import Calibration
from whichlayer.analysis.gaps.catalogue import cause_code
from whichlayer.analysis.gaps.composite import Drivers
from whichlayer.analysis.gaps.host import Marks
from whichlayer.analysis.gaps.late_host import LateHost
from whichlayer.analysis.gaps.part import Parts
from whichlayer.analysis.intervals import Intervals
from whichlayer.analysis.trace.columns import Trace

Int64 = NDArray[np.int64]


class Walk:
    """Explains the idle pieces of one device."""

    def __init__(
        self,
        trace: Trace,
        activities: Activities,
        calibration: Calibration,
        marks: Marks,
        drivers: Drivers,
    ) -> None:
        """Prepare one device."""
        self._trace = trace
        self._activities = activities
        self._late_host = LateHost(trace, activities, drivers)
        self._after_launch = AfterLaunch(trace, activities, calibration, marks, drivers)
        self._unknown, self._latency = cause_code("unattributed"), cause_code("launch-latency")

    def explain(self, piece: Int64, start: Int64, end: Int64, following: Int64) -> Parts:
        """The parts of idle pieces.

        Args:
            piece: int64 (n,), a number of each, ascending.
            start: int64 (n,), of each, in order of time.
            end: int64 (n,), of each.
            following: int64 (n,), the activity that ends each; the number of activities for
                the idle after the last, which what a thread did explains.
        """
        trace, known = self._trace, following < len(self._activities)
        launch = np.full(len(piece), -1, np.int64)
        launch[known] = self._activities.launch[following[known]]
        linked = launch >= 0
        began = np.where(linked, trace.start_ns[launch], end)
        lane = np.where(linked, trace.lane_id[launch], -1).astype(np.int64)
        if trace.host_steps:
            lane[~known] = trace.host_steps[-1].lane_id
        lost = lane < 0
        late = (began > start) & ~lost
        late_end = np.minimum(began, end)
        waits = linked & (began < end)
        launched = self._after_launch.parts(
            piece[waits], start[waits], end[waits], following[waits], launch[waits]
        )
        only = launched.cause == self._latency
        latency = Intervals(launched.start_ns[only], launched.end_ns[only])
        thread = lane[late]
        return Parts.together(
            [
                Parts.of(piece[lost], start[lost], end[lost], self._unknown, -1),
                self._late_host.parts(piece[late], start[late], late_end[late], thread, latency),
                launched,
            ]
        ).joined()


def next_activity(activities: Activities, end: NDArray[np.int64]) -> NDArray[np.int64]:
    """Index of the activity that ends each idle piece; ``len(activities)`` for none."""
    return np.asarray(np.searchsorted(activities.start_ns, end, "left"), np.int64)
