"""The kernel does its work about as fast as this card can.

It reaches 80 % of the data sheet's memory bandwidth, or 85 % of the matrix rate that good
large products reach on this card. A faster kernel does not exist; only less work helps:
fusing it with its neighbours, a narrower type, or another algorithm.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from whichlayer.analysis.kernels.measure import ROOF_BANDWIDTH, ROOF_RATE, Measured
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE: Final = Rule(
    id="at-roof",
    layer=Layer.NONE,
    title="at the roof of this card",
    fix="only fewer bytes or flops help: fuse, use a narrower type, change the algorithm",
    thresholds={"bandwidth": ROOF_BANDWIDTH, "rate": ROOF_RATE},
    source="whichlayer's design: shares of the data sheet that well-made kernels reach",
    example="sample memory_bound_slow: bf16 products at 705 TFLOP/s on an H100: 71 % of the "
    "data sheet, what good products reach there",
)
RANK: Final = 30


def applies(measured: Measured, settings: Mapping[str, float]) -> bool:
    """Whether it reaches the roof of memory or of its precision."""
    by_rate = measured.eff_share or 0.0
    return measured.busy_share >= settings["bandwidth"] or by_rate >= settings["rate"]
