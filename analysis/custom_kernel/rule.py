"""Is a custom kernel justified? Only where three things hold, each shown with its number.

A candidate is a chain of 2 to 15 kernels that follow each other on one stream. A custom kernel is
justified only if (a) nothing that exists captures the chain: an eager chain is answered "compile
first", unfused attention "scaled_dot_product_attention", and only what survives inside a
compiled region with a product and a reduction, gather or scatter tied to it passes; (b) it has a
tenth of the step, or fusing it would save a fiftieth; (c) its shapes hold still over the steps.
What is not recorded makes the answer unknown, never yes.
"""

from __future__ import annotations

from typing import Final

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE: Final = Rule(
    id="custom-kernel",
    layer=Layer.CUDA,
    title="a custom kernel would pay",
    fix="one kernel for the chain, in Triton before CUDA; it is one more tie to a vendor",
    thresholds={
        "share": 0.10,
        "saving": 0.02,
        "least_saving": 0.005,
        "bandwidth": 0.85,
        "same_shapes": 0.95,
        "shapes": 3.0,
        "steps": 2.0,
    },
    source="whichlayer's design; saving: measured time less external bytes at 85 % of bandwidth",
    example="made: a product and a reduction of its result in one compiled graph, the same "
    "shapes in 3 steps; one kernel saves the reduction's own 100 µs a step: yes",
)
