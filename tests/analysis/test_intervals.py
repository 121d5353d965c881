from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.intervals import (
    Intervals,
    Measure,
    clip,
    complement,
    intersect,
    subtract,
    union,
)

pairs = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=12)


def make(spans: list[tuple[int, int]]) -> Intervals:
    start = np.array([s for s, _ in spans], np.int64)
    return union(start, start + np.array([n for _, n in spans], np.int64))


def instants(intervals: Intervals) -> set[int]:
    spans = zip(intervals.start.tolist(), intervals.end.tolist(), strict=True)
    return {t for start, end in spans for t in range(start, end)}


@given(pairs)
def test_union_covers_the_same_instants_and_is_minimal(spans: list[tuple[int, int]]) -> None:
    result = make(spans)
    assert instants(result) == {t for s, n in spans for t in range(s, s + n)}
    assert (result.start[1:] > result.end[:-1]).all()
    assert (result.end > result.start).all()


@given(pairs, pairs)
def test_intersect_and_subtract_are_set_operations(
    a: list[tuple[int, int]], b: list[tuple[int, int]]
) -> None:
    x, y = make(a), make(b)
    assert instants(intersect(x, y)) == instants(x) & instants(y)
    assert instants(subtract(x, y)) == instants(x) - instants(y)


@given(pairs, st.integers(0, 80), st.integers(0, 80))
def test_complement_and_clip_split_a_span(a: list[tuple[int, int]], p: int, q: int) -> None:
    low, high = min(p, q), max(p, q)
    x = make(a)
    inside = instants(clip(x, low, high))
    assert inside == instants(x) & set(range(low, high))
    assert instants(complement(x, low, high)) == set(range(low, high)) - inside


@given(pairs, st.lists(st.tuples(st.integers(-5, 90), st.integers(0, 40)), min_size=1, max_size=5))
def test_measure_counts_covered_instants(
    a: list[tuple[int, int]], asked: list[tuple[int, int]]
) -> None:
    x = make(a)
    start = np.array([s for s, _ in asked], np.int64)
    end = start + np.array([n for _, n in asked], np.int64)
    expected = [len(instants(x) & set(range(s, e))) for s, e in zip(start, end, strict=True)]
    assert Measure(x).between(start, end).tolist() == expected
