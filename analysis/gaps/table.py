"""The table of gap pieces of a window, over all devices."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from whichlayer.analysis.accounting import Instant, Partition
from whichlayer.analysis.activities import Activities
from whichlayer.analysis.gaps.blocking import cause_of_copy
from whichlayer.analysis.gaps.calibrate import Calibration
from whichlayer.analysis.gaps.catalogue import cause_code, cause_ids, cause_rules
from whichlayer.analysis.gaps.composite import Drivers
from whichlayer.analysis.gaps.host import Marks
from whichlayer.analysis.gaps.part import Part
from whichlayer.analysis.gaps.walk import Walk, next_activity
from whichlayer.analysis.results import GapKind, Gaps
from whichlayer.analysis.trace.columns import Trace


@dataclass(slots=True)
class _Rows:
    """Rows of the table while it grows: one list per column."""

    start: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    device: list[int] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)
    cause: list[int] = field(default_factory=list)
    next_row: list[int] = field(default_factory=list)
    launch_row: list[int] = field(default_factory=list)
    culprit: list[int] = field(default_factory=list)

    def add(self, *values: int) -> None:
        columns = (
            self.start,
            self.end,
            self.device,
            self.kind,
            self.cause,
            self.next_row,
            self.launch_row,
            self.culprit,
        )
        for column, value in zip(columns, values, strict=True):
            column.append(value)


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
        self._rows = _Rows()
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
        walk = Walk(self._trace, activities, calibration, self._marks, self.drivers)
        following = next_activity(activities, cut.end_ns).tolist()
        columns = (cut.start_ns.tolist(), cut.end_ns.tolist(), cut.what.tolist())
        for i, (start, end, what) in enumerate(zip(*columns, strict=True)):
            if what == Instant.IDLE:
                if end - start > calibration.floor_ns:
                    self._idle(index, activities, walk, (start, end), following[i])
            elif what != Instant.COMPUTE:
                self._exposed(index, activities, (start, end), int(cut.owner[i]))

    def _idle(
        self,
        index: int,
        activities: Activities,
        walk: Walk,
        piece: tuple[int, int],
        following: int,
    ) -> None:
        next_row, launch = -1, -1
        if following < len(activities):
            next_row = int(activities.row[following])
            launch = int(activities.launch[following])
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
            self._rows.add(start, end, *rest)

    def table(self) -> Gaps:
        """Everything added so far, sorted by device, then start."""
        rows = self._rows
        cause = np.array(rows.cause, np.int32)
        layers = np.array([rule.layer for rule in cause_rules().values()], np.uint8)
        return Gaps(
            start_ns=np.array(rows.start, np.int64),
            end_ns=np.array(rows.end, np.int64),
            device=np.array(rows.device, np.int32),
            kind=np.array(rows.kind, np.uint8),
            cause=cause,
            layer=layers[cause] if len(cause) else np.empty(0, np.uint8),
            next_row=np.array(rows.next_row, np.int32),
            launch_row=np.array(rows.launch_row, np.int32),
            culprit_row=np.array(rows.culprit, np.int32),
            rule_ids=cause_ids(),
        )
