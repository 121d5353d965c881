"""Pointwise operators, copies and views, with the kernels that ATen launches for them."""

from __future__ import annotations

from sample_traces.generator.eager import Eager
from sample_traces.generator.functors import (
    functor_add,
    functor_clamp_min,
    functor_copy,
    functor_gelu,
    functor_mul,
    functor_threshold,
)
from sample_traces.generator.kernels import Grid, Kernel
from sample_traces.generator.records import Work
from sample_traces.generator.tensors import (
    BF16,
    BYTE,
    FLOAT,
    Argument,
    DType,
    Tensor,
    WrappedNumber,
    tensor,
)
from sample_traces.generator.views import as_strided, transpose

THREADS = 128
PER_THREAD = 4
BANDWIDTH_QUALITY = 0.9


def blocks(count: int, per_block: int = THREADS * PER_THREAD) -> Grid:
    """A one-dimensional grid for ``count`` elements."""
    return (max(1, -(-count // per_block)), 1, 1)


def vectorized(functor: str, tensors: int) -> str:
    """The name of a vectorised elementwise kernel over so many tensors, the output included."""
    array = f"std::array<char*, {tensors}ul>"
    return (
        f"void at::native::vectorized_elementwise_kernel<4, {functor}, {array} >"
        f"(int, {functor}, {array})"
    )


def elementwise(
    functor: str,
    inputs: tuple[Tensor, ...],
    output: Tensor,
    registers: int = 24,
    flops_each: int = 1,
) -> Kernel:
    """The kernel of a contiguous pointwise operator: each input read, the output written."""
    size = sum(t.bytes for t in inputs) + output.bytes
    return Kernel(
        vectorized(functor, len(inputs) + 1),
        blocks(output.count),
        (THREADS, 1, 1),
        registers,
        Work(bytes=float(size)),
        BANDWIDTH_QUALITY,
    )


def empty(rt: Eager, shape: tuple[int, ...], dtype: DType) -> Tensor:
    """``aten::empty`` from the caching allocator."""
    with rt.op("aten::empty", list(shape), dtype.number, 0, None, None, None, pre=1.5, post=0.6):
        pass
    return tensor(shape, dtype)


def empty_like(rt: Eager, like: Tensor) -> Tensor:
    """``aten::empty_like``."""
    with rt.op("aten::empty_like", like, None, None, None, None, 0, pre=0.9, post=0.4):
        empty(rt, like.shape, like.dtype)
    return like


def split_heads(rt: Eager, x: Tensor, parts: int, heads: int) -> list[Tensor]:
    """``x.split(...)``, each part viewed as heads and transposed to [batch, heads, length, head]."""
    batch, length, total = x.shape
    width = total // parts
    head = width // heads
    row = (length * total, total, 1)
    part = Tensor((batch, length, width), x.dtype, row)
    split = Tensor((batch, length, heads, head), x.dtype, (length * total, total, head, 1))
    with rt.op("aten::split", x, width, 2, differentiable=True, pre=2.0, post=0.8) as event:
        for index in range(parts):
            with rt.op("aten::narrow", x, 2, index * width, width, pre=0.9, post=0.3):
                as_strided(rt, x, part)
        rt.record("SplitBackward0", event, part, lambda: _join(rt, part, parts))
    out = []
    for _ in range(parts):
        with rt.op("aten::view", part, [batch, length, heads, head], differentiable=True, pre=0.7):
            pass
        out.append(transpose(rt, split, 1, 2))
    return out


def _join(rt: Eager, part: Tensor, parts: int) -> None:
    """The gradient of a split."""
    cat(rt, [part.like(*part.shape)] * parts, 2)


def cat(rt: Eager, parts: list[Tensor], dim: int) -> Tensor:
    """``torch.cat`` along a dimension."""
    first = parts[0]
    shape = list(first.shape)
    shape[dim] = sum(part.shape[dim] for part in parts)
    whole = first.like(*shape)
    opaque = f"at::native::(anonymous namespace)::OpaqueType<{first.dtype.size}u>"
    space = "at::native::(anonymous namespace)::"
    with rt.op("aten::cat", parts, dim, differentiable=True, pre=6.0, post=1.6):
        rt.launch(
            Kernel(
                f"void {space}CatArrayBatchedCopy_aligned16_contig<{opaque}, unsigned int, 3, "
                f"128, 1>({opaque}*, {space}CatArrInputTensorMetadata<{opaque}, unsigned int, "
                f"128, 1>, {space}TensorSizeStride<unsigned int, 4u>, int, unsigned int)",
                (2 * rt.machine.gpu.sms, len(parts), 1),
                (512, 1, 1),
                29,
                Work(bytes=float(2 * whole.bytes)),
                BANDWIDTH_QUALITY,
            )
        )
    return whole


def _binary(
    rt: Eager, name: str, functor: str, a: Tensor, b: Tensor | WrappedNumber, *rest: Argument
) -> Tensor:
    inputs = (a, b) if isinstance(b, Tensor) else (a,)
    with rt.op(name, a, b, *rest, differentiable=True, pre=3.4, post=1.4) as event:
        rt.launch(elementwise(functor, inputs, a))
        if name.startswith("aten::add"):
            rt.record("AddBackward0", event, a, lambda: None)
    return a


def add(rt: Eager, a: Tensor, b: Tensor) -> Tensor:
    """``a + b`` of equal shapes."""
    return _binary(rt, "aten::add", functor_add(a.dtype), a, b, 1)


def add_(rt: Eager, a: Tensor, b: Tensor) -> Tensor:
    """``a += b``."""
    return _binary(rt, "aten::add_", functor_add(a.dtype), a, b, 1)


def mul(rt: Eager, a: Tensor, b: Tensor) -> Tensor:
    """``a * b`` of equal shapes."""
    return _binary(rt, "aten::mul", functor_mul(a.dtype), a, b)


def unary(rt: Eager, name: str, functor: str, x: Tensor, *rest: Argument) -> Tensor:
    """A pointwise operator of one tensor that needs no gradient."""
    with rt.op(name, x, *rest, differentiable=True, pre=3.0, post=1.3):
        rt.launch(elementwise(functor, (x,), x))
    return x


def gelu(rt: Eager, x: Tensor) -> Tensor:
    """``F.gelu``."""
    with rt.op("aten::gelu", x, "none", differentiable=True, pre=3.0, post=1.4) as event:
        rt.launch(elementwise(functor_gelu(x.dtype), (x,), x, 30))

        def backward() -> None:
            with rt.op("aten::gelu_backward", x, x, "none", pre=2.6, post=1.2):
                rt.launch(elementwise(functor_gelu(x.dtype, backward=True), (x, x), x, 34))

        rt.record("GeluBackward0", event, x, backward)
    return x


def relu_(rt: Eager, x: Tensor) -> Tensor:
    """``F.relu(x, inplace=True)``."""
    with rt.op("aten::relu_", x, differentiable=True, pre=1.4, post=0.8) as event:
        with rt.op("aten::clamp_min_", x, 0, pre=2.6, post=1.1):
            rt.launch(elementwise(functor_clamp_min(x.dtype), (x,), x, 18))

        def backward() -> None:
            with rt.op("aten::threshold_backward", x, x, 0, pre=2.6, post=1.1):
                rt.launch(elementwise(functor_threshold(x.dtype), (x, x), x, 22))

        rt.record("ReluBackward0", event, x, backward)
    return x


def fill_(rt: Eager, x: Tensor, value: float) -> None:
    """``x.fill_(value)``."""
    with rt.op("aten::fill_", x, value, pre=1.8, post=0.8):
        rt.launch(elementwise(f"at::native::FillFunctor<{x.dtype.cpp}>", (), x, 16))


def cast_kernel(x: Tensor, out: Tensor) -> Kernel:
    """The kernel of ``copy_`` between types."""
    if out.dtype is BF16:
        functor = (
            "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}"
        )
        return elementwise(functor, (x,), out, 16)
    functor = (
        "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() "
        f"const::{{lambda()#7}}::operator()() const::{{lambda({FLOAT.cpp})#1}}"
    )
    offset = "TrivialOffsetCalculator<1, unsigned int>"
    tail = (
        f"{functor}, std::array<char*, 2ul>, 4, {offset}, {offset}, "
        "at::native::memory::LoadWithCast<1>, at::native::memory::StoreWithCast<1>"
    )
    arguments = (
        f"int, {functor}, std::array<char*, 2ul>, {offset}, {offset}, "
        "at::native::memory::LoadWithCast<1>, at::native::memory::StoreWithCast<1>"
    )
    return Kernel(
        f"void at::native::unrolled_elementwise_kernel<{tail}>({arguments})",
        blocks(out.count),
        (THREADS, 1, 1),
        32,
        Work(bytes=float(x.bytes + out.bytes)),
        0.84 if x.dtype is BYTE else 0.88,
    )


def cast(rt: Eager, x: Tensor, dtype: DType) -> Tensor:
    """``x.to(dtype)`` on the device."""
    out = Tensor(x.shape, dtype, x.strides)
    with (
        rt.op("aten::to", x, dtype.number, False, False, None, differentiable=True, pre=0.9),
        rt.op("aten::_to_copy", x, dtype.number, None, None, None, False, None, pre=1.4),
    ):
        with rt.op(
            "aten::empty_strided", list(x.shape), list(x.strides), dtype.number, 0, "cuda:0", None
        ):
            pass
        with rt.op("aten::copy_", out, x, False, pre=2.6, post=1.0):
            rt.launch(cast_kernel(x, out))
    return out


def strided_kernel(
    functor: str, work: Work, count: int, quality: float, registers: int = 18
) -> Kernel:
    """The kernel of a pointwise operator whose tensors differ in layout."""
    body = f"at::native::gpu_kernel_impl_nocast<{functor} >"
    signature = f"(at::TensorIteratorBase&, {functor} const&)::{{lambda(int)#1}}"
    return Kernel(
        f"void at::native::elementwise_kernel<128, 4, {body}{signature}>(int, {body}{signature})",
        blocks(count),
        (THREADS, 1, 1),
        registers,
        work,
        quality,
    )


def to_channels_last(rt: Eager, x: Tensor) -> Tensor:
    """``x.contiguous(memory_format=torch.channels_last)``."""
    _, c, h, w = x.shape
    out = Tensor(x.shape, x.dtype, (h * w * c, 1, w * c, c))
    with rt.op("aten::contiguous", x, 2, pre=0.8), rt.op("aten::clone", x, 2, pre=1.2):
        empty_like(rt, x)
        with rt.op("aten::copy_", out, x, False, pre=2.6, post=1.0):
            work = Work(bytes=float(2 * x.bytes))
            rt.launch(strided_kernel(functor_copy(x.dtype), work, x.count, 0.68))
    return out
