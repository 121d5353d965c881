"""Which slice of a lane encloses which, and the row each is drawn in."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np

from whichlayer.analysis.trace.columns import Int32, Int64


def nest_slices(
    start_ns: Int64, end_ns: Int64, lane_rows: Int64, on_gpu: Sequence[bool]
) -> tuple[Int32, Int32]:
    """Parents and rows of slices sorted by lane, start, and longer first.

    A slice's parent is the innermost earlier slice of its lane that encloses it. A slice
    without length that lies on the end of another is inside it on a thread (clocks of whole
    microseconds round calls down to that), and comes after it on a GPU. Slices that cross
    are on different rows at any time.

    Args:
        start_ns: int64 (n,).
        end_ns: int64 (n,).
        lane_rows: int64 (lanes + 1,), where each lane's slices begin.
        on_gpu: for every lane, whether it is a GPU's.

    Returns:
        ``parent`` int32 (n,), -1 for none, and ``depth`` int32 (n,).
    """
    parent = np.full(len(start_ns), -1, np.int32)
    depth = np.zeros(len(start_ns), np.int32)
    bounds = lane_rows.tolist()
    for first, last, gpu in zip(bounds[:-1], bounds[1:], on_gpu, strict=True):
        starts, ends = start_ns[first:last], end_ns[first:last]
        apart = starts[1:] >= ends[:-1] if gpu else starts[1:] > ends[:-1]
        if bool(apart.all()):
            continue
        nested = _nest_proper(starts, ends)
        if nested is None:
            parents, depths = _nest_lane(starts.tolist(), ends.tolist(), first, gpu)
            parent[first:last] = parents
            depth[first:last] = depths
        else:
            inside, depth[first:last] = nested
            parent[first:last] = np.where(inside >= 0, inside + first, -1)
    return parent, depth


def _nest_proper(starts: Int64, ends: Int64) -> tuple[Int64, Int64] | None:
    """Parents within a lane and depths, or None where slices cross or have no length.

    A slice is as deep as the number of slices before it that have not ended when it begins,
    and its parent is the last one before it that is one less deep. Where all parents found so
    end no earlier than their children, no two slices cross: at the first crossing one would.
    """
    if bool((ends == starts).any()):
        return None
    depths = np.arange(len(starts)) - np.searchsorted(np.sort(ends), starts, "right")
    by_depth = np.argsort(depths.astype(np.int32), kind="stable")
    bounds = np.cumsum(np.bincount(depths)).tolist()
    parents = np.full(len(starts), -1, np.int64)
    above = by_depth[: bounds[0]]
    for begin, end in pairwise(bounds):
        level = by_depth[begin:end]
        parents[level] = above[np.searchsorted(above, level) - 1]
        above = level
    inner = np.flatnonzero(parents >= 0)
    if bool((ends[inner] > ends[parents[inner]]).any()):
        return None
    return parents, depths


def _nest_lane(
    starts: list[int], ends: list[int], first: int, gpu: bool
) -> tuple[list[int], list[int]]:
    """As :func:`nest_slices` for one lane.

    ``open_ends`` and ``open_rows`` hold the slices that may still enclose a later one, outermost
    first: their ends never grow. A slice that ends before a later one does can enclose nothing
    after it, so it leaves for good; while it lasts it keeps its row (``taken``).
    """
    parents: list[int] = []
    depths: list[int] = []
    open_ends: list[int] = []
    open_slices: list[int] = []
    crossing: list[tuple[int, int]] = []
    taken = 0
    for index, (start, end) in enumerate(zip(starts, ends, strict=True)):
        while crossing and crossing[0][0] <= start:
            taken &= ~(1 << heappop(crossing)[1])
        while open_ends and (open_ends[-1] < end or (gpu and open_ends[-1] <= start)):
            left_end, left = open_ends.pop(), open_slices.pop()
            if left_end > start:
                heappush(crossing, (left_end, depths[left]))
                taken |= 1 << depths[left]
        if open_slices:
            parents.append(first + open_slices[-1])
            row = depths[open_slices[-1]] + 1
        else:
            parents.append(-1)
            row = 0
        if taken >> row & 1:
            free = ~(taken >> row)
            row += (free & -free).bit_length() - 1
        depths.append(row)
        open_ends.append(end)
        open_slices.append(index)
    return parents, depths
