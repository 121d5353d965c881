"""The host could not launch fast enough: it was dispatching all the time.

In an operator, in a launch call, or in framework frames between operators, with no better
cause and no drain to charge. Kernels are too short for what it costs to launch them.
"""

from __future__ import annotations

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE = Rule(
    id="launch-bound",
    layer=Layer.BOUNDARY,
    title="the host launches kernels more slowly than they run",
    fix='CUDA graphs or torch.compile(mode="reduce-overhead"); a larger batch',
    thresholds={"note": 0.05},
    source="ours; TensorBoard plugin and Nsight Systems' expert rules use kernel counts",
    example="sample launch_bound_decode: 2,060 pieces of up to 72.4 µs, each ended by a "
    "kernel whose launch began only then; 63 % of the window",
)
