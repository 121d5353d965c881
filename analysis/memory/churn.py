"""The rule about memory that goes back to the device; ``kernels.rules.memory_churn`` finds it."""

from __future__ import annotations

from typing import Final

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE: Final = Rule(
    id="memory-churn",
    layer=Layer.PYTORCH,
    title="memory goes back to the device and is asked for again",
    fix="no torch.cuda.empty_cache() in the loop; buffers that are kept, static shapes; "
    "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
    thresholds={"turnover": 1.0, "calls": 1.0},
    source="ours: a caching allocator that has warmed up gives nothing back to the device",
    example="made: 1 GB taken and given back ten times in a step that never holds more, with three "
    "calls of cudaFree between calls of cudaMalloc",
)
