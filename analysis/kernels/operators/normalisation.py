"""Normalisations. ``A`` is the size of the input; statistics are float32."""

from __future__ import annotations

import math

from whichlayer.analysis.kernels.calls import OpCall, Tensor
from whichlayer.analysis.kernels.work import Work, operator

_TWO_PASS = "batch_norm_collect_statistics"


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


def _batch_norm(call: OpCall, passes: int) -> Work:
    x = call.need(0)
    return Work(bytes=passes * x.bytes + 2 * _optional(call, 1, 2, 3, 4), category="norm")


@operator("native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm", "_batch_norm_impl_index",
          "_native_batch_norm_legit", "_batch_norm_with_update")  # fmt: skip
def batch_norm(call: OpCall) -> Work:
    """x, weight, bias, running mean, running variance, training, ….

    Kernels that keep their input on chip read it once; ATen's pair (statistics, then
    transform) must read it twice in training.
    """
    two_pass = any(_TWO_PASS in name for name in call.kernels)
    return _batch_norm(call, 3 if two_pass else 2)


@operator("native_batch_norm_backward", "cudnn_batch_norm_backward", "miopen_batch_norm_backward")
def batch_norm_backward(call: OpCall) -> Work:
    """Grad and x (swapped in cuDNN's and MIOpen's forms), then weight and statistics.

    ATen's pair of kernels (reduce, then the gradient) reads both twice.
    """
    grad, x = call.need(0), call.need(1)
    two_pass = any("batch_norm_backward_reduce" in name for name in call.kernels)
    read = (grad.bytes + x.bytes) * (2 if two_pass else 1)
    return Work(bytes=read + x.count * x.item_bytes + 3 * _optional(call, 2), category="norm")


@operator("native_group_norm", "group_norm")
def group_norm(call: OpCall) -> Work:
    """x, weight, bias, N, C, HxW, groups, eps: ATen reads its input for the statistics first."""
    x = call.need(0)
    two_pass = any("RowwiseMoments" in name for name in call.kernels)
    return Work(
        bytes=(2 if two_pass else 1) * x.bytes + x.count * x.item_bytes + _optional(call, 1, 2),
        category="norm",
    )


@operator("native_group_norm_backward")
def group_norm_backward(call: OpCall) -> Work:
    """grad, x, mean, rstd, weight, …."""
    grad, x = call.need(0), call.need(1)
    return Work(
        bytes=grad.bytes + x.bytes + x.count * x.item_bytes + _optional(call, 2, 3, 4),
        category="norm",
    )
