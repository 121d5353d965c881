"""The table of gap pieces of a window, over all devices."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.accounting import Instant, Partition
from whichlayer.analysis.activities import Activities
from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.blocking import causes_of_copies
from whichlayer.analysis.gaps.calibrate import Calibration
from whichlayer.analysis.gaps.catalogue import cause_code, cause_ids, cause_rules
from whichlayer.analysis.gaps.composite import Drivers
from whichlayer.analysis.gaps.doubtful import Doubtful
from whichlayer.analysis.gaps.host import Marks
from whichlayer.analysis.gaps.part import Parts
from whichlayer.analysis.gaps.walk import Walk, next_activity
from whichlayer.analysis.results import GapKind, Gaps
from whichlayer.analysis.trace.columns import Trace

Int32 = NDArray[np.int32]


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
        self._found: list[Gaps] = []

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
        low, high = bounds
        told = cut.what != Instant.COMPUTE
        told &= (cut.what != Instant.IDLE) | (cut.end_ns - cut.start_ns > calibration.floor_ns)
        at = np.flatnonzero(told)
        pieces = Partition(cut.start_ns[at], cut.end_ns[at], cut.what[at], cut.owner[at])
        is_idle = pieces.what == Instant.IDLE
        walk = Walk(self._trace, activities, calibration, self._marks, self.drivers)
        idle = self._idle(activities, walk, Doubtful.of(self._trace, calibration), pieces)
        exposed = self._exposed(activities, pieces, np.flatnonzero(~is_idle))
        parts = Parts.together([idle, exposed])
        start, end = np.maximum(parts.start_ns, low), np.minimum(parts.end_ns, high)
        kept = end > start
        parts = parts.chosen(kept)
        next_row, launch, kind = self._told_of(activities, pieces, parts)
        self._found.append(
            Gaps(
                start_ns=start[kept],
                end_ns=end[kept],
                device=np.full(len(parts), index, np.int32),
                kind=kind,
                cause=parts.cause,
                layer=_layers()[parts.cause],
                next_row=next_row,
                launch_row=launch,
                culprit_row=parts.culprit,
                rule_ids=cause_ids(),
            )
        )

    def _idle(
        self, activities: Activities, walk: Walk, doubtful: Doubtful, pieces: Partition
    ) -> Parts:
        """The parts of idle pieces."""
        at = np.flatnonzero(pieces.what == Instant.IDLE)
        start, end = pieces.start_ns[at], pieces.end_ns[at]
        following = next_activity(activities, end)
        odd = doubtful.culprits(start, np.append(activities.row, np.int32(-1))[following])
        trusted = (odd < 0) & doubtful.trusted
        given_up = Parts.of(
            at[~trusted], start[~trusted], end[~trusted], cause_code("unattributed"), odd[~trusted]
        )
        walked = walk.explain(at[trusted], start[trusted], end[trusted], following[trusted])
        return Parts.together([given_up, walked])

    def _exposed(self, activities: Activities, pieces: Partition, at: NDArray[np.intp]) -> Parts:
        """What pieces are in which nothing but communication or copies run."""
        owner = pieces.owner[at]
        row = activities.row[owner]
        cause = np.full(len(at), cause_code("exposed-comm"), np.int32)
        spins = among(row, list(self._marks.receives))
        cause[spins] = cause_code("pipeline-bubble")
        copies = activities.role[owner] != Instant.COMM
        cause[copies] = causes_of_copies(
            self._trace, self._marks.blocking, row[copies], activities.launch[owner[copies]]
        )
        return Parts.of(at, pieces.start_ns[at], pieces.end_ns[at], cause, row)

    def _told_of(
        self, activities: Activities, pieces: Partition, parts: Parts
    ) -> tuple[Int32, Int32, NDArray[np.uint8]]:
        """The row of what comes next, or runs, with each part; its launch; and the kind of gap."""
        owner = pieces.owner[parts.piece]
        idle = owner < 0
        index = np.where(idle, next_activity(activities, pieces.end_ns[parts.piece]), owner)
        role = np.append(activities.role, np.uint8(0))[index]
        communicates = np.where(
            role == Instant.COMM, int(GapKind.EXPOSED_COMM), int(GapKind.EXPOSED_COPY)
        )
        kind = np.where(idle, int(GapKind.IDLE), communicates).astype(np.uint8)
        none = np.int32(-1)
        row, launch = np.append(activities.row, none), np.append(activities.launch, none)
        return row[index], launch[index], kind

    def table(self) -> Gaps:
        """Everything added so far, sorted by device, then start."""
        found = self._found or [_no_gaps()]
        names = [field.name for field in fields(Gaps) if field.name != "rule_ids"]
        columns = {name: np.concatenate([getattr(gaps, name) for gaps in found]) for name in names}
        return Gaps(**columns, rule_ids=cause_ids())


def _layers() -> NDArray[np.uint8]:
    """The layer of each cause: uint8 (causes,)."""
    return np.array([rule.layer for rule in cause_rules().values()], np.uint8)


def _no_gaps() -> Gaps:
    times, codes = np.empty(0, np.int64), np.empty(0, np.int32)
    kinds = np.empty(0, np.uint8)
    return Gaps(times, times, codes, kinds, codes, kinds, codes, codes, codes, cause_ids())
