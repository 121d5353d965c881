"""A convolution's tensors are rearranged before and after it.

Kernels that only turn NCHW into NHWC or back run inside a convolution whose own kernel wants
the other order. A model in ``channels_last`` needs none of them, so all of their time is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from whichlayer.analysis.kernels.measure import Measured
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE: Final = Rule(
    id="layout-copy",
    layer=Layer.BOUNDARY,
    title="tensors rearranged around convolutions",
    fix="model.to(memory_format=torch.channels_last), and the input too",
    source="kernel names of cuDNN and MIOpen; the time such kernels take is what is lost",
    example="ResNet-18 on an MI300X: batched_transpose_32x32_half 80 times inside "
    "aten::convolution_backward, 12.11 ms",
)
RANK: Final = 15
#: Decided before anything is known of bytes: the work itself is avoidable.
AVOIDABLE: Final = True


def applies(measured: Measured, settings: Mapping[str, float]) -> bool:
    """Whether these are a convolution's own layout kernels."""
    return measured.work.category == "layout"


def why(measured: Measured) -> str:
    """What these kernels do."""
    return f"rearranges the tensors of {measured.operator}"
