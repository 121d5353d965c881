"""A product runs on the right hardware but well below what good products reach there.

It is above the ridge (its flops take longer than its bytes), takes at least 50 µs and stays
under 60 % of the rate that good large products reach on this card. Shapes that do not fill
the tiles, an unlucky algorithm or a young library are the usual reasons.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from whichlayer.analysis.kernels.measure import Measured
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE: Final = Rule(
    id="compute-bound-slow",
    layer=Layer.CUDA,
    title="compute-bound kernel far below the card's rate",
    fix="choose sizes in multiples of the tile, tune the library (autotune), update it",
    thresholds={"rate": 0.60, "least_us": 50.0},
    source="whichlayer's design; the rate is a share of what good products reach, not of the sheet",
    example="attention on an MI300X: attn_fwd, 10 calls of 65.8 ms, 267 TFLOP/s bf16: 20 % of "
    "the data sheet",
)
RANK: Final = 50


def applies(measured: Measured, settings: Mapping[str, float]) -> bool:
    """Whether it is above the ridge, long enough, and slow for its precision."""
    if not measured.above_ridge or measured.time_ns < settings["least_us"] * 1e3:
        return False
    share = measured.eff_share
    return share is not None and share < settings["rate"]
