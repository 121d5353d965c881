"""Chains of operators that compute attention without a fused kernel.

A product whose result is [queries, keys], a softmax over it, and a product that takes it,
close together on one thread; scaling, masks, dropout and casts of that matrix between them
belong to the chain. The backward pass looks the same around the softmax's gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]

#: How far from the softmax its products may be, in operators that launch kernels.
_REACH: Final = 8
_SOFTMAX: Final = frozenset({"aten::_softmax", "aten::_safe_softmax", "aten::_masked_softmax"})
_BACKWARD: Final = frozenset({"aten::_softmax_backward_data", "aten::_masked_softmax_backward"})
_BATCHED: Final = {"aten::bmm": 0, "aten::baddbmm": 1}


@dataclass(frozen=True, slots=True)
class Part:
    """One unit as the search sees it.

    Attributes:
        operator: its name.
        category: of its work.
        shapes: shapes of its first tensors.
        item_bytes: element size of the first.
    """

    operator: str
    category: str
    shapes: tuple[tuple[int, ...], ...]
    item_bytes: int


@dataclass(frozen=True, slots=True)
class Chain:
    """Units that together compute attention.

    Attributes:
        units: their numbers, in program order.
        flops: of the products.
        bytes: what a fused call moves.
    """

    units: tuple[int, ...]
    flops: int
    bytes: int


def find_chains(
    order: Sequence[int], lane: Int64, part_of: Callable[[int], Part | None]
) -> list[Chain]:
    """Chains among units.

    Args:
        order: unit numbers in program order, thread by thread.
        lane: int64 (len(order),), their threads.
        part_of: what a unit is, or None where nothing is known of it.
    """
    chains: list[Chain] = []
    taken: set[int] = set()
    for at, unit in enumerate(order):
        part = part_of(unit)
        if part is None or part.operator not in _SOFTMAX | _BACKWARD or not part.shapes:
            continue
        if len(part.shapes[0]) < 2 or min(part.shapes[0][-2:]) < 2:
            continue
        low = max(0, at - _REACH)
        near = [i for i in range(low, min(len(order), at + _REACH + 1)) if lane[i] == lane[at]]
        chain = _chain_around(order, near, at, part, part_of)
        if chain is not None and not taken & set(chain.units):
            chains.append(chain)
            taken |= set(chain.units)
    return chains


def _chain_around(
    order: Sequence[int],
    near: list[int],
    at: int,
    softmax: Part,
    part_of: Callable[[int], Part | None],
) -> Chain | None:
    matrix = softmax.shapes[0][-2:]
    area = math.prod(softmax.shapes[0])
    parts = {i: part_of(order[i]) for i in near}
    products = {
        i: sizes
        for i, part in parts.items()
        if part is not None and (sizes := _product_of(part, matrix, area)) is not None
    }
    backward = softmax.operator in _BACKWARD
    before = [i for i, (makes, _) in products.items() if i < at and makes]
    after = [i for i, (makes, _) in products.items() if i > at and not makes]
    if not before or not after:
        return None
    # The nearest product that makes the matrix and the nearest that uses it; the backward
    # pass has one more on each side.
    first, last = before[-1], after[0]
    if backward:
        earlier = [i for i in products if i < first and not products[i][0]]
        first = earlier[-1] if earlier else first
        last = after[1] if len(after) > 1 else last
    members = [i for i in near if first <= i <= last and (i in products or _is_on(parts[i], area))]
    chosen = [i for i in members if i in products]
    item = softmax.item_bytes
    return Chain(
        tuple(order[i] for i in members),
        sum(2 * area * products[i][1] for i in chosen),
        sum(_outer_bytes(matrix, area, products[i][1], item) for i in chosen),
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


def _outer_bytes(matrix: tuple[int, ...], area: int, width: int, item: int) -> int:
    """Bytes of a product's two thin operands, queries x width and keys x width."""
    batch = area // math.prod(matrix)
    return batch * sum(matrix) * width * item
