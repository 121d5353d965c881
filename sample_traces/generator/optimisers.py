"""Optimiser steps: fused AdamW, foreach SGD with momentum, and zero_grad."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from sample_traces.generator.eager import Eager
from sample_traces.generator.kernels import Kernel
from sample_traces.generator.records import Work
from sample_traces.generator.tensors import FLOAT, Tensor, tensor

#: Elements that a block of a multi-tensor kernel handles, and blocks that fit in one launch.
CHUNK = 65_536
MOST_BLOCKS = 320


@contextmanager
def annotation(rt: Eager, name: str) -> Iterator[None]:
    """``with torch.profiler.record_function(name)``."""
    thread = rt.thread
    with ExitStack() as stack:
        stack.enter_context(thread.frame("torch/autograd/profiler.py(800): __enter__", pre=2.0))
        stack.enter_context(thread.frame("torch/_ops.py(1116): __call__", pre=1.4))
    with thread.op(name, "user_annotation", pre=6.0, post=2.0):
        yield
    with thread.frame("torch/autograd/profiler.py(806): __exit__", pre=2.4):
        pass


def zero_grad(rt: Eager, optimiser: str) -> None:
    """``optimizer.zero_grad(set_to_none=True)``: no kernel."""
    with (
        rt.thread.frame("torch/optim/optimizer.py(919): zero_grad"),
        annotation(rt, f"Optimizer.zero_grad#{optimiser}.zero_grad"),
    ):
        rt.thread.spend(30.0)


def _step(rt: Eager, optimiser: str, file: str) -> ExitStack:
    stack = ExitStack()
    stack.enter_context(rt.thread.frame("torch/optim/optimizer.py(471): wrapper", pre=3.0))
    stack.enter_context(annotation(rt, f"Optimizer.step#{optimiser}.step"))
    stack.enter_context(rt.thread.frame("torch/optim/optimizer.py(74): _use_grad", pre=2.0))
    stack.enter_context(rt.thread.frame(file, pre=20.0))
    return stack


def _launches(parameters: Sequence[Tensor]) -> list[int]:
    """Elements of each launch: a launch ends when its blocks are used up."""
    elements, launches, blocks = 0, [], 0
    for parameter in parameters:
        left = parameter.count
        while left:
            room = (MOST_BLOCKS - blocks) * CHUNK
            taken = min(left, room)
            elements += taken
            blocks += -(-taken // CHUNK)
            left -= taken
            if blocks >= MOST_BLOCKS:
                launches.append(elements)
                elements = blocks = 0
    return [*launches, elements] if elements else launches


def _multi_tensor(
    rt: Eager, name: str, parameters: Sequence[Tensor], passes: int, quality: float, registers: int
) -> None:
    size = parameters[0].dtype.size
    for elements in _launches(parameters):
        rt.launch(
            Kernel(
                name,
                (max(1, -(-elements // CHUNK)), 1, 1),
                (512, 1, 1),
                registers,
                Work(float(passes * elements * size)),
                quality,
            )
        )


def fused_adamw(rt: Eager, parameters: Sequence[Tensor]) -> None:
    """``torch.optim.AdamW(fused=True).step()``."""
    steps = [tensor((), FLOAT)] * len(parameters)
    listed = list(parameters)
    metadata = "at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>"
    t = parameters[0].dtype.cpp
    functor = (
        f"at::native::(anonymous namespace)::FusedAdamMathFunctor<{t}, 4, "
        "(at::native::(anonymous namespace)::ADAM_MODE)1, false>"
    )
    tail = "float const*, double, double, double, double, double, bool, float const*, float const*"
    name = (
        f"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<{metadata}, "
        f"{functor}, {tail}>({metadata}, {functor}, {tail})"
    )
    with _step(rt, "AdamW", "torch/optim/adam.py(212): step"):
        with rt.op("aten::_foreach_add_", steps, 1, pre=20.0, post=2.0):
            _multi_tensor(rt, _foreach_add_name(), steps, 2, 0.5, 28)
        with rt.op(
            "aten::_fused_adamw_",
            listed,
            listed,
            listed,
            listed,
            [],
            steps,
            0.0003,
            0.9,
            0.95,
            0.1,
            1e-8,
            False,
            False,
            None,
            None,
            pre=60.0,
            post=4.0,
        ):
            _multi_tensor(rt, name, parameters, 7, 0.88, 68)


def _foreach_add_name() -> str:
    space = "at::native::(anonymous namespace)::"
    arguments = (
        f"{space}TensorListMetadata<1>, {space}BinaryOpScalarFunctor<float, 1, 1, 0>, "
        "std::plus<float>, float"
    )
    return f"void {space}multi_tensor_apply_kernel<{arguments}>({arguments})"


def _foreach_list_name() -> str:
    space = "at::native::(anonymous namespace)::"
    arguments = (
        f"{space}TensorListMetadata<2>, {space}BinaryOpListAlphaFunctor<float, 2, 2, 0>, "
        "std::plus<float>, float"
    )
    return f"void {space}multi_tensor_apply_kernel<{arguments}>({arguments})"


def _foreach_scale_name() -> str:
    space = "at::native::(anonymous namespace)::"
    arguments = (
        f"{space}TensorListMetadata<1>, {space}BinaryOpScalarFunctor<float, 1, 1, 0>, "
        "std::multiplies<float>, float"
    )
    return f"void {space}multi_tensor_apply_kernel<{arguments}>({arguments})"


def foreach_sgd(rt: Eager, parameters: Sequence[Tensor]) -> None:
    """``torch.optim.SGD(momentum=0.9).step()`` on the foreach implementation."""
    listed = list(parameters)
    with _step(rt, "SGD", "torch/optim/sgd.py(103): step"):
        with rt.op("aten::_foreach_mul_", listed, 0.9, pre=26.0, post=2.0):
            _multi_tensor(rt, _foreach_scale_name(), parameters, 2, 0.84, 28)
        with rt.op("aten::_foreach_add_", listed, listed, 1, pre=30.0, post=2.0):
            _multi_tensor(rt, _foreach_list_name(), parameters, 3, 0.85, 32)
        with rt.op("aten::_foreach_add_", listed, listed, -0.1, pre=30.0, post=2.0):
            _multi_tensor(rt, _foreach_list_name(), parameters, 3, 0.85, 32)


def clip_and_average(rt: Eager, parameters: Sequence[Tensor]) -> None:
    """``clip_grad_norm_(foreach=True)`` before a step, and the moving average of the weights."""
    listed = list(parameters)
    space = "at::native::(anonymous namespace)::"
    t = parameters[0].dtype.cpp
    norm = (
        f"{space}TensorListMetadata<1>, {space}LpNormFunctor<{t}, (at::native::NormType)1, {t}, "
        f"1, 1, 0>, float*, int"
    )
    lerp = (
        f"{space}TensorListMetadata<2>, {space}TernaryOpScalarFunctor<{t}, 2, 2, 0>, "
        "at::native::LerpFunctor<float>, float"
    )
    scale = (
        f"{space}TensorListMetadata<1>, {space}BinaryOpScalarTensorFunctor<{t}, 1, 1, 0>, "
        "std::multiplies<float>, float*, float"
    )

    def kernel(arguments: str) -> str:
        return f"void {space}multi_tensor_apply_kernel<{arguments}>({arguments})"

    with rt.op("aten::_foreach_norm", listed, 2, None, pre=30.0, post=2.0):
        _multi_tensor(rt, kernel(norm), parameters, 1, 0.86, 32)
    with rt.op("aten::_foreach_mul_", listed, tensor((), FLOAT), pre=26.0, post=2.0):
        _multi_tensor(rt, kernel(scale), parameters, 2, 0.86, 28)
    with rt.op("aten::_foreach_lerp_", listed, listed, 0.001, pre=30.0, post=2.0):
        _multi_tensor(rt, kernel(lerp), parameters, 3, 0.87, 32)
