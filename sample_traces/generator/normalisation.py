"""Layer and batch normalisation."""

from __future__ import annotations

from sample_traces.generator.eager import Eager
from sample_traces.generator.kernels import Kernel
from sample_traces.generator.pointwise import empty, empty_like
from sample_traces.generator.records import Work
from sample_traces.generator.tensors import BF16, FLOAT, Tensor, tensor
from sample_traces.generator.views import view


def layer_norm(rt: Eager, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """``F.layer_norm`` over the last dimension and its backward."""
    width = x.shape[-1]
    rows = x.count // width
    arguments = (x, [width], weight, bias, 1e-5)
    with (
        rt.op("aten::layer_norm", *arguments, True, differentiable=True, pre=1.3, post=0.6),
        rt.op(
            "aten::native_layer_norm", *arguments, differentiable=True, pre=2.2, post=1.0
        ) as event,
    ):
        empty(rt, x.shape, x.dtype)
        empty(rt, (rows,), FLOAT)
        empty(rt, (rows,), FLOAT)
        rt.launch(_layer_norm_kernel(x, rows, weight.bytes + bias.bytes))
        rt.record(
            "NativeLayerNormBackward0",
            event,
            x,
            lambda: _layer_norm_backward(rt, x, weight, bias),
            [weight, bias],
        )
    return x


def _layer_norm_kernel(x: Tensor, rows: int, parameter_bytes: int) -> Kernel:
    t = x.dtype.cpp
    name = (
        f"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<{t}, float>"
        f"(int, float, {t} const*, {t} const*, {t} const*, float*, float*, {t}*)"
    )
    work = Work(float(2 * x.bytes + parameter_bytes + 8 * rows))
    return Kernel(name, (rows, 1, 1), (32, 4, 1), 34, work, 0.87, 24)


def _layer_norm_backward(rt: Eager, x: Tensor, weight: Tensor, bias: Tensor) -> None:
    width = x.shape[-1]
    stats = tensor((*x.shape[:-1], 1), FLOAT)
    with rt.op(
        "aten::native_layer_norm_backward",
        x,
        x,
        [width],
        stats,
        stats,
        weight,
        bias,
        [True, True, True],
        pre=3.4,
        post=1.4,
    ):
        empty_like(rt, x)
        for kernel in _layer_norm_backward_kernels(x, weight, bias):
            rt.launch(kernel)


def _layer_norm_backward_kernels(x: Tensor, weight: Tensor, bias: Tensor) -> list[Kernel]:
    """The gradient of the input, then those of weight and bias, which read all of it again."""
    width, t = x.shape[-1], x.dtype.cpp
    rows = x.count // width
    space = "at::native::(anonymous namespace)::"
    read = f"{t} const*, {t} const*, float const*, float const*"
    first = (
        f"void {space}layer_norm_grad_input_kernel_vectorized<{t}, float>"
        f"({read}, {t} const*, {t}*, int)"
    )
    second = (
        f"void {space}GammaBetaBackwardCUDAKernelTemplate<{t}, float, 32u, 32u, 256u, true, true>"
        f"(long, long, {read}, {t}*, {t}*)"
    )
    grid = (max(1, width // 32), max(1, rows // 256), 1)
    back = Work(float(3 * x.bytes + 8 * rows + weight.bytes))
    sums = Work(float(2 * x.bytes + 8 * rows + weight.bytes + bias.bytes))
    return [
        Kernel(first, (rows, 1, 1), (128, 1, 1), 40, back, 0.87, 16),
        Kernel(second, grid, (32, 32, 1), 48, sums, 0.86, 16_896),
    ]


def batch_norm(rt: Eager, x: Tensor, weight: Tensor) -> Tensor:
    """``F.batch_norm`` in training on cuDNN, and its backward."""
    assert x.dtype is not BF16
    arguments = (x, weight, weight, weight, weight, True, 0.1, 1e-5)
    channels = x.shape[1]
    with (
        rt.op("aten::batch_norm", *arguments, True, differentiable=True, pre=1.3, post=0.6),
        rt.op(
            "aten::_batch_norm_impl_index", *arguments, True, differentiable=True, pre=1.6, post=0.8
        ),
        rt.op(
            "aten::cudnn_batch_norm", *arguments, differentiable=True, pre=6.0, post=1.5
        ) as event,
    ):
        empty_like(rt, x)
        view(rt, weight, (channels,))
        for _ in range(2):
            empty(rt, (channels,), FLOAT)
        empty(rt, (0,), FLOAT)
        rt.launch(
            Kernel(
                "void cudnn::bn_fw_tr_1C11_singleread<float, 512, true, 1, 2, 0>"
                "(cudnn::bn_fw_tr_1C11_args<float>)",
                (channels, 1, 1),
                (512, 1, 1),
                40,
                Work(float(2 * x.bytes + 6 * weight.bytes)),
                0.85,
                8336,
            )
        )
        rt.record(
            "CudnnBatchNormBackward0",
            event,
            x,
            lambda: _batch_norm_backward(rt, x, weight),
            [weight, weight],
        )
    return x


def _batch_norm_backward(rt: Eager, x: Tensor, weight: Tensor) -> None:
    with rt.op(
        "aten::cudnn_batch_norm_backward",
        x,
        x,
        weight,
        None,
        None,
        weight,
        weight,
        1e-5,
        tensor((0,), FLOAT),
        pre=6.0,
        post=1.4,
    ):
        empty_like(rt, x)
        empty_like(rt, weight)
        empty_like(rt, weight)
        rt.launch(
            Kernel(
                "void cudnn::bn_bw_1C11_singleread<float, 512, true, 1, 2, 0>"
                "(cudnn::bn_bw_1C11_args<float>)",
                (x.shape[1], 1, 1),
                (512, 1, 1),
                46,
                Work(float(3 * x.bytes + 6 * weight.bytes)),
                0.84,
                16_656,
            )
        )
