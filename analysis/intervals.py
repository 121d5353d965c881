"""Interval arithmetic on int64 arrays: the base of every sum of time.

An interval is half open, ``[start, end)``. A *set* is a pair of arrays sorted by start whose
intervals neither overlap nor touch and are never empty; :func:`union` makes one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]

#: So many values at a time (:func:`blocks`).
BLOCK = 1 << 15


@dataclass(frozen=True, slots=True)
class Intervals:
    """A set of disjoint intervals, sorted: ``start`` and ``end`` int64 (n,)."""

    start: Int64
    end: Int64

    def __len__(self) -> int:
        return len(self.start)

    @property
    def total(self) -> int:
        """Length of all of them together."""
        return int((self.end - self.start).sum())


EMPTY = Intervals(np.empty(0, np.int64), np.empty(0, np.int64))


def union(start: Int64, end: Int64) -> Intervals:
    """The set that covers the same instants as these intervals, in any order.

    Args:
        start: int64 (n,).
        end: int64 (n,); intervals with ``end <= start`` cover nothing.
    """
    keep = end > start
    if not keep.any():
        return EMPTY
    start, end = start[keep], end[keep]
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    reach = np.maximum.accumulate(end)
    first = np.concatenate(([True], start[1:] > reach[:-1]))
    last = np.concatenate((first[1:], [True]))
    return Intervals(start[first], reach[last])


def clip(a: Intervals, low: int, high: int) -> Intervals:
    """The part of a set inside ``[low, high)``."""
    start, end = np.maximum(a.start, low), np.minimum(a.end, high)
    keep = end > start
    return Intervals(start[keep], end[keep])


def complement(a: Intervals, low: int, high: int) -> Intervals:
    """The part of ``[low, high)`` that a set leaves free."""
    inside = clip(a, low, high)
    start = np.concatenate(([low], inside.end)).astype(np.int64)
    end = np.concatenate((inside.start, [high])).astype(np.int64)
    keep = end > start
    return Intervals(start[keep], end[keep])


def intersect(a: Intervals, b: Intervals) -> Intervals:
    """The instants that both sets cover."""
    if not len(a) or not len(b):
        return EMPTY
    first = np.searchsorted(b.end, a.start, "right")
    last = np.searchsorted(b.start, a.end, "left")
    counts = np.maximum(last - first, 0)
    ours = np.repeat(np.arange(len(a)), counts)
    theirs = ragged_arange(first, counts)
    return Intervals(
        np.maximum(a.start[ours], b.start[theirs]), np.minimum(a.end[ours], b.end[theirs])
    )


def subtract(a: Intervals, b: Intervals) -> Intervals:
    """The instants that the first set covers and the second does not."""
    if not len(a) or not len(b):
        return a
    low, high = int(a.start[0]), int(a.end[-1])
    return intersect(a, complement(b, low, high))


def distinct(values: Int64) -> Int64:
    """The values in order, each once; ``numpy.unique`` takes ten times as long where most differ."""
    ordered = np.sort(values)
    return ordered[_changes(ordered)]


def merged(*ordered: Int64) -> Int64:
    """As :func:`distinct`, of arrays each of which is nearly in order: merged, not sorted."""
    values = np.concatenate(ordered)
    values.sort(kind="stable")
    return values[_changes(values)]


def _changes(ordered: Int64) -> NDArray[np.bool_]:
    """Where a value is not the one before."""
    changes = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=changes[1:])
    return changes


def blocks(size: int) -> Iterator[slice]:
    """``range(size)`` in stretches that the processor's cache holds.

    What is worked out in them takes no memory of the size of the whole: touching that for the
    first time takes longer than the work.
    """
    for low in range(0, size, BLOCK):
        yield slice(low, min(low + BLOCK, size))


def blocks_of(counts: NDArray[np.integer]) -> Iterator[slice]:
    """Groups of so many values each, in stretches of about :data:`BLOCK` values."""
    ends = np.cumsum(counts)
    low = 0
    while low < len(counts):
        done = int(ends[low - 1]) if low else 0
        high = max(int(np.searchsorted(ends, done + BLOCK, "right")), low + 1)
        yield slice(low, high)
        low = high


def ragged_arange(first: NDArray[np.integer], counts: NDArray[np.integer]) -> Int64:
    """``first[i], first[i] + 1, …`` (``counts[i]`` of them) for every i, joined."""
    total = int(counts.sum())
    if not total:
        return np.empty(0, np.int64)
    ends = np.cumsum(counts)
    within = np.arange(total, dtype=np.int64) - np.repeat(ends - counts, counts)
    return np.asarray(np.repeat(first.astype(np.int64), counts) + within, np.int64)


class Measure:
    """How much of ``[x, y)`` a set covers, for many x and y at once."""

    def __init__(self, intervals: Intervals) -> None:
        """Prepare the prefix sums of a set."""
        self._start = intervals.start
        self._end = intervals.end
        lengths = intervals.end - intervals.start
        self._before = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)

    def until(self, time: Int64) -> Int64:
        """Covered time before each instant: int64, the shape of ``time``."""
        index = np.searchsorted(self._start, time, "right")
        previous = np.maximum(index - 1, 0)
        if not len(self._start):
            return np.zeros_like(time)
        over = np.where(index > 0, np.maximum(self._end[previous] - time, 0), 0)
        return np.asarray(self._before[index] - over, np.int64)

    def between(self, start: Int64, end: Int64) -> Int64:
        """Covered time in each ``[start, end)``."""
        return np.asarray(self.until(end) - self.until(start))
