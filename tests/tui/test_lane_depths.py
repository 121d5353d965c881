"""Rows of slices that are drawn without some of those around them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.tui.recording import build_trace
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.nesting import nest_slices
from whichlayer.tui.lane_depths import by_depth, nesting_without, part_of


def trace_of(start: NDArray[np.int64], end: NDArray[np.int64], before: int) -> Trace:
    """Slices of one lane that follows ``before`` rows of another, nested as a reader does."""
    order = np.lexsort((-end, start))
    start, end = start[order], end[order]
    parent, depth = nest_slices(start, end, np.array([0, len(start)]), [False])
    pad = np.zeros(before, np.int64)
    return replace(
        build_trace(),
        start_ns=np.concatenate((pad, start)),
        end_ns=np.concatenate((pad, end)),
        depth=np.concatenate((pad, depth)).astype(np.int32),
        parent=np.concatenate((pad - 1, np.where(parent >= 0, parent + before, -1))).astype(
            np.int32
        ),
    )


@st.composite
def lanes(draw: st.DrawFn) -> tuple[Trace, NDArray[np.int32], NDArray[np.bool_]]:
    """A trace, the rows of its lane that are drawn, and which of them are drawn apart."""
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    count, before = int(rng.integers(1, 50)), int(rng.integers(0, 4))
    start = rng.integers(0, 100, count)
    trace = trace_of(start, start + rng.integers(0, rng.choice([3, 30, 90]), count), before)
    rows = np.arange(before, before + count, dtype=np.int32)
    if rng.random() < 0.3:
        rows = rows[rng.random(count) < 0.8] if count > 1 else rows
    rows = rows if len(rows) else np.array([before], np.int32)
    return trace, rows, rng.random(len(rows)) < 0.5


@given(lanes())
def test_a_slice_is_as_deep_as_those_of_its_sort_around_it(
    made: tuple[Trace, NDArray[np.int32], NDArray[np.bool_]],
) -> None:
    trace, rows, apart = made
    sort = dict(zip(rows.tolist(), apart.tolist(), strict=True))
    depth = nesting_without(trace, rows, apart)
    if len(rows) < len(trace) - rows[0] or any(
        len(trace.enclosing(row)) != trace.depth[row] for row in sort
    ):
        return  # where slices cross or are left out, only what the next test says holds
    for row, deep in zip(sort, depth.tolist(), strict=True):
        assert deep == sum(sort[up] == sort[row] for up in trace.enclosing(row))


@given(lanes())
def test_slices_of_one_row_never_overlap(
    made: tuple[Trace, NDArray[np.int32], NDArray[np.bool_]],
) -> None:
    trace, rows, apart = made
    depth = nesting_without(trace, rows, apart)
    for mine in (apart, ~apart):
        for level in set(depth[mine].tolist()):
            here = rows[mine & (depth == level)]
            assert (trace.start_ns[here][1:] >= trace.end_ns[here][:-1]).all()


def test_a_very_deep_lane_is_counted_without_overflow() -> None:
    count = 40_000
    start = np.arange(count, dtype=np.int64)
    rows = np.arange(count, dtype=np.int32)
    trace = trace_of(start, 2 * count - start, 0)
    assert int(trace.depth[-1]) == count - 1
    depth = nesting_without(trace, rows, rows % 2 == 1)
    assert depth.tolist() == (rows // 2).tolist()


@pytest.mark.parametrize("deepest", [3, 70_000])
def test_rows_are_ordered_by_depth_and_keep_their_order_within(deepest: int) -> None:
    depth = np.array([2, 0, deepest, 0, 2, 1], np.int32)
    assert by_depth(depth).tolist() == [1, 3, 5, 0, 4, 2]


def test_rows_that_follow_on_one_another_share_the_columns_memory() -> None:
    column = np.arange(10)
    assert np.shares_memory(part_of(column, np.array([3, 4, 5], np.int32)), column)
    assert part_of(column, np.array([3, 5], np.int32)).tolist() == [3, 5]
    assert part_of(column, np.zeros(0, np.int32)).tolist() == []
