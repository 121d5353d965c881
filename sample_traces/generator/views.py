"""Views: operators that change shape and strides and launch nothing."""

from __future__ import annotations

from sample_traces.generator.eager import Eager
from sample_traces.generator.tensors import Tensor, tensor


def view(rt: Eager, x: Tensor, shape: tuple[int, ...], name: str = "aten::view") -> Tensor:
    """A view of contiguous memory."""
    with rt.op(name, x, list(shape), differentiable=True, pre=0.5, post=0.3):
        pass
    return tensor(shape, x.dtype)


def reshape(rt: Eager, x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """``aten::reshape`` where a view does."""
    with rt.op("aten::reshape", x, list(shape), differentiable=True, pre=0.7, post=0.35):
        return view(rt, x, shape)


def transpose(rt: Eager, x: Tensor, first: int, second: int) -> Tensor:
    """``aten::transpose``."""
    out = x.transposed(first, second)
    with rt.op("aten::transpose", x, first, second, differentiable=True, pre=1.0, post=0.4):
        as_strided(rt, x, out)
    return out


def t(rt: Eager, x: Tensor) -> Tensor:
    """``aten::t`` of a matrix."""
    with rt.op("aten::t", x, differentiable=True, pre=0.9, post=0.35):
        return transpose(rt, x, 0, 1)


def slice_(rt: Eager, x: Tensor, dim: int, start: int, stop: int) -> Tensor:
    """``aten::slice``."""
    dim %= len(x.shape)
    shape = tuple(stop - start if i == dim else n for i, n in enumerate(x.shape))
    out = Tensor(shape, x.dtype, x.strides)
    with rt.op("aten::slice", x, dim, start, stop, 1, differentiable=True, pre=1.3, post=0.5):
        as_strided(rt, x, out)
    return out


def unsqueeze(rt: Eager, x: Tensor, dim: int) -> Tensor:
    """``aten::unsqueeze``."""
    shape, strides = list(x.shape), list(x.strides)
    shape.insert(dim, 1)
    strides.insert(dim, strides[dim] * x.shape[dim] if dim < len(x.shape) else 1)
    out = Tensor(tuple(shape), x.dtype, tuple(strides))
    with rt.op("aten::unsqueeze", x, dim, differentiable=True, pre=1.0, post=0.4):
        as_strided(rt, x, out)
    return out


def as_strided(rt: Eager, x: Tensor, out: Tensor) -> None:
    """``aten::as_strided``, which makes every view of other strides."""
    with rt.op("aten::as_strided", x, list(out.shape), list(out.strides), None, pre=0.35, post=0.2):
        pass
