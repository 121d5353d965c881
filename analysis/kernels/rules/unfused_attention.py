"""Attention computed as separate products, softmax and pointwise operators.

Each of them writes and reads the whole matrix of queries times keys; one fused call
(``scaled_dot_product_attention``) never stores it. The loss is what the chain takes beyond a
fused kernel's own ideal: its products at half of the rate that good products reach (what
fused attention kernels reach), or the traffic of queries, keys, values and result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from whichlayer.analysis.kernels.measure import Measured
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE: Final = Rule(
    id="unfused-attention",
    layer=Layer.PYTORCH,
    title="attention in separate operators",
    fix="call torch.nn.functional.scaled_dot_product_attention (fused) in the model",
    thresholds={"gain": 1.5, "attention_rate": 0.5},
    source="whichlayer's design; the rate is what flash kernels reach of good products' rate",
    example="TimeSformer on an H100: product, softmax and product in separate operators, "
    "cunn_SoftMaxForward alone 68.69 ms in 12 calls; 32 % of the window",
)
RANK: Final = 12


def applies(measured: Measured, settings: Mapping[str, float]) -> bool:
    """Never by itself: chains are found across operators, see ``attention_chains``."""
    return False
