"""In which row of its lane a slice is drawn, where not all slices of a lane are drawn together.

A lane of a large trace holds a million slices: nothing here goes from slice to slice.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.trace.columns import Trace

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Bool = NDArray[np.bool_]
Ints = NDArray[np.signedinteger[Any]]
Scalar = TypeVar("Scalar", bound=np.generic)

#: Rounds in which crossing slices are moved to lower rows; real files need one or two.
_MOST_ROUNDS = 200


def part_of(column: NDArray[Scalar], rows: Int32) -> NDArray[Scalar]:
    """A column at ascending rows; the column's own memory where they follow on one another."""
    if len(rows) and int(rows[-1]) - int(rows[0]) == len(rows) - 1:
        return column[int(rows[0]) : int(rows[-1]) + 1]
    return column.take(rows)


def by_depth(depth: Int32) -> NDArray[np.intp]:
    """The order that puts slices row by row, as they were within each."""
    # Numbers of 16 bits are sorted in linear time.
    narrow = len(depth) and int(depth.max()) < 1 << 16
    return np.argsort(depth.astype(np.uint16) if narrow else depth, kind="stable")


def nesting_without(trace: Trace, slices: Int32, apart: Bool) -> Int32:
    """Rows for one lane's slices when those marked ``apart`` are drawn by themselves.

    Each slice goes as deep as it has ancestors of its own sort; where slices cross, the later
    one goes further down.

    Args:
        trace: the recording.
        slices: the trace rows of a lane, sorted.
        apart: bool, the shape of ``slices``.
    """
    depth = part_of(trace.depth, slices)
    around, plain = _count_nested(slices, part_of(trace.parent, slices), depth, apart)
    nested = np.where(apart, around, plain).astype(np.int32) - 1
    # Slices that cross are drawn deeper than they are nested.
    if bool((around + plain - 1 != depth).any()):
        for which in (apart, ~apart):
            nested[which] = _uncross(trace, slices[which], nested[which])
    return nested


def _count_nested(slices: Int32, parent: Int32, depth: Int32, apart: Bool) -> tuple[Ints, Ints]:
    """How many of each sort a slice and its ancestors are: those drawn apart, the others.

    Every slice adds what its parent has counted and then looks where its parent looks, so that
    each round reaches twice as far up.
    """
    deepest = int(depth.max())
    # Two counts in one number: each way up is gone once.
    bits, kind = (16, np.int32) if deepest < (1 << 15) - 1 else (32, np.int64)
    base, count = int(slices[0]), int(slices[-1]) - int(slices[0]) + 1
    at = slice(count) if count == len(slices) else slices - base
    counts: Ints = np.ones(count + 1, dtype=kind)
    counts[at] = np.where(apart, kind(1 << bits), kind(1))
    counts[-1] = 0  # what those without a parent look at
    up = np.full(count + 1, count, dtype=np.intp)
    up[at] = np.where(parent >= base, parent - base, count)
    reached = 1
    while reached <= deepest:
        counts += counts[up]
        up = up[up]
        reached *= 2
    counts = counts[at]
    return counts >> bits, counts & ((1 << bits) - 1)


def _uncross(trace: Trace, slices: Int32, depth: Int32) -> Int32:
    """Move slices that overlap an earlier one of their row to the next row, top to bottom."""
    depth = depth.copy()
    row = 0
    while len(depth) and row <= depth.max() and row < _MOST_ROUNDS:
        mine = np.flatnonzero(depth == row)
        reach = np.maximum.accumulate(trace.end_ns[slices[mine]])
        crosses = np.concatenate(([False], trace.start_ns[slices[mine]][1:] < reach[:-1]))
        depth[mine[crosses[: len(mine)]]] += 1
        row += 1
    return depth
