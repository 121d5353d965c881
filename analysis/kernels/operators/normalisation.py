"""Normalisations. ``A`` is the size of the input; statistics are float32."""

from __future__ import annotations

import math
import re
from typing import Final

from whichlayer.analysis.kernels.calls import OpCall, Tensor
from whichlayer.analysis.kernels.work import Work, operator

# ATen's pair of kernels, and cuDNN's kernels that do not keep their input on chip.
_TWO_PASS: Final = re.compile(
    r"batch_norm_collect_statistics|batch_norm_backward_reduce|bn_(?:fw_tr|bw)_(?!\w*singleread)"
)
_AGAIN: Final = "two passes: the second one may find its input in the cache"


def _optional(call: OpCall, *positions: int) -> int:
    found = (call.tensor(index) for index in positions)
    return sum(tensor.bytes for tensor in found if tensor is not None)


def _rows(call: OpCall, x: Tensor, shape_at: int, weight_at: int) -> int:
    """Normalised rows: elements over the normalised shape, one row where neither is known."""
    sizes = call.ints(shape_at)
    weight = call.tensor(weight_at)
    inner = math.prod(sizes) if sizes else (weight.count if weight is not None else 0)
    return x.count // inner if inner > 0 else 1


@operator("native_layer_norm", "layer_norm")
def layer_norm(call: OpCall) -> Work:
    """x, shape, weight, bias, eps: writes the result, mean and rstd."""
    x = call.need(0)
    return Work(
        bytes=x.bytes + x.count * x.item_bytes + _optional(call, 2, 3)
        + 8 * _rows(call, x, 1, 2),
        category="norm",
    )  # fmt: skip


@operator("native_layer_norm_backward")
def layer_norm_backward(call: OpCall) -> Work:
    """grad, x, shape, mean, rstd, weight, bias, mask.

    The gradients of weight and bias come from a second kernel that reads grad and x again;
    a fused one reads them once, and that is what is counted.
    """
    grad, x = call.need(0), call.need(1)
    mask = call.flags(7)
    weights = _optional(call, 5)
    outputs = 0 if mask is None else (sum(mask[1:]) * weights)
    return Work(
        bytes=grad.bytes + x.bytes + x.count * x.item_bytes + _optional(call, 3, 4) + weights
        + outputs,
        category="norm",
    )  # fmt: skip


@operator("_fused_rms_norm", "rms_norm")
def rms_norm(call: OpCall) -> Work:
    """x, shape, weight, eps."""
    x = call.need(0)
    return Work(
        bytes=x.bytes + x.count * x.item_bytes + _optional(call, 2) + 4 * _rows(call, x, 1, 2),
        category="norm",
    )


@operator("_fused_rms_norm_backward")
def rms_norm_backward(call: OpCall) -> Work:
    """grad, x, shape, rstd, weight, mask."""
    grad, x = call.need(0), call.need(1)
    return Work(
        bytes=grad.bytes + x.bytes + x.count * x.item_bytes + _optional(call, 3)
        + 2 * _optional(call, 4),
        category="norm",
    )  # fmt: skip


def _two_pass(call: OpCall) -> bool:
    return any(_TWO_PASS.search(name) for name in call.kernels)


@operator("native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm", "_batch_norm_impl_index",
          "_native_batch_norm_legit", "_batch_norm_with_update")  # fmt: skip
def batch_norm(call: OpCall) -> Work:
    """x, weight, bias, running mean, running variance, training, ….

    Kernels that keep their input on chip read it once; the others must read it twice in
    training, once for the statistics.
    """
    x = call.need(0)
    once = 2 * x.bytes + 2 * _optional(call, 1, 2, 3, 4)
    return in_passes(once, x.bytes if _two_pass(call) else 0)


@operator("native_batch_norm_backward", "cudnn_batch_norm_backward", "miopen_batch_norm_backward")
def batch_norm_backward(call: OpCall) -> Work:
    """Grad and x (swapped in cuDNN's and MIOpen's forms), then weight and statistics."""
    grad, x = call.need(0), call.need(1)
    once = grad.bytes + x.bytes + x.count * x.item_bytes + 3 * _optional(call, 2)
    return in_passes(once, grad.bytes + x.bytes if _two_pass(call) else 0)


def in_passes(once: int, again: int) -> Work:
    """Work of a norm: traffic of one pass, and what a second one reads again, in bytes."""
    if not again:
        return Work(bytes=once, category="norm")
    return Work(bytes=once + again, category="norm", bound="upper", least=once, reason=_AGAIN)


@operator("native_group_norm", "group_norm")
def group_norm(call: OpCall) -> Work:
    """x, weight, bias, N, C, HxW, groups, eps: ATen reads its input for the statistics first."""
    x = call.need(0)
    two_pass = any("RowwiseMoments" in name for name in call.kernels)
    once = x.bytes + x.count * x.item_bytes + _optional(call, 1, 2)
    return in_passes(once, x.bytes if two_pass else 0)


@operator("native_group_norm_backward")
def group_norm_backward(call: OpCall) -> Work:
    """grad, x, mean, rstd, weight, …."""
    grad, x = call.need(0), call.need(1)
    return Work(
        bytes=grad.bytes + x.bytes + x.count * x.item_bytes + _optional(call, 2, 3, 4),
        category="norm",
    )
