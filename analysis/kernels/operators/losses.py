"""Losses."""

from __future__ import annotations

from typing import Final

from whichlayer.analysis.kernels.calls import OpCall
from whichlayer.analysis.kernels.work import Work, operator

#: A gather of one element a row still fetches a whole sector.
_SECTOR_BYTES: Final = 32


@operator("nll_loss_forward", "nll_loss_nd", "nll_loss")
def nll_loss(call: OpCall) -> Work:
    """Log p [R,C], target [R], weight: one element a row is gathered, not the whole matrix."""
    x, target = call.need(0), call.need(1)
    rows = target.count
    return Work(bytes=rows * _SECTOR_BYTES + target.bytes + 2 * x.item_bytes, category="loss")


@operator("nll_loss_backward")
def nll_loss_backward(call: OpCall) -> Work:
    """grad, log p [R,C], target, …: writes one element a row.

    The zeroing of the rest is an activity of its own and carries its own bytes.
    """
    target = call.need(2)
    return Work(bytes=target.count * _SECTOR_BYTES + target.bytes, category="loss")


@operator("nll_loss2d_forward", "nll_loss2d_backward")
def nll_loss2d(call: OpCall) -> Work:
    """One element a pixel."""
    target = call.need(1 if call.name.endswith("forward") else 2)
    return Work(bytes=target.count * _SECTOR_BYTES + target.bytes, category="loss")


def _reduced(call: OpCall, index: int) -> bool:
    """Reductions: 0 none, 1 mean, 2 sum; mean where it is not recorded."""
    return call.number(index) != 0


def _two_tensor_loss(call: OpCall, reduction_at: int) -> Work:
    x, target = call.need(0), call.need(1)
    written = x.item_bytes if _reduced(call, reduction_at) else x.count * x.item_bytes
    return Work(bytes=x.bytes + target.bytes + written, category="loss")


@operator("mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss", "kl_div")
def elementwise_loss(call: OpCall) -> Work:
    """x, target, reduction."""
    return _two_tensor_loss(call, 2)


@operator("binary_cross_entropy", "binary_cross_entropy_backward")
def binary_cross_entropy(call: OpCall) -> Work:
    """[grad,] x, target, weight, reduction."""
    if call.name.endswith("backward"):
        grad, x, target = call.need(0), call.need(1), call.need(2)
        return Work(
            bytes=grad.bytes + x.bytes + target.bytes + x.count * x.item_bytes, category="loss"
        )
    return _two_tensor_loss(call, 3)
