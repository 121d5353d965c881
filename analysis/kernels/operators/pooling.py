"""Pooling and resampling."""

from __future__ import annotations

import math

from whichlayer.analysis.kernels.calls import OpCall, Tensor, Unknown
from whichlayer.analysis.kernels.work import Work, operator


def _window(
    call: OpCall, index: int, rank: int, default: tuple[int, ...] | None
) -> tuple[int, ...]:
    found = call.ints(index) or default
    if not found:
        raise Unknown("the pooling window is not recorded")
    return found * rank if len(found) == 1 else found


def pooled_shape(call: OpCall, x: Tensor, rank: int, *, dilated: bool) -> tuple[int, ...]:
    """Shape of a pooling's result: x, kernel, stride (empty: the kernel), padding, ….

    Raises:
        Unknown: the window is not recorded or fits no such input.
    """
    if len(x.shape) < rank + 1:
        raise Unknown("the recorded shapes are no pooling")
    kernel = _window(call, 1, rank, None)
    stride = _window(call, 2, rank, kernel)
    padding = _window(call, 3, rank, (0,))
    dilation = _window(call, 4, rank, (1,)) if dilated else (1,) * rank
    ceil = call.flag(5 if dilated else 4) or False
    if not len(kernel) == len(stride) == len(padding) == len(dilation) == rank or 0 in stride:
        raise Unknown("the pooling window does not fit the recorded shapes")
    sizes = []
    for i, size in enumerate(x.shape[-rank:]):
        room = size + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1
        sizes.append((-(-room // stride[i]) if ceil else room // stride[i]) + 1)
    if min(sizes) < 1:
        raise Unknown("the pooling window does not fit the recorded shapes")
    return (*x.shape[:-rank], *sizes)


def _rank(name: str) -> int:
    return 3 if "3d" in name else 1 if "1d" in name else 2


@operator("max_pool2d_with_indices", "max_pool3d_with_indices")
def max_pool(call: OpCall) -> Work:
    """Writes the maxima and their int64 positions."""
    x = call.need(0)
    out = call.out(6)
    if out is not None:
        results = math.prod(out.shape)
    else:
        results = math.prod(pooled_shape(call, x, _rank(call.name), dilated=True))
    return Work(bytes=x.bytes + results * (x.item_bytes + 8), category="pooling")


@operator("max_pool2d_with_indices_backward", "max_pool3d_with_indices_backward")
def max_pool_backward(call: OpCall) -> Work:
    """grad, x (its shape alone), …, positions at 7."""
    grad, x = call.need(0), call.need(1)
    index = call.tensor(7)
    positions = index.bytes if index is not None else 8 * grad.count
    return Work(
        bytes=grad.bytes + positions + x.count * x.item_bytes,
        category="pooling",
    )


@operator("avg_pool2d", "avg_pool3d", "avg_pool1d")
def avg_pool(call: OpCall) -> Work:
    """x, kernel, stride, padding, ceil, …."""
    x = call.need(0)
    results = math.prod(pooled_shape(call, x, _rank(call.name), dilated=False))
    return Work(bytes=x.bytes + results * x.item_bytes, category="pooling")


@operator("_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_avg_pool1d",
          "adaptive_max_pool2d", "adaptive_max_pool3d")  # fmt: skip
def adaptive_pool(call: OpCall) -> Work:
    """x, output size: smaller than the input, so the input alone where it is not recorded."""
    x = call.need(0)
    rank = _rank(call.name)
    size = call.ints(1)
    if not size:
        return Work(bytes=x.bytes, category="pooling", bound="lower",
                    reason="the result's size is not recorded: the input alone")  # fmt: skip
    size = size * rank if len(size) == 1 else size
    results = math.prod(x.shape[:-rank]) * math.prod(size)
    item = x.item_bytes + (8 if "max" in call.name else 0)
    return Work(bytes=x.bytes + results * item, category="pooling")


@operator("avg_pool2d_backward", "avg_pool3d_backward", "_adaptive_avg_pool2d_backward",
          "_adaptive_avg_pool3d_backward")  # fmt: skip
def avg_pool_backward(call: OpCall) -> Work:
    """grad, x (its shape alone)."""
    grad, x = call.need(0), call.need(1)
    return Work(bytes=grad.bytes + x.count * x.item_bytes, category="pooling")


_UPSAMPLED = [
    f"upsample_{kind}" for kind in
    ("nearest1d", "nearest2d", "nearest3d", "_nearest_exact2d", "linear1d", "bilinear2d",
     "bicubic2d", "trilinear3d")
]  # fmt: skip


@operator(*_UPSAMPLED, "_upsample_nearest_exact2d")
def upsample(call: OpCall) -> Work:
    """x, output size, …: sizes or, in the other overload, scale factors."""
    x = call.need(0)
    size = call.ints(1)
    rank = len(x.shape) - 2
    if not size or len(size) != rank or rank < 1:
        raise Unknown("the result's size is not recorded")
    results = math.prod(x.shape[:2]) * math.prod(size)
    return Work(bytes=x.bytes + results * x.item_bytes, category="pooling")


@operator(*(f"{name}_backward" for name in _UPSAMPLED))
def upsample_backward(call: OpCall) -> Work:
    """grad, output size, input size."""
    grad, size = call.need(0), call.ints(2)
    if not size:
        raise Unknown("the size of the gradient is not recorded")
    return Work(bytes=grad.bytes + math.prod(size) * grad.item_bytes, category="pooling")
