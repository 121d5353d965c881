"""A copy from pageable host memory held up the device.

The driver has to copy through a staging buffer and the call blocks the launching thread.
On ROCm names do not tell pageable from pinned memory: there a blocking call is taken as
the sign.
"""

from __future__ import annotations

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE = Rule(
    id="h2d-pageable",
    layer=Layer.RUNTIME,
    title="host-to-device copies from pageable memory",
    fix="DataLoader(pin_memory=True) and .to(device, non_blocking=True)",
    thresholds={"note": 0.05, "major": 0.20},
    source="CUDA programming guide: pageable copies are staged and synchronous",
    example="sample unpinned_copies: Memcpy HtoD (Pageable -> Device) of 77,070,336 bytes "
    "runs alone for 14.53 ms at 5.3 GB/s, the thread inside cudaMemcpyAsync for 14.79 "
    "ms; 40 % of the window",
)
