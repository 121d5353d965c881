"""Chains of operators that compute attention without a fused kernel.

A product whose result is [queries, keys], a softmax over it, and a product that takes it,
close together on one thread; scaling, masks, dropout and casts of that matrix between them
belong to the chain. The backward pass looks the same around the softmax's gradient.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from whichlayer.analysis.quick_values import quick

#: How far from the softmax its products may be, in operators that launch kernels.
REACH: Final = 8
_SOFTMAX: Final = frozenset({"aten::_softmax", "aten::_safe_softmax", "aten::_masked_softmax"})
_BACKWARD: Final = frozenset({"aten::_softmax_backward_data", "aten::_masked_softmax_backward"})
_BATCHED: Final = {"aten::bmm": 0, "aten::baddbmm": 1}


@quick
@dataclass(frozen=True, slots=True)
class Part:
    """One operator call as the search sees it.

    Attributes:
        operator: its name.
        category: of its work.
        shapes: shapes of its tensors.
        item_bytes: element size of the first.
    """

    operator: str
    category: str
    shapes: tuple[tuple[int, ...], ...]
    item_bytes: int

    @property
    def is_softmax(self) -> bool:
        """Whether a chain may lie around it."""
        if self.operator not in _SOFTMAX | _BACKWARD or not self.shapes:
            return False
        return len(self.shapes[0]) >= 2 and min(self.shapes[0][-2:]) >= 2


@dataclass(frozen=True, slots=True)
class Chain:
    """Calls that together compute attention.

    Attributes:
        offsets: the calls, counted from the softmax in program order.
        flops: of the products.
        bytes: what a fused call moves.
    """

    offsets: tuple[int, ...]
    flops: int
    bytes: int


def chain_around(parts: Sequence[Part | None], at: int) -> Chain | None:
    """The chain around a softmax, or None where it is not part of one.

    Args:
        parts: calls in program order; None where there is none of this thread.
        at: the softmax among them.
    """
    softmax = parts[at]
    if softmax is None or not softmax.is_softmax:
        return None
    matrix, area = softmax.shapes[0][-2:], math.prod(softmax.shapes[0])
    products: dict[int, tuple[bool, int]] = {}
    for index, part in enumerate(parts):
        found = _product_of(part, matrix, area) if part is not None else None
        if found is not None:
            products[index] = found
    before = [index for index, (makes, _) in products.items() if index < at and makes]
    after = [index for index, (makes, _) in products.items() if index > at and not makes]
    if not before or not after:
        return None
    # The nearest product that makes the matrix and the nearest that uses it; the backward
    # pass has one more on each side.
    first, last = before[-1], after[0]
    if softmax.operator in _BACKWARD:
        earlier = [index for index in products if index < first and not products[index][0]]
        first = earlier[-1] if earlier else first
        last = after[1] if len(after) > 1 else last
    members = [
        index for index in range(first, last + 1) if index in products or _is_on(parts[index], area)
    ]
    widths = [products[index][1] for index in members if index in products]
    batch = area // math.prod(matrix)
    return Chain(
        tuple(index - at for index in members),
        2 * area * sum(widths),
        # A product's two thin operands: queries x width and keys x width.
        batch * sum(matrix) * sum(widths) * softmax.item_bytes,
    )


def _product_of(part: Part, matrix: tuple[int, ...], area: int) -> tuple[bool, int] | None:
    """Whether a batched product makes the matrix (else it takes it), and its other width."""
    skip = _BATCHED.get(part.operator)
    if skip is None or len(part.shapes) < skip + 2:
        return None
    a, b = part.shapes[skip], part.shapes[skip + 1]
    if len(a) != 3 or len(b) != 3:
        return None
    batch, m, k, n = a[0], a[1], a[2], b[2]
    if batch * m * n == area and (m, n) in (matrix, matrix[::-1]):
        return True, k
    if batch * m * k == area and (m, k) in (matrix, matrix[::-1]):
        return False, n
    if batch * k * n == area and (k, n) in (matrix, matrix[::-1]):
        return False, m
    return None


def _is_on(part: Part | None, area: int) -> bool:
    """Whether an operator works elementwise on the whole matrix."""
    if part is None or part.category not in ("pointwise", "copy", "softmax"):
        return False
    return any(math.prod(shape) == area for shape in part.shapes)
