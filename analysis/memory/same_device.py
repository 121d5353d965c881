"""Which device, as its kernels call it, an allocator's numbers are of."""

from __future__ import annotations

from collections.abc import Mapping

from whichlayer.analysis.memory.events import allocators_of
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import LaneKind


def devices_of_allocators(trace: Trace) -> Mapping[int, int]:
    """By the number of an allocator's device: that of the same card where kernels name it.

    ROCm numbers the device of kernels as an agent, processors counted too, and that of memory as
    PyTorch does: the one card of a program is GPU2 to the one and GPU0 to the other. Nothing in a
    recording joins the two numberings, except where there is nothing to choose between: one card
    is listed, one did work and one had memory. Else the numbers stay as recorded.
    """
    memory = {one.device for one in allocators_of(trace) if one.on_gpu}
    worked = {
        lane.device
        for index, lane in enumerate(trace.lanes)
        if lane.kind == LaneKind.GPU_STREAM
        and lane.device >= 0
        and trace.lane_rows[index + 1] > trace.lane_rows[index]
    }
    listed = trace.header.get("deviceProperties") or trace.header.get("computeProperties")
    alone = isinstance(listed, list | tuple) and len(listed) == 1
    if alone and len(memory) == len(worked) == 1:
        return {memory.pop(): worked.pop()}
    return {}
