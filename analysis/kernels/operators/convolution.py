"""Convolutions, forward and backward, in PyTorch's, cuDNN's and MIOpen's argument orders.

x[N,Ci,*s], w[Co,Ci/g,*k]; flops are 2 x results x products per result, which divides by the
groups already. Winograd and FFT kernels do fewer products than that and may honestly exceed
the peak.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from whichlayer.analysis.kernels.calls import OpCall, Tensor, Unknown
from whichlayer.analysis.kernels.operators.matmul import operand_precision
from whichlayer.analysis.kernels.work import Work, operator


@dataclass(frozen=True, slots=True)
class Places:
    """Positions of the numbers of a convolution; -1 where it has none."""

    stride: int
    padding: int
    dilation: int
    transposed: int = -1
    output_padding: int = -1
    bias: int = -1
    groups: int = -1
    is_transposed: bool = False


_CONVOLUTION = Places(
    stride=3, padding=4, dilation=5, transposed=6, output_padding=7, bias=2, groups=8
)
_CUDNN = Places(stride=3, padding=2, dilation=4)
_CUDNN_TRANSPOSE = Places(
    stride=4, padding=2, dilation=5, output_padding=3, groups=6, is_transposed=True
)
_MIOPEN = Places(stride=4, padding=3, dilation=5, bias=2)
_MIOPEN_TRANSPOSE = Places(
    stride=5, padding=3, dilation=6, output_padding=4, bias=2, groups=7, is_transposed=True
)


def _numbers(call: OpCall, index: int, rank: int, default: int | None) -> tuple[int, ...]:
    found = call.ints(index) if index >= 0 else None
    if not found:
        if default is None:
            raise Unknown("stride and padding are not recorded, so the result's size is unknown")
        found = (default,)
    if len(found) == 1:
        return found * rank
    if len(found) != rank:
        raise Unknown("stride and padding do not fit the recorded shapes")
    return found


def output_shape(
    x: Tensor,
    w: Tensor,
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
) -> tuple[int, ...]:
    """Shape of the result of a forward convolution.

    Raises:
        Unknown: the sizes describe no convolution.
    """
    sizes = []
    for i, kernel in enumerate(_kernel(x, w)):
        reach = dilation[i] * (kernel - 1)
        sizes.append((x.shape[i + 2] + 2 * padding[i] - reach - 1) // max(1, stride[i]) + 1)
    return (x.shape[0], w.shape[0], *_credible(sizes))


def transposed_shape(
    x: Tensor,
    w: Tensor,
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    extra: tuple[int, ...],
    groups: int,
) -> tuple[int, ...]:
    """Shape of the result of a transposed convolution; w is [Ci, Co/g, *k].

    Raises:
        Unknown: the sizes describe no convolution.
    """
    sizes = []
    for i, kernel in enumerate(_kernel(x, w)):
        reach = dilation[i] * (kernel - 1)
        sizes.append((x.shape[i + 2] - 1) * stride[i] - 2 * padding[i] + reach + extra[i] + 1)
    return (x.shape[0], w.shape[1] * groups, *_credible(sizes))


def _kernel(x: Tensor, w: Tensor) -> tuple[int, ...]:
    if len(x.shape) < 3 or len(w.shape) != len(x.shape):
        raise Unknown("the recorded shapes are no convolution")
    return w.shape[2:]


def _credible(sizes: list[int]) -> list[int]:
    if any(size < 1 or size > 1 << 32 for size in sizes):
        raise Unknown("the recorded shapes are no convolution")
    return sizes


def _forward(call: OpCall, places: Places, x_at: int = 0) -> Work:
    x, w = call.need(x_at), call.need(x_at + 1)
    rank = len(x.shape) - 2
    if rank < 1:
        raise Unknown("the recorded shapes are no convolution")
    told = _result_from_context(call, x, w)
    if told is not None:
        return forward_work(x, w, told, False, 0)
    transposed = places.is_transposed
    if places.transposed >= 0:
        said = call.flag(places.transposed)
        if said is None:
            raise Unknown("stride and padding are not recorded, so the result's size is unknown")
        transposed = said
    stride = _numbers(call, places.stride, rank, None)
    padding = _numbers(call, places.padding, rank, None)
    dilation = _numbers(call, places.dilation, rank, 1)
    if transposed:
        extra = _numbers(call, places.output_padding, rank, 0)
        groups = int(call.number(places.groups) or 1)
        shape = transposed_shape(x, w, stride, padding, dilation, extra, groups)
    else:
        shape = output_shape(x, w, stride, padding, dilation)
    bias = call.tensor(places.bias) if places.bias >= 0 else None
    return forward_work(x, w, shape, transposed, bias.bytes if bias is not None else 0)


def _result_from_context(call: OpCall, x: Tensor, w: Tensor) -> tuple[int, ...] | None:
    """Shape of the result from the operator that took it, where no numbers are recorded.

    Only a tensor with this batch and these channels counts, whose sizes some stride and
    padding of a convolution give.
    """
    if call.concrete is not None or call.context is None:
        return None
    found = call.context.tensor(0)
    if found is None or len(found.shape) != len(x.shape) or len(w.shape) != len(x.shape):
        return None
    if found.shape[:2] != (x.shape[0], w.shape[0]):
        return None
    pairs = zip(x.shape[2:], w.shape[2:], found.shape[2:], strict=True)
    return found.shape if all(_reachable(*sizes) for sizes in pairs) else None


def _reachable(size: int, kernel: int, result: int) -> bool:
    return any(
        (size + 2 * padding - kernel) // stride + 1 == result
        for stride in range(1, 9)
        for padding in range(kernel + 1)
    )


def forward_work(
    x: Tensor, w: Tensor, out: tuple[int, ...], transposed: bool, extra_bytes: int
) -> Work:
    """Bytes and flops of a forward convolution with a known result."""
    channels = (w.shape[1], x.shape[1]) if transposed else (out[1], w.shape[1])
    return Work(
        bytes=x.bytes + w.bytes + math.prod(out) * x.item_bytes + extra_bytes,
        flops=forward_flops(x.shape, w.shape, out, transposed),
        precision=operand_precision(x, w),
        category="convolution",
        dims=channels,
        contiguous=channels,
    )


def forward_flops(
    x: tuple[int, ...], w: tuple[int, ...], out: tuple[int, ...], transposed: bool
) -> int:
    """Flops of the forward pass, multiply and add apart."""
    results = math.prod(x) if transposed else math.prod(out)
    return 2 * results * math.prod(w[1:])


@operator("convolution", "_convolution", "convolution_overrideable")
def convolution(call: OpCall) -> Work:
    """x, w, bias, stride, padding, dilation, transposed, output_padding, groups."""
    return _forward(call, _CONVOLUTION)


@operator("cudnn_convolution")
def cudnn_convolution(call: OpCall) -> Work:
    """x, w, padding, stride, dilation, groups, …: padding before stride, and no bias."""
    return _forward(call, _CUDNN)


@operator("cudnn_convolution_transpose")
def cudnn_convolution_transpose(call: OpCall) -> Work:
    """x, w, padding, output_padding, stride, dilation, groups."""
    return _forward(call, _CUDNN_TRANSPOSE)


@operator("cudnn_convolution_relu", "cudnn_convolution_add_relu")
def cudnn_convolution_relu(call: OpCall) -> Work:
    """x, w, [z, alpha,] bias, stride, padding, dilation, groups."""
    added = call.name.endswith("add_relu")
    at = 5 if added else 3
    z = call.tensor(2) if added else None
    work = _forward(call, Places(at, at + 1, at + 2, bias=at - 1))
    read = z.bytes if z is not None else 0
    return Work((work.bytes or 0) + read, work.flops, work.precision, "convolution", dims=work.dims)


@operator("miopen_convolution", "miopen_depthwise_convolution")
def miopen_convolution(call: OpCall) -> Work:
    """x, w, bias, padding, stride, dilation, groups."""
    return _forward(call, _MIOPEN)


@operator("miopen_convolution_transpose")
def miopen_convolution_transpose(call: OpCall) -> Work:
    """x, w, bias, padding, output_padding, stride, dilation, groups."""
    return _forward(call, _MIOPEN_TRANSPOSE)


@operator("thnn_conv2d", "_slow_conv2d_forward", "slow_conv3d_forward", "_conv_depthwise2d")
def slow_convolution(call: OpCall) -> Work:
    """x, w, kernel size, bias, stride, padding, [dilation]."""
    return _forward(call, Places(4, 5, 6, bias=3))


@operator("conv_depthwise3d")
def depthwise_3d(call: OpCall) -> Work:
    """x, w, kernel size, bias, stride, padding, dilation."""
    return _forward(call, Places(4, 5, 6, bias=3))


@operator("convolution_backward")
def convolution_backward(call: OpCall) -> Work:
    """grad, x, w, bias sizes, stride, padding, dilation, transposed, …, mask at 10.

    Every size is recorded, so no stride is needed. Each of the two gradients costs the
    forward's flops and reads the gradient once more.
    """
    grad, x, w = call.need(0), call.need(1), call.need(2)
    mask = call.flags(10)
    if mask is None or len(mask) != 3:
        raise Unknown("which gradients are wanted is not recorded")
    transposed = call.flag(7) or False
    once = forward_flops(x.shape, w.shape, grad.shape, transposed)
    moved, flops = 0, 0
    if mask[0]:
        moved += grad.bytes + w.bytes + x.count * x.item_bytes
        flops += once
    if mask[1]:
        moved += grad.bytes + x.bytes + w.count * w.item_bytes
        flops += once
    if mask[2]:
        moved += (0 if mask[0] or mask[1] else grad.bytes) + grad.shape[1] * grad.item_bytes
    return Work(
        bytes=moved,
        flops=flops,
        precision=operand_precision(grad, w),
        category="convolution",
        dims=w.shape[:2],
        contiguous=w.shape[:2],
    )


def _size_argument(call: OpCall, outer: int) -> tuple[int, ...]:
    """The size list at 0, or the tensor of that size in the call around this one."""
    sizes = call.ints(0)
    if sizes:
        return sizes
    around = call.context
    if around is not None and around.name.endswith("convolution_backward"):
        found = around.tensor(outer)
        if found is not None and found.shape:
            return found.shape
    raise Unknown("the size of the gradient is not recorded")


@operator("cudnn_convolution_backward_input", "miopen_convolution_backward_input")
def backward_input(call: OpCall) -> Work:
    """Size of x, grad, w (until torch 1.10)."""
    grad, w = call.need(1), call.need(2)
    size = _size_argument(call, 0)
    x = Tensor(size, grad.dtype)
    return Work(
        bytes=grad.bytes + w.bytes + x.bytes,
        flops=forward_flops(size, w.shape, grad.shape, False),
        precision=operand_precision(grad, w),
        category="convolution",
        dims=w.shape[:2],
        contiguous=w.shape[:2],
    )


@operator("cudnn_convolution_backward_weight", "miopen_convolution_backward_weight")
def backward_weight(call: OpCall) -> Work:
    """Size of w, grad, x (until torch 1.10)."""
    grad, x = call.need(1), call.need(2)
    size = _size_argument(call, 2)
    w = Tensor(size, grad.dtype)
    return Work(
        bytes=grad.bytes + x.bytes + w.bytes,
        flops=forward_flops(x.shape, size, grad.shape, False),
        precision=operand_precision(grad, x),
        category="convolution",
        dims=size[:2],
        contiguous=size[:2],
    )
