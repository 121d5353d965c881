"""Gaps that nobody is charged with, for a time beside them is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from whichlayer.analysis.gaps.calibrate import Calibration
from whichlayer.analysis.trace.columns import Trace


@dataclass(frozen=True, slots=True)
class Doubtful:
    """Which gaps of one device lie beside a time that is wrong.

    Attributes:
        rows: trace rows of activities with odd times.
        ends: the same by their end.
        trusted: kernels and launches can be compared at all.
    """

    rows: frozenset[int]
    ends: Mapping[int, int]
    trusted: bool

    @classmethod
    def of(cls, trace: Trace, calibration: Calibration) -> Doubtful:
        """Those of a device."""
        rows = calibration.odd.tolist()
        ends = {int(trace.end_ns[row]): row for row in rows}
        return cls(frozenset(rows), ends, calibration.trusted)

    def beside(self, start_ns: int, next_row: int) -> bool:
        """Whether what is idle from here until an activity (-1 for none) is unknown."""
        return not self.trusted or self.culprit(start_ns, next_row) >= 0

    def culprit(self, start_ns: int, next_row: int) -> int:
        """The row whose time is wrong, -1 where it is no single one's."""
        if next_row in self.rows:
            return next_row
        return self.ends.get(start_ns, -1)
