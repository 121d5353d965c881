"""How a kernel of a recording was launched, whichever event tells it."""

from __future__ import annotations

from typing import Final

from whichlayer.analysis.kernels.occupancy import LaunchShape
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

#: Its grid counts work-items, not workgroups (HIP's documentation of the call).
_IN_THREADS: Final = "hipExtModuleLaunchKernel"
_KERNEL: Final = int(SliceKind.KERNEL)


class LaunchShapes:
    """Reads launches of a recording, each distinct one once."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._read: dict[tuple[int, bool], LaunchShape | None] = {}

    def of(self, row: int, vendor: str) -> LaunchShape | None:
        """Grid, block and resources of a kernel; None where they are not recorded.

        On AMD they stand with the launch, in newer recordings with the kernel too, and only the
        launch tells whether the grid counts workgroups.
        """
        trace = self._trace
        if trace.kind[row] != _KERNEL:
            return None
        detail = int(trace.detail_id[row])
        if vendor != "amd":
            return self._shape(detail, in_threads=False)
        launch = int(trace.launch[row])
        if launch < 0:
            return None
        if "grid" not in trace.detail_by_id(detail):
            detail = int(trace.detail_id[launch])
        return self._shape(detail, in_threads=trace.name(launch) == _IN_THREADS)

    def _shape(self, detail: int, *, in_threads: bool) -> LaunchShape | None:
        key = detail, in_threads
        if key not in self._read:
            found = LaunchShape.from_detail(self._trace.detail_by_id(detail), in_threads=in_threads)
            self._read[key] = found
        return self._read[key]
