"""Memory is taken and given back many times over in every step.

Told where ``profile_memory`` is recorded: bytes allocated in a step as a multiple of what is
held at most. A caching allocator makes that cheap, until blocks of changing sizes no longer fit
and it has to ask the device; then the calls cost gaps (``allocator``). Only together with such
calls in the window is it said, and no time is given to it.
"""

from __future__ import annotations

from typing import Final

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE: Final = Rule(
    id="memory-churn",
    layer=Layer.PYTORCH,
    title="memory is taken and given back many times over",
    fix="allocate once and reuse, static shapes, PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
    thresholds={"turnover": 4.0, "calls": 2.0},
    source="ours: bytes taken in a step over the most that is held, with calls to the device",
    example="made: 1 GB taken and given back ten times in a step that never holds more, with "
    "cudaMalloc and cudaFree in the window",
)
