"""Tensors are copied on the device without being changed.

Copies, concatenations and ``contiguous`` take more than 10 % of the device's own time, beside
layout changes of convolutions and casts, which have rules of their own. Views, in-place
operators and results written straight into a preallocated tensor need none of them; what the
model cannot do without is part of it, which makes this an upper bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from whichlayer.analysis.kernels.measure import Measured
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE: Final = Rule(
    id="copy-storm",
    layer=Layer.PYTORCH,
    title="tensors copied on the device",
    fix="use views instead of copies, write into preallocated tensors instead of cat and stack",
    thresholds={"share": 0.10},
    source="whichlayer's design; the share is of the device's own work",
    example="Qwen on an H100: copies take 10 % of the device's own work, 145 calls, 4.78 ms; "
    "aten::cat of int32 alone 2.01 ms",
)
RANK: Final = 18
#: Decided before anything is known of bytes: the work itself is avoidable.
AVOIDABLE: Final = True


def applies(measured: Measured, settings: Mapping[str, float]) -> bool:
    """Whether it is one of many copies that change nothing."""
    return measured.kind == "copy" and measured.kind_share > settings["share"]


def why(measured: Measured) -> str:
    """How much all of them take."""
    return f"a copy; copies take {measured.kind_share:.0%} of the device's own work"
