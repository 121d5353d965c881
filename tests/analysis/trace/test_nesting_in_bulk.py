"""Nesting whole columns at once gives what the walk from slice to slice gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.trace.columns import Int64
from whichlayer.analysis.trace.nesting import _nest_lane, _nest_proper, nest_slices

Slices = list[tuple[int, int]]


@st.composite
def nested(draw: st.DrawFn) -> Slices:
    """Slices that nest: each piece of a span is cut from what its parent leaves."""
    found: Slices = []

    def fill(low: int, high: int, depth: int) -> None:
        at = low
        while at < high and draw(st.booleans()):
            start = draw(st.integers(at, high - 1))
            end = draw(st.integers(start + 1, high))
            found.append((start, end))
            if depth < 5:
                fill(start, end, depth + 1)
            at = end

    fill(0, draw(st.integers(1, 60)), 0)
    return in_order(found)


anything = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 12)).map(lambda pair: (pair[0], sum(pair))),
    max_size=25,
).map(lambda slices: in_order(slices))


def in_order(slices: Slices) -> Slices:
    return sorted(slices, key=lambda one: (one[0], -one[1]))


def columns(slices: Slices) -> tuple[Int64, Int64]:
    pairs = np.array(slices, np.int64).reshape(-1, 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy()


@given(nested().filter(bool), st.booleans())
def test_slices_that_nest_are_never_left_to_the_walk(slices: Slices, gpu: bool) -> None:
    starts, ends = columns(slices)
    found = _nest_proper(starts, ends)
    assert found is not None
    parents, depths = _nest_lane(starts.tolist(), ends.tolist(), 0, gpu)
    assert found[0].tolist() == parents
    assert found[1].tolist() == depths


@given(anything.filter(bool), st.booleans())
def test_any_slices_get_the_parents_and_rows_of_the_walk(slices: Slices, gpu: bool) -> None:
    starts, ends = columns(slices)
    parent, depth = nest_slices(starts, ends, np.array([0, len(slices)]), [gpu])
    parents, depths = _nest_lane(starts.tolist(), ends.tolist(), 0, gpu)
    assert parent.tolist() == parents
    assert depth.tolist() == depths


@pytest.mark.parametrize("slices", [[(0, 5), (3, 8)], [(0, 9), (1, 4), (3, 6)], [(2, 2), (2, 2)]])
def test_crossing_slices_and_ticks_are_left_to_the_walk(slices: Slices) -> None:
    assert _nest_proper(*columns(slices)) is None


def test_parents_are_rows_of_the_whole_trace() -> None:
    starts, ends = columns([(0, 9), (1, 5), (0, 9), (1, 8), (2, 3)])
    parent, depth = nest_slices(starts, ends, np.array([0, 2, 5]), [False, False])
    assert parent.tolist() == [-1, 0, -1, 2, 3]
    assert depth.tolist() == [0, 1, 0, 1, 2]
