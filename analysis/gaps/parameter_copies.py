"""Copies to the device that bring parameters, not a batch: told by what encloses them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from whichlayer.analysis.results import Where
from whichlayer.analysis.text import clean
from whichlayer.analysis.trace.columns import Trace

#: Hooks and frames of what shards or offloads parameters: FSDP of both kinds, DeepSpeed (ZeRO),
#: Accelerate, and what is called offloading. Not forward as a whole, in which a model may copy
#: anything, nor FSDP's root hook, which moves the batch.
_PARAMETERS: Final = re.compile(
    r"\bFSDP::(?!root_)|\bFullyShardedDataParallel\._(pre|post)_|_fsdp_param\w*\.py|_flat_param\.py"
    r"|\bfsdp/_runtime_utils\.py\(\d+\): _(pre_|unshard|prefetch)"
    r"|\bdeepspeed/runtime/zero/|\bpartition_parameters\.py|\bpartitioned_param_\w+\.py"
    r"|\bDeepSpeedZero|\baccelerate/hooks\.py|\bAlignDevicesHook\b"
    r"|\b(cpu|param\w*|model|weights?|layer|block|group|sequential)_?offload"
    r"|\boffload(ed|ing)?_?(param|weight|model|layer|block|module)|\bOffload\w*(Hook|Module|Param|Model)",
    re.IGNORECASE,
)
#: The loader's and the batch's own words, which lie deeper than a wrapper's forward.
_BATCH: Final = re.compile(
    r"enumerate\(DataLoader\)|__next__|\b(next|load|get|copy|move)_?batch|prefetch\w*_?batch|\bsend_to_device\b"
    r"|\bpin_memory\b|prepare_inputs",
    re.IGNORECASE,
)
PARAMETER_FIX: Final = (
    "parameters are offloaded to the CPU and copied in each time: keep them on the device where they fit "
    "(no CPUOffload, fewer offloaded layers, more shards), else prefetch the next layer's copy and "
    "all-gather beside this one's work (forward_prefetch, backward_prefetch), from pinned memory"
)


def holder_of(trace: Trace, row: int) -> int:
    """The innermost slice around a copy that says it brings parameters, -1 for none.

    Args:
        trace: the recording.
        row: the copy, its call, or a slice on its thread.
    """
    row = int(trace.launch[row]) if trace.launch[row] >= 0 else row
    for up in trace.enclosing(row):
        name = trace.name(up).replace("\\", "/")
        if _BATCH.search(name):
            return -1
        if _PARAMETERS.search(name):
            return up
    return -1


def place_in(trace: Trace, holder: int, where: Where) -> Where:
    """A place with the hook in it, where only operators tell it."""
    name, path = clean(trace.name(holder)), where.operator or ""
    if name in path.split(" > "):
        return where
    return replace(where, operator=f"{name} > {path}" if path else name)
