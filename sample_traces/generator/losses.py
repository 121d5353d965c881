"""Softmax and cross-entropy."""

from __future__ import annotations

from sample_traces.generator.eager import Eager
from sample_traces.generator.kernels import Kernel
from sample_traces.generator.pointwise import empty_like, fill_
from sample_traces.generator.records import Work
from sample_traces.generator.tensors import BF16, Tensor, tensor


def _softmax_name(x: Tensor, backward: bool) -> str:
    t = x.dtype.cpp
    vector = 16 // x.dtype.size
    space = "at::native::(anonymous namespace)::"
    if backward:
        head = f"cunn_SoftMaxBackwardSmem<{vector}, {t}, float, {t}, {space}LogSoftMaxBackwardEpilogue>"
        return f"void {space}{head}({t}*, {t} const*, {t} const*, long)"
    head = f"cunn_SoftMaxForwardSmem<{vector}, {t}, float, {t}, {space}LogSoftMaxForwardEpilogue, long>"
    return f"void {space}{head}({t}*, {t} const*, long)"


def _small_softmax_name(x: Tensor, backward: bool) -> str:
    t = x.dtype.cpp
    direction = "backward" if backward else "forward"
    arguments = f"{t}*, {t} const*, {t} const*, int, int, int, bool const*"
    if not backward:
        arguments = f"{t}*, {t} const*, int, int, int, bool const*, int, bool"
    return (
        f"void (anonymous namespace)::softmax_warp_{direction}<{t}, {t}, float, 10, true, false>"
        f"({arguments})"
    )


def _softmax_kernel(x: Tensor, tensors: int, backward: bool) -> Kernel:
    rows, width = x.shape
    work = Work(float(tensors * x.bytes))
    if width <= 1024:
        name = _small_softmax_name(x, backward)
        return Kernel(name, (-(-rows // 4), 1, 1), (32, 4, 1), 80, work, 0.7)
    shared = width * x.dtype.size if not backward else 2 * width * x.dtype.size
    return Kernel(
        _softmax_name(x, backward), (rows, 1, 1), (1024, 1, 1), 32, work, 0.86, shared + 128
    )


def cross_entropy(rt: Eager, logits: Tensor, target: Tensor) -> Tensor:
    """``F.cross_entropy`` with the mean over the rows, and its backward."""
    with rt.op(
        "aten::cross_entropy_loss",
        logits,
        target,
        None,
        1,
        -100,
        0.0,
        differentiable=True,
        pre=3.0,
        post=0.8,
    ):
        _log_softmax(rt, logits)
        return _nll_loss(rt, logits, target)


def _log_softmax(rt: Eager, logits: Tensor) -> None:
    with (
        rt.op("aten::log_softmax", logits, 1, None, differentiable=True, pre=1.2, post=0.5),
        rt.op(
            "aten::_log_softmax", logits, 1, False, differentiable=True, pre=3.6, post=1.2
        ) as event,
    ):
        rt.launch(_softmax_kernel(logits, 2, backward=False))
        rt.record("LogSoftmaxBackward0", event, logits, lambda: _softmax_backward(rt, logits))


def _nll_loss(rt: Eager, logits: Tensor, target: Tensor) -> Tensor:
    loss = tensor((), logits.dtype)
    arguments = (logits, target, None, 1, -100)
    with (
        rt.op("aten::nll_loss_nd", *arguments, differentiable=True, pre=1.1, post=0.5),
        rt.op("aten::nll_loss", *arguments, differentiable=True, pre=0.8),
        rt.op(
            "aten::nll_loss_forward", *arguments, differentiable=True, pre=3.0, post=1.2
        ) as event,
    ):
        rt.launch(_nll_kernel(logits, "forward"))
        rt.record("NllLossBackward0", event, loss, lambda: _nll_backward(rt, logits, target))
    return loss


def _nll_kernel(logits: Tensor, direction: str) -> Kernel:
    rows, t = logits.shape[0], logits.dtype.cpp
    accumulate = "float" if logits.dtype is BF16 else t
    return Kernel(
        f"void at::native::(anonymous namespace)::nll_loss_{direction}_reduce_cuda_kernel_2d"
        f"<{t}, {accumulate}, long>({t}*, {t}*, {t} const*, long const*, {t} const*, bool, long, "
        "long, long, long)",
        (1, 1, 1),
        (32, 1, 1),
        40,
        Work(float(rows * 32)),
        0.02,
        264,
    )


def _nll_backward(rt: Eager, logits: Tensor, target: Tensor) -> None:
    scalar = tensor((), logits.dtype)
    with rt.op(
        "aten::nll_loss_backward", scalar, logits, target, None, 1, -100, scalar, pre=2.6, post=1.0
    ):
        empty_like(rt, logits)
        with rt.op("aten::zero_", logits, pre=0.8, post=0.4):
            fill_(rt, logits, 0)
        rt.launch(_nll_kernel(logits, "backward"))


def _softmax_backward(rt: Eager, logits: Tensor) -> None:
    with rt.op(
        "aten::_log_softmax_backward_data",
        logits,
        logits,
        1,
        logits.dtype.number,
        pre=3.0,
        post=1.2,
    ):
        rt.launch(_softmax_kernel(logits, 3, backward=True))
