"""Gaps that nobody is charged with, for a time beside them is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.calibrate import Calibration
from whichlayer.analysis.trace.columns import Trace

Int32 = NDArray[np.int32]


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

    def culprits(self, start_ns: NDArray[np.int64], next_row: NDArray[np.int32]) -> Int32:
        """The row whose time is wrong beside each idle piece, -1 where it is no single one's.

        Args:
            start_ns: int64 (n,), since when it is idle.
            next_row: int32 (n,), the activity that ends it, -1 for none.
        """
        found = np.full(len(start_ns), -1, np.int32)
        if self.rows:
            after = among(start_ns, list(self.ends))
            found[after] = [self.ends[time] for time in start_ns[after].tolist()]
            before = among(next_row, list(self.rows))
            found[before] = next_row[before]
        return found
