"""The calls of each group of kernels: which they are, and how alike they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.quick_values import quick

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class GroupInput:
    """The activities as they were given, see :func:`whichlayer.analysis.kernels.judge.judge`."""

    row: Int32
    start_ns: Int64
    end_ns: Int64
    role: NDArray[np.uint8]
    op_row: Int32
    owned_ns: Int64
    total_ns: int

    def in_window(self) -> NDArray[np.bool_]:
        """Which activities touch the window: those that own some of it, or lie beneath others."""
        owning = np.flatnonzero(self.owned_ns > 0)
        if not len(owning):
            return np.zeros(len(self.row), np.bool_)
        low, high = self.start_ns[owning].min(), self.end_ns[owning].max()
        inside: NDArray[np.bool_] = (self.start_ns < high) & (self.end_ns >= low)
        return inside


@quick
@dataclass(frozen=True, slots=True)
class GroupCalls:
    """The calls of one group.

    Attributes:
        rows: int32 (n,), trace rows, ascending.
        lead: trace row of the first in time.
        typical: trace row of the one with the median duration.
        count: how many.
        span_ns: their durations together.
        median_ns: their median duration.
        variability: spread of the middle four fifths of their durations over the median; None
            for fewer than :data:`FEWEST` calls.
    """

    rows: Int32
    lead: int
    typical: int
    count: int
    span_ns: int
    median_ns: int
    variability: float | None


#: From so many calls on, deciles of their durations say something.
FEWEST = 10


@dataclass(frozen=True, slots=True)
class Members:
    """Activities by group.

    Attributes:
        rows: int32 (n,), trace rows by group, ascending in each.
        by_length: int64 (n,), trace rows by group, shorter ones first.
        lengths: int64 (n,), durations in that order.
        offsets: int64 (groups + 1,), where each group begins, and the end.
        lead: int64 (groups,), place among the activities given of the first of each group.
        first: int64 (groups,), its trace row.
        spans: int64 (groups,), durations of each group together.
    """

    rows: Int32
    by_length: Int64
    lengths: Int64
    offsets: Int64
    lead: Int64
    first: Int64
    spans: Int64

    @classmethod
    def sorted_by(
        cls, group: Int32, row: Int32, given: GroupInput, index: NDArray[np.intp]
    ) -> Members:
        """Sort activities by group.

        Args:
            group: int32 (n,), of each, from 0 without gaps.
            row: int32 (n,), trace rows.
            given: all activities.
            index: (n,), which of them these are.
        """
        length = given.end_ns[index] - given.start_ns[index]
        sizes = np.bincount(group)
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        # Small numbers are sorted by radix, in linear time.
        small = group.astype(np.uint16) if len(sizes) <= 1 << 16 else group
        in_time = np.argsort(small, kind="stable")
        by_row, shorter = np.argsort(row, kind="stable"), np.argsort(length, kind="stable")
        by_row = by_row[np.argsort(small[by_row], kind="stable")]
        by_length = shorter[np.argsort(small[shorter], kind="stable")]
        spans = np.zeros(len(sizes), np.int64)
        np.add.at(spans, group, length)
        return cls(
            rows=row[by_row].astype(np.int32),
            by_length=row[by_length].astype(np.int64),
            lengths=length[by_length],
            offsets=offsets,
            lead=in_time[offsets[:-1]].astype(np.int64),
            first=row[in_time[offsets[:-1]]].astype(np.int64),
            spans=spans,
        )

    def calls(self) -> Iterator[GroupCalls]:
        """The calls of each group, in order."""
        low, high = self.offsets[:-1], self.offsets[1:]
        count = high - low
        middle, tenth = low + count // 2, count // 10
        median = self.lengths[middle]
        spread = self.lengths[high - 1 - tenth] - self.lengths[low + tenth]
        told = (count >= FEWEST) & (median > 0)
        variability = np.divide(spread, median, out=np.full(len(count), np.nan), where=told)
        pieces = zip(low.tolist(), high.tolist(), strict=True)
        return map(
            GroupCalls,
            [self.rows[begin:end] for begin, end in pieces],
            self.first.tolist(),
            self.by_length[middle].tolist(),
            count.tolist(),
            self.spans.tolist(),
            median.tolist(),
            (None if isnan(one) else one for one in variability.tolist()),
        )
