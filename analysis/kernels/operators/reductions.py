"""Reductions and scans: the input read once; results are small and written once."""

from __future__ import annotations

import math
from typing import Final

from whichlayer.analysis.kernels.calls import OpCall, Tensor, Unknown
from whichlayer.analysis.kernels.dtypes import DTYPE_ENUM, ITEM_BYTES, category
from whichlayer.analysis.kernels.work import Work, operator

# Name: (position of the dims, position of the dtype, arguments of the schema).
_REDUCTIONS: Final = {
    "sum": (1, 3, 4), "nansum": (1, 3, 4), "mean": (1, 3, 4), "prod": (1, 3, 4),
    "amax": (1, -1, 3), "amin": (1, -1, 3), "all": (1, -1, 3), "any": (1, -1, 3),
    "linalg_vector_norm": (2, 4, 5), "norm": (2, 4, 5), "logsumexp": (1, -1, 3),
    "var": (1, -1, 4), "std": (1, -1, 4), "count_nonzero": (1, -1, 2),
}  # fmt: skip
_BOOLEAN: Final = frozenset({"all", "any"})
_WIDENING: Final = frozenset({"sum", "prod", "nansum", "count_nonzero"})


def rows_left(x: Tensor, dims: tuple[int, ...] | None) -> int:
    """Elements of the result when these dimensions are reduced (all of them for none)."""
    if not dims:
        return 1
    rank = len(x.shape)
    gone = {dim % rank for dim in dims} if rank else set()
    return math.prod(size for index, size in enumerate(x.shape) if index not in gone)


def _model(name: str, dims_at: int, dtype_at: int, arity: int) -> None:
    @operator(name)
    def reduce(call: OpCall) -> Work:
        x = call.need(0)
        out = call.out(arity)
        if out is not None:
            return Work(bytes=x.bytes + out.bytes, category="reduction")
        full = call.concrete is not None and not call.text(dims_at)
        dims = call.ints(dims_at)
        if dims is None and not full and call.arguments > dims_at and call.concrete is None:
            return Work(
                bytes=x.bytes, category="reduction", bound="lower",
                reason="the reduced dimensions are not recorded: the input alone",
            )  # fmt: skip
        rows = rows_left(x, dims)
        return Work(
            bytes=x.bytes + rows * ITEM_BYTES[_dtype(call, name, x, dtype_at)],
            category="reduction",
        )


def _dtype(call: OpCall, name: str, x: Tensor, dtype_at: int) -> str:
    asked = call.number(dtype_at) if dtype_at >= 0 else None
    if asked is not None and int(asked) in DTYPE_ENUM:
        return DTYPE_ENUM[int(asked)]
    if name in _BOOLEAN:
        return "bool"
    if name in _WIDENING and category(x.dtype) < 2:
        return "int64"
    return x.dtype


for _name, _places in _REDUCTIONS.items():
    _model(_name, *_places)


@operator("argmax", "argmin")
def arg_extreme(call: OpCall) -> Work:
    """self, dim: writes one int64 a row."""
    x = call.need(0)
    return Work(bytes=x.bytes + 8 * rows_left(x, call.ints(1)), category="reduction")


@operator("max", "min", "median", "mode")
def extreme(call: OpCall) -> Work:
    """Self alone; self, dim, keepdim; or two tensors element by element."""
    x, other = call.need(0), call.tensor(1)
    if other is not None and other.shape:
        return Work(bytes=x.bytes + other.bytes + max(x.count, other.count) * x.item_bytes,
                    category="pointwise")  # fmt: skip
    dims = call.ints(1)
    rows = rows_left(x, dims)
    index = 8 if dims else 0
    return Work(bytes=x.bytes + rows * (x.item_bytes + index), category="reduction")


@operator("var_mean", "std_mean", "aminmax", "_aminmax")
def two_results(call: OpCall) -> Work:
    """Two results a row."""
    x = call.need(0)
    return Work(bytes=x.bytes + 2 * rows_left(x, call.ints(1)) * x.item_bytes, category="reduction")


@operator("cumsum", "cumprod", "logcumsumexp", "_cumsum")
def scan(call: OpCall) -> Work:
    """self, dim, dtype: as much written as read; integers become int64."""
    x = call.need(0)
    out = call.out(3)
    asked = call.number(2)
    dtype = DTYPE_ENUM.get(int(asked), x.dtype) if asked is not None else x.dtype
    if asked is None and category(dtype) < 2:
        dtype = "int64"
    written = out.bytes if out is not None else x.count * ITEM_BYTES[dtype]
    return Work(bytes=x.bytes + written, category="reduction")


@operator("cummax", "cummin")
def scan_with_index(call: OpCall) -> Work:
    """Writes values and int64 positions."""
    x = call.need(0)
    return Work(bytes=x.bytes + x.count * (x.item_bytes + 8), category="reduction")


@operator("dot", "vdot")
def dot(call: OpCall) -> Work:
    """Two vectors, one number."""
    x, y = call.need(0), call.need(1)
    return Work(bytes=x.bytes + y.bytes + x.item_bytes, category="reduction")


@operator("_local_scalar_dense", "item", "is_nonzero", "equal")
def scalar(call: OpCall) -> Work:
    """Its copy to the host carries its own size."""
    raise Unknown("its copy carries its own size")
