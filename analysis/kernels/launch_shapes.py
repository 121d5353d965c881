"""How a kernel of a recording was launched, whichever event tells it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.kernels.occupancy import LaunchShape
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Int64 = NDArray[np.int64]

#: Its grid counts work-items, not workgroups (HIP's documentation of the call).
_IN_THREADS: Final = "hipExtModuleLaunchKernel"
_KERNEL: Final = int(SliceKind.KERNEL)


class LaunchShapes:
    """Reads launches of a recording, each distinct one once."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._read: dict[tuple[int, bool], LaunchShape | None] = {}

    def of(self, rows: Int64, vendors: Sequence[str]) -> list[LaunchShape | None]:
        """Grid, block and resources of kernels; None where they are not recorded.

        On AMD they stand with the launch, in newer recordings with the kernel too, and only the
        launch tells whether the grid counts workgroups.

        Args:
            rows: int (n,), trace rows of the kernels.
            vendors: of the device of each.
        """
        trace = self._trace
        columns = zip(
            vendors, (trace.kind[rows] == _KERNEL).tolist(), trace.detail_id[rows].tolist(),
            trace.launch[rows].tolist(), strict=True,
        )  # fmt: skip
        found: list[LaunchShape | None] = []
        for vendor, kernel, detail, launch in columns:
            if not kernel:
                found.append(None)
            elif vendor == "amd":
                found.append(self._of_launch(detail, launch))
            else:
                found.append(self._shape(detail, False))
        return found

    def _of_launch(self, detail: int, launch: int) -> LaunchShape | None:
        trace = self._trace
        if launch < 0:
            return None
        if "grid" not in trace.detail_by_id(detail):
            detail = int(trace.detail_id[launch])
        return self._shape(detail, trace.name(launch) == _IN_THREADS)

    def _shape(self, detail: int, in_threads: bool) -> LaunchShape | None:
        key = detail, in_threads
        if key not in self._read:
            found = LaunchShape.from_detail(self._trace.detail_by_id(detail), in_threads=in_threads)
            self._read[key] = found
        return self._read[key]
