"""Convolutions and pooling in the channels-last format, on cuDNN's TF32 kernels."""

from __future__ import annotations

from math import prod

from sample_traces.generator.eager import Eager
from sample_traces.generator.kernels import Kernel
from sample_traces.generator.pointwise import empty, empty_like, strided_kernel
from sample_traces.generator.records import Work
from sample_traces.generator.reductions import reduce_name
from sample_traces.generator.tensors import FLOAT, LONG, Tensor, channels_last


def _kernel(
    x: Tensor, weight: Tensor, out: Tensor, direction: str, precision: str = "tf32"
) -> Kernel:
    n, channels, height, width = out.shape
    indexed = "indexed_" if direction == "wgrad" or x.shape[1] < 8 else ""
    work = Work(
        float(x.bytes + weight.bytes + out.bytes),
        2.0 * out.count * prod(weight.shape[1:]),
        precision,
    )
    rows = n * height * width if direction != "wgrad" else prod(weight.shape[1:])
    align = "alignc4_" if x.shape[1] % 4 == 0 else ""
    return Kernel(
        f"sm80_xmma_{direction}_implicit_gemm_{indexed}tf32f32_tf32f32_f32_nhwckrsc_nhwc_"
        f"tilesize128x128x16_stage4_warpsize2x2x1_g1_tensor16x8x8_{align}execute_kernel_cudnn",
        (-(-channels // 128), -(-rows // 128), 1),
        (128, 1, 1),
        252,
        work,
        0.9 if x.shape[1] >= 8 else 0.62,
        67_584,
    )


def conv2d(rt: Eager, x: Tensor, weight: Tensor, stride: int, needs_input: bool = True) -> Tensor:
    """``F.conv2d`` without bias and with "same" padding, and its backward."""
    filters, _, size, _ = weight.shape
    padding = size // 2
    height = (x.shape[2] + 2 * padding - size) // stride + 1
    out = channels_last(x.shape[0], filters, height, height, FLOAT)
    how = ([stride, stride], [padding, padding], [1, 1])
    with (
        rt.op("aten::conv2d", x, weight, None, *how, 1, differentiable=True, pre=1.6, post=0.8),
        rt.op(
            "aten::convolution",
            x,
            weight,
            None,
            *how,
            False,
            [0, 0],
            1,
            differentiable=True,
            pre=2.2,
            post=1.0,
        ) as event,
    ):
        _conv_forward(rt, x, weight, out, *how)
        rt.record(
            "ConvolutionBackward0",
            event,
            out,
            lambda: _conv_backward(rt, x, weight, out, stride, needs_input),
            [weight],
        )
    return out


def _conv_forward(
    rt: Eager,
    x: Tensor,
    weight: Tensor,
    out: Tensor,
    strides: list[int],
    pads: list[int],
    ones: list[int],
) -> None:
    flags = (False, [0, 0], 1, False, False, True, True)
    with (
        rt.op(
            "aten::_convolution", x, weight, None, strides, pads, ones, *flags, pre=2.6, post=0.9
        ),
        rt.op(
            "aten::cudnn_convolution",
            x,
            weight,
            pads,
            strides,
            ones,
            1,
            False,
            False,
            True,
            pre=9.0,
            post=2.0,
        ),
    ):
        empty(rt, out.shape, FLOAT)
        rt.launch(_kernel(x, weight, out, "fprop"))


def _conv_backward(
    rt: Eager, x: Tensor, weight: Tensor, out: Tensor, stride: int, needs_input: bool
) -> None:
    padding = weight.shape[2] // 2
    with rt.op(
        "aten::convolution_backward",
        out,
        x,
        weight,
        [0],
        [stride, stride],
        [padding, padding],
        [1, 1],
        False,
        [0, 0],
        1,
        [needs_input, True, False],
        pre=9.0,
        post=2.0,
    ):
        if needs_input:
            empty(rt, x.shape, FLOAT)
            rt.launch(_kernel(x, weight, out, "dgrad"))
            rt.thread.spend(7.0)
        empty(rt, weight.shape, FLOAT)
        rt.launch(_kernel(x, weight, out, "wgrad"))


def max_pool(rt: Eager, x: Tensor) -> Tensor:
    """``F.max_pool2d`` of 3 by 3 with stride 2, and its backward."""
    n, channels, height, width = x.shape
    out = channels_last(n, channels, height // 2, width // 2, FLOAT)
    indices = Tensor(out.shape, LONG, out.strides)
    window = ([3, 3], [2, 2], [1, 1], [1, 1], False)
    with (
        rt.op("aten::max_pool2d", x, *window, differentiable=True, pre=1.4, post=0.6),
        rt.op(
            "aten::max_pool2d_with_indices", x, *window, differentiable=True, pre=4.0, post=1.4
        ) as event,
    ):
        rt.launch(_pool_kernel("max_pool_forward_nhwc", out, x, indices))
        rt.record(
            "MaxPool2DWithIndicesBackward0", event, out, lambda: _pool_backward(rt, x, out, indices)
        )
    return out


def _pool_backward(rt: Eager, x: Tensor, out: Tensor, indices: Tensor) -> None:
    with rt.op(
        "aten::max_pool2d_with_indices_backward",
        out,
        x,
        [3, 3],
        [2, 2],
        [1, 1],
        [1, 1],
        False,
        indices,
        pre=3.4,
        post=1.2,
    ):
        empty_like(rt, x)
        rt.launch(_pool_kernel("max_pool_backward_nhwc", x, out, indices))


def _pool_kernel(name: str, out: Tensor, x: Tensor, indices: Tensor) -> Kernel:
    return Kernel(
        f"void at::native::(anonymous namespace)::{name}<float, float>(float const*, int, long, "
        "long, long, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, "
        "int, float*, long*)",
        (x.shape[0], min(65_535, out.shape[2]), 1),
        (32, 8, 1),
        38,
        Work(float(x.bytes + out.bytes + indices.bytes)),
        0.7,
        12_288,
    )


def global_average(rt: Eager, x: Tensor) -> Tensor:
    """``F.adaptive_avg_pool2d(x, 1)`` and its backward."""
    n, channels, _, _ = x.shape
    out = channels_last(n, channels, 1, 1, FLOAT)
    with (
        rt.op("aten::adaptive_avg_pool2d", x, [1, 1], differentiable=True, pre=1.6, post=0.6),
        rt.op(
            "aten::mean", x, [-1, -2], True, None, differentiable=True, pre=3.6, post=1.4
        ) as event,
    ):
        name = reduce_name(x.dtype, "mean", 128, 4)
        work = Work(float(x.bytes + out.bytes))
        rt.launch(Kernel(name, (out.count // 128, 1, 1), (32, 4, 1), 48, work, 0.8, 16))
        rt.record("MeanBackward1", event, out, lambda: _average_backward(rt, x, out))
    return out


def _average_backward(rt: Eager, x: Tensor, out: Tensor) -> None:
    _, channels, height, width = x.shape
    grown = Tensor(x.shape, FLOAT, (channels, 1, 0, 0))
    with rt.op("aten::expand", out, list(x.shape), False, pre=1.4, post=0.5):
        pass
    with rt.op("aten::div", grown, height * width, pre=3.0, post=1.2):
        functor = (
            "at::native::BUnaryFunctor<float, float, float, "
            "at::native::binary_internal::MulFunctor<float> >"
        )
        work = Work(float(x.bytes + out.bytes))
        rt.launch(strided_kernel(functor, work, x.count, 0.82, 20))
