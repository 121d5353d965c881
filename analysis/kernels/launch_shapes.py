"""How a kernel of a recording was launched, whichever event tells it."""

from __future__ import annotations

from typing import Final

from whichlayer.analysis.kernels.occupancy import LaunchShape
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

#: Its grid counts work-items, not workgroups (HIP's documentation of the call).
_IN_THREADS: Final = "hipExtModuleLaunchKernel"


def shape_of(trace: Trace, row: int, vendor: str) -> LaunchShape | None:
    """Grid, block and resources of a kernel; None where they are not recorded.

    On AMD they stand with the launch, in newer recordings with the kernel too, and only the
    launch tells whether the grid counts workgroups.
    """
    if trace.kind[row] != SliceKind.KERNEL:
        return None
    launch = int(trace.launch[row])
    detail = trace.detail(row)
    if vendor != "amd":
        return LaunchShape.from_detail(detail)
    if launch < 0:
        return None
    if "grid" not in detail:
        detail = trace.detail(launch)
    return LaunchShape.from_detail(detail, in_threads=trace.name(launch) == _IN_THREADS)
