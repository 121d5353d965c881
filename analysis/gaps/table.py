"""The table of gap pieces of a window, over all devices."""

from __future__ import annotations

import numpy as np

from whichlayer.analysis.accounting import Instant, Partition
from whichlayer.analysis.activities import Activities
from whichlayer.analysis.gaps.blocking import cause_of_copy
from whichlayer.analysis.gaps.calibrate import Calibration
from whichlayer.analysis.gaps.catalogue import cause_code, cause_ids, cause_rules
from whichlayer.analysis.gaps.composite import Drivers
from whichlayer.analysis.gaps.doubtful import Doubtful
from whichlayer.analysis.gaps.host import Marks
from whichlayer.analysis.gaps.part import Part
from whichlayer.analysis.gaps.walk import Walk, next_activity
from whichlayer.analysis.results import GapKind, Gaps
from whichlayer.analysis.trace.columns import Trace

_IDLE = int(Instant.IDLE)


class GapFinder:
    """Finds and explains the gaps of one trace, device by device.

    Attributes:
        drivers: what the launching threads did.
    """

    def __init__(self, trace: Trace, marks: Marks) -> None:
        """Prepare what all devices share: the launching threads."""
        self._trace = trace
        self._marks = marks
        self.drivers = Drivers(trace, marks)
        #: start, end, device, kind, cause, next row, launch row, culprit: by the million.
        self._rows: list[tuple[int, ...]] = []
        self._bounds = (0, 0)

    def add_device(
        self,
        index: int,
        activities: Activities,
        cut: Partition,
        calibration: Calibration,
        bounds: tuple[int, int],
    ) -> None:
        """Explain the gaps of one device and keep what lies inside bounds.

        A gap's cause depends on what came before, so that the same gap has the same cause in
        every window.

        Args:
            index: position of the device in ``Analysis.devices``.
            activities: all of the device's, sorted by start.
            cut: of the whole recording, and of the window where that reaches further.
            calibration: of this device.
            bounds: the part of the window that is not edge.
        """
        self._bounds = bounds
        doubtful = Doubtful.of(self._trace, calibration)
        walk = Walk(self._trace, activities, calibration, self._marks, self.drivers)
        told = cut.what != Instant.COMPUTE
        told &= (cut.what != Instant.IDLE) | (cut.end_ns - cut.start_ns > calibration.floor_ns)
        places = np.flatnonzero(told)
        following = next_activity(activities, cut.end_ns[places]).tolist()
        columns = (cut.start_ns[places], cut.end_ns[places], cut.what[places], cut.owner[places])
        pieces = zip(*(column.tolist() for column in columns), following, strict=True)
        for start, end, what, owner, next_ in pieces:
            if what == _IDLE:
                self._idle(index, activities, walk, doubtful, (start, end), next_)
            else:
                self._exposed(index, activities, (start, end), owner)

    def _idle(
        self,
        index: int,
        activities: Activities,
        walk: Walk,
        doubtful: Doubtful,
        piece: tuple[int, int],
        following: int,
    ) -> None:
        next_row, launch = -1, -1
        if following < len(activities):
            next_row = int(activities.row[following])
            launch = int(activities.launch[following])
        if doubtful.beside(piece[0], next_row):
            odd = doubtful.culprit(piece[0], next_row)
            parts = [Part(*piece, cause_code("unattributed"), odd)]
        elif next_row >= 0:
            parts = walk.explain(*piece, following)
        elif self._trace.host_steps:
            parts = walk.explain_tail(*piece, self._trace.host_steps[-1].lane_id)
        else:
            parts = [Part(*piece, cause_code("unattributed"), -1)]
        for part in parts:
            self._keep(
                part.start_ns, part.end_ns, index, GapKind.IDLE, part.cause, next_row,
                launch, part.culprit,
            )  # fmt: skip

    def _exposed(
        self, index: int, activities: Activities, piece: tuple[int, int], owner: int
    ) -> None:
        row = int(activities.row[owner])
        communicates = activities.role[owner] == Instant.COMM
        kind = GapKind.EXPOSED_COMM if communicates else GapKind.EXPOSED_COPY
        launch = int(activities.launch[owner])
        if communicates:
            cause = "pipeline-bubble" if row in self._marks.receives else "exposed-comm"
        else:
            cause = cause_of_copy(self._trace, self._marks.blocking, row, launch)
        self._keep(*piece, index, kind, cause_code(cause), row, launch, row)

    def _keep(self, start: int, end: int, *rest: int) -> None:
        low, high = self._bounds
        start, end = max(start, low), min(end, high)
        if end > start:
            self._rows.append((start, end, *rest))

    def table(self) -> Gaps:
        """Everything added so far, sorted by device, then start."""
        columns = np.array(self._rows, np.int64).reshape(-1, 8).T
        start, end, device, kind, cause, next_row, launch, culprit = columns
        layers = np.array([rule.layer for rule in cause_rules().values()], np.uint8)
        return Gaps(
            start_ns=start.copy(),
            end_ns=end.copy(),
            device=device.astype(np.int32),
            kind=kind.astype(np.uint8),
            cause=cause.astype(np.int32),
            layer=layers[cause],
            next_row=next_row.astype(np.int32),
            launch_row=launch.astype(np.int32),
            culprit_row=culprit.astype(np.int32),
            rule_ids=cause_ids(),
        )
