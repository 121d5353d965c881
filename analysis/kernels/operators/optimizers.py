"""Foreach and fused optimiser operators, where the lists they work on are recorded.

The type of a list is never recorded; the kernel's template tells it. Lists of more than 30
tensors are printed as ``[]`` and have no figure.
"""

from __future__ import annotations

import math
from typing import Final

from whichlayer.analysis.kernels.calls import OpCall, Unknown
from whichlayer.analysis.kernels.dtypes import ITEM_BYTES, dtype_of
from whichlayer.analysis.kernels.operators.copies import list_item_bytes
from whichlayer.analysis.kernels.work import Work, operator

_UNARY: Final = [
    "abs",
    "ceil",
    "cos",
    "erf",
    "exp",
    "expm1",
    "floor",
    "frac",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "neg",
    "reciprocal",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
    "zero",
]
_BINARY: Final = ("add", "sub", "mul", "div", "clamp_max", "clamp_min", "maximum", "minimum", "pow")


def _elements(call: OpCall, index: int) -> int:
    shapes = call.shapes(index)
    if shapes is None:
        raise Unknown("the operator does not list its tensors (lists above 30 are not printed)")
    return sum(math.prod(shape) for shape in shapes)


def _item(call: OpCall) -> int:
    """Element size, from the functor of the kernel or a dtype that is recorded."""
    size = list_item_bytes(call)
    if size is not None:
        return size
    found = set()
    for name in call.kernels:
        at = name.find("Functor<")
        dtype = dtype_of(name[at + 8 :].split(",")[0].split(">")[0]) if at >= 0 else None
        if dtype is not None:
            found.add(ITEM_BYTES[dtype])
    if len(found) != 1:
        raise Unknown("the type of a list of tensors is not recorded")
    return found.pop()


def _passes(call: OpCall, passes: int) -> Work:
    return Work(bytes=passes * _elements(call, 0) * _item(call), category="optimizer")


for _name in _UNARY:

    @operator(f"_foreach_{_name}", f"_foreach_{_name}_")
    def unary(call: OpCall) -> Work:
        """One list read and written; ``zero_`` only writes."""
        return _passes(call, 1 if "zero" in call.name else 2)


for _name in _BINARY:

    @operator(f"_foreach_{_name}", f"_foreach_{_name}_")
    def binary(call: OpCall) -> Work:
        """A list with a number or with another list."""
        return _passes(call, 3 if call.shapes(1) else 2)


@operator("_foreach_lerp", "_foreach_lerp_")
def lerp(call: OpCall) -> Work:
    """self, end, weight."""
    return _passes(call, 4 if call.shapes(2) else 3)


@operator("_foreach_addcmul", "_foreach_addcmul_", "_foreach_addcdiv", "_foreach_addcdiv_")
def fused_multiply(call: OpCall) -> Work:
    """self, two factors."""
    return _passes(call, 4)


@operator("_foreach_norm", "_foreach_max")
def norm(call: OpCall) -> Work:
    """One number a tensor."""
    return _passes(call, 1)


@operator("_foreach_copy_", "_amp_foreach_non_finite_check_and_unscale_")
def copy(call: OpCall) -> Work:
    """One list read, one written."""
    return _passes(call, 2)


@operator("_fused_adam_", "_fused_adamw_")
def adam(call: OpCall) -> Work:
    """p, grad, two moments, [their maximum]: all read, all but the gradient written."""
    return _passes(call, 9 if call.shapes(4) else 7)


@operator("_fused_sgd_")
def sgd(call: OpCall) -> Work:
    """p, grad, [momentum]."""
    return _passes(call, 5 if call.shapes(2) else 3)


@operator("_fused_adagrad_")
def adagrad(call: OpCall) -> Work:
    """p, grad, sum."""
    return _passes(call, 5)
