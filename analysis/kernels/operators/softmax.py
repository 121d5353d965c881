"""Softmax and its logarithm, forward and backward."""

from __future__ import annotations

from whichlayer.analysis.kernels.calls import OpCall
from whichlayer.analysis.kernels.dtypes import DTYPE_ENUM, ITEM_BYTES
from whichlayer.analysis.kernels.work import Work, operator


@operator("_softmax", "_log_softmax", "softmax", "log_softmax", "_safe_softmax")
def softmax(call: OpCall) -> Work:
    """x, dim, half_to_float: the result is float32 where that is set."""
    x = call.need(0)
    out = call.out(3)
    item = x.item_bytes
    if out is not None:
        item = out.item_bytes
    elif call.name.startswith("aten::_") and call.flag(2):
        item = 4
    elif not call.name.startswith("aten::_") and call.number(2) is not None:
        item = ITEM_BYTES[DTYPE_ENUM.get(int(call.number(2) or 0), x.dtype)]
    return Work(bytes=x.bytes + x.count * item, category="softmax")


@operator("_softmax_backward_data", "_log_softmax_backward_data")
def softmax_backward(call: OpCall) -> Work:
    """grad, result, dim, type (until 2021 the input itself, which is not read)."""
    grad, result = call.need(0), call.need(1)
    asked = call.number(3)
    item = grad.item_bytes
    if asked is not None and int(asked) in DTYPE_ENUM:
        item = ITEM_BYTES[DTYPE_ENUM[int(asked)]]
    return Work(bytes=grad.bytes + result.bytes + result.count * item, category="softmax")


@operator("_masked_softmax", "_masked_softmax_backward")
def masked_softmax(call: OpCall) -> Work:
    """x, mask, … or grad, result, mask, …."""
    first, second = call.need(0), call.need(1)
    third = call.tensor(2)
    mask = third.bytes if third is not None and third.shape else 0
    return Work(
        bytes=first.bytes + second.bytes + mask + first.count * first.item_bytes,
        category="softmax",
    )
