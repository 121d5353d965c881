"""Reductions and the kernels that ATen launches for them."""

from __future__ import annotations

from sample_traces.generator.eager import Eager
from sample_traces.generator.kernels import Grid, Kernel
from sample_traces.generator.records import Work
from sample_traces.generator.tensors import BF16, DType, Tensor, tensor


def reduce_name(dtype: DType, what: str, width: int, vector: int) -> str:
    """The name of ATen's reduction kernel."""
    t = dtype.cpp
    accumulate = "float" if dtype is BF16 else t
    if what == "mean":
        op = f"at::native::MeanOps<{t}, {accumulate}, {accumulate}, {t}>"
    else:
        op = (
            f"at::native::func_wrapper_t<{t}, at::native::sum_functor<{t}, {accumulate}, {t}>"
            f"::operator()(at::TensorIterator&)::{{lambda({accumulate}, {accumulate})#1}}>"
        )
    body = f"at::native::ReduceOp<{t}, {op}, unsigned int, {t}, 4>"
    return f"void at::native::reduce_kernel<{width}, {vector}, {body} >({body})"


def _rows_grid(columns: int) -> Grid:
    return (max(1, columns // 128), 8, 1)


def sum_rows(rt: Eager, x: Tensor, quality: float = 0.85, planted: bool = False) -> Tensor:
    """``x.sum(0, keepdim=True)``: the gradient of a bias."""
    out = tensor((1, *x.shape[1:]), x.dtype)
    with rt.op("aten::sum", x, [0], True, None, pre=3.2, post=1.4):
        rt.launch(
            Kernel(
                reduce_name(x.dtype, "sum", 128, 4),
                _rows_grid(x.count // x.shape[0]),
                (32, 16, 1),
                48,
                Work(float(x.bytes + out.bytes), planted=planted, operator="aten::sum"),
                quality,
                8192,
            )
        )
    return out


def mean_last(rt: Eager, x: Tensor) -> Tensor:
    """``x.mean(-1, keepdim=True)``."""
    out = tensor((*x.shape[:-1], 1), x.dtype)
    with rt.op("aten::mean", x, [-1], True, None, differentiable=True, pre=3.4, post=1.4):
        rt.launch(
            Kernel(
                reduce_name(x.dtype, "mean", 512, 1),
                (max(1, out.count // 4), 1, 1),
                (32, 4, 1),
                32,
                Work(float(x.bytes + out.bytes)),
                0.85,
                16,
            )
        )
    return out


def argmax_last(rt: Eager, x: Tensor, out: Tensor) -> Tensor:
    """``x.argmax(-1)``."""
    pair = "thrust::pair<float, long>"
    op = f"at::native::ArgMaxOps<float>, unsigned int, {out.dtype.cpp}, 4>"
    body = f"at::native::ReduceOp<{x.dtype.cpp}, {op}"
    name = f"void at::native::reduce_kernel<512, 1, {body} >({body})".replace(
        "ArgMaxOps<float>,", f"ArgMaxOps<float>, {pair},"
    )
    with rt.op("aten::argmax", x, -1, False, pre=4.0, post=1.5):
        rt.launch(
            Kernel(name, (1, 1, 1), (512, 1, 1), 32, Work(float(x.bytes + out.bytes)), 0.06, 16)
        )
    return out
