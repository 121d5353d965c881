"""What to change about a loader that is waited for, by what its thread in this process does."""

from __future__ import annotations

import re

from whichlayer.analysis.gaps.surroundings import mostly_ran
from whichlayer.analysis.results import Gaps
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import LaneKind

PINNING = (
    "pinning the batch takes the time, and is on already; more workers would not help: fewer, larger "
    "or narrower tensors in a batch, PYTORCH_CUDA_ALLOC_CONF=pinned_use_cuda_host_register:True,"
    "pinned_num_register_threads:8, or pin_memory=False where the copy costs less than pinning"
)
_PINS = re.compile(
    r"^aten::_?pin_memory$|_utils/pin_memory\.py\(\d+\): pin_memory$|<built-in method pin_memory of"
)


def loader_fix(trace: Trace, gaps: Gaps, index: int, culprit: int) -> str | None:
    """The fix where the batch was being pinned for most of a wait; None for anything else.

    Args:
        trace: the recording.
        gaps: its gaps.
        index: the piece that waits for the loader.
        culprit: the slice that explains it.
    """
    mine = int(trace.lane_id[culprit])
    if trace.lanes[mine].kind != LaneKind.CPU_THREAD:
        return None
    start, end, launch = (
        int(column[index]) for column in (gaps.start_ns, gaps.end_ns, gaps.launch_row)
    )
    until = max(min(int(trace.start_ns[launch]), end), start) if launch >= 0 else end
    for other, lane in enumerate(trace.lanes):
        if other == mine or lane.kind != LaneKind.CPU_THREAD or lane.pid != trace.lanes[mine].pid:
            continue
        row = mostly_ran(trace, other, start, until)
        if row < 0:
            continue
        around = (trace.name(one).replace("\\", "/") for one in (row, *trace.enclosing(row)))
        if any(_PINS.search(name) for name in around):
            return PINNING
    return None
