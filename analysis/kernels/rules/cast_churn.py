"""Tensors are converted from one floating-point type to another and back.

Copies that only change the type take more than 5 % of the device's own time. Weights kept in
the narrower type, and an autocast region that does not end between two operators, need none of
them, so all of their time is lost; what must be converted once (the input, the loss) is part of
it, which makes this an upper bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from whichlayer.analysis.kernels.measure import Measured
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE: Final = Rule(
    id="cast-churn",
    layer=Layer.PRECISION,
    title="tensors cast from type to type",
    fix="keep weights in bf16, widen the autocast region, avoid .float() and .to() inside it",
    thresholds={"share": 0.05},
    source="whichlayer's design; the share is of the device's own work",
    example="a transformer on an A100: casts between fp16 and fp32 take 20 % of the device's "
    "own work, such as 8 calls of 4.32 ms together",
)
RANK: Final = 16
#: Decided before anything is known of bytes: the work itself is avoidable.
AVOIDABLE: Final = True


def applies(measured: Measured, settings: Mapping[str, float]) -> bool:
    """Whether it is one of many casts between floating-point types."""
    return measured.kind == "cast" and measured.kind_share > settings["share"]


def why(measured: Measured) -> str:
    """How much all of them take."""
    return f"a cast; casts take {measured.kind_share:.0%} of the device's own work"
