"""The names of ATen's pointwise functors, as they stand inside kernel names."""

from __future__ import annotations

from sample_traces.generator.tensors import BF16, FLOAT, DType


def _lambda(dtype: DType, arguments: int, numbers: tuple[int, int, int]) -> str:
    outer, middle, last = numbers
    types = ", ".join([dtype.cpp] * arguments)
    return (
        f"::{{lambda()#{outer}}}::operator()() const::{{lambda()#{middle}}}"
        f"::operator()() const::{{lambda({types})#{last}}}"
    )


def functor_add(dtype: DType) -> str:
    """Sum of two tensors."""
    return f"at::native::CUDAFunctor_add<{dtype.cpp}>"


def functor_mul(dtype: DType) -> str:
    """Product of two tensors."""
    t = dtype.cpp
    return (
        f"at::native::BinaryFunctor<{t}, {t}, {t}, at::native::binary_internal::MulFunctor<float> >"
    )


def functor_scale(dtype: DType) -> str:
    """Product of a tensor and a number."""
    t = dtype.cpp
    return (
        f"at::native::AUnaryFunctor<{t}, {t}, {t}, at::native::binary_internal::MulFunctor<float> >"
    )


def functor_gelu(dtype: DType, backward: bool = False) -> str:
    """GELU, exact form."""
    head = "GeluBackwardCUDAKernelImpl" if backward else "GeluCUDAKernelImpl"
    numbers = (2, 4 if dtype is BF16 else 2, 1)
    return f"at::native::{head}(at::TensorIteratorBase&, at::native::GeluType)" + _lambda(
        dtype, 2 if backward else 1, numbers
    )


def functor_silu(dtype: DType) -> str:
    """SiLU."""
    numbers = (1, 6 if dtype is BF16 else 2, 1)
    return "at::native::(anonymous namespace)::silu_kernel(at::TensorIteratorBase&)" + _lambda(
        dtype, 1, numbers
    )


def functor_threshold(dtype: DType) -> str:
    """Backward of ReLU."""
    t = dtype.cpp
    return (
        f"at::native::BinaryFunctor<{t}, {t}, {t}, at::native::(anonymous namespace)::"
        f"threshold_kernel_impl<{t}>(at::TensorIteratorBase&, {t}, {t})::{{lambda({t}, {t})#1}}>"
    )


def functor_clamp_min(dtype: DType) -> str:
    """ReLU."""
    return (
        "at::native::(anonymous namespace)::launch_clamp_scalar(at::TensorIteratorBase&, "
        "c10::Scalar, c10::Scalar, at::native::detail::ClampLimits)" + _lambda(dtype, 1, (1, 7, 1))
    )


def functor_pow() -> str:
    """Square in FP32."""
    return (
        "at::native::(anonymous namespace)::pow_tensor_scalar_kernel_impl<float, float>"
        "(at::TensorIteratorBase&, float)::{lambda(float)#1}"
    )


def functor_add_scalar() -> str:
    """Sum of a tensor and a number in FP32."""
    return "at::native::CUDAFunctorOnSelf_add<float>"


def functor_rsqrt() -> str:
    """Reciprocal square root in FP32."""
    return "at::native::rsqrt_kernel_cuda(at::TensorIteratorBase&)" + _lambda(FLOAT, 1, (2, 2, 1))


def functor_negate() -> str:
    """Negation in bf16."""
    return "at::native::neg_kernel_cuda(at::TensorIteratorBase&)" + _lambda(BF16, 1, (2, 9, 1))


def functor_copy(dtype: DType) -> str:
    """``copy_`` between layouts."""
    numbers = (3, 12 if dtype is BF16 else 7, 1)
    return "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)" + _lambda(
        dtype, 1, numbers
    )
