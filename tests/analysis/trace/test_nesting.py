"""Parents and rows against the plain definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.trace.nesting import nest_slices

Spans = list[tuple[int, int]]

SPANS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 15)).map(lambda one: (one[0], one[0] + one[1])),
    max_size=25,
).map(lambda spans: sorted(spans, key=lambda one: (one[0], -one[1])))


def nest(lanes: list[Spans], on_gpu: list[bool]) -> tuple[list[int], list[int]]:
    spans = [span for lane in lanes for span in lane]
    parent, depth = nest_slices(
        np.array([start for start, _ in spans], np.int64),
        np.array([end for _, end in spans], np.int64),
        np.cumsum([0, *(len(lane) for lane in lanes)]),
        on_gpu,
    )
    return parent.tolist(), depth.tolist()


def encloses(outer: tuple[int, int], inner: tuple[int, int], gpu: bool) -> bool:
    inside = outer[0] <= inner[0] and inner[1] <= outer[1]
    return inside and not (gpu and outer[1] <= inner[0])


@given(st.lists(SPANS, min_size=1, max_size=3), st.booleans())
def test_parent_is_the_innermost_earlier_slice_that_encloses(lanes: list[Spans], gpu: bool) -> None:
    parent, _ = nest(lanes, [gpu] * len(lanes))
    first = 0
    for lane in lanes:
        for index, span in enumerate(lane):
            around = [at for at in range(index) if encloses(lane[at], span, gpu)]
            assert parent[first + index] == (first + around[-1] if around else -1)
        first += len(lane)


@given(SPANS, st.booleans())
def test_slices_that_run_at_once_are_on_different_rows(spans: Spans, gpu: bool) -> None:
    parent, depth = nest([spans], [gpu])
    for index, (start, end) in enumerate(spans):
        if parent[index] >= 0:
            assert depth[index] > depth[parent[index]]
        for other in range(index):
            if max(start, spans[other][0]) < min(end, spans[other][1]):
                assert depth[index] != depth[other]


@given(SPANS)
def test_rows_are_the_number_of_parents_where_nothing_crosses(spans: Spans) -> None:
    kept: Spans = []
    for span in spans:
        if all(encloses(other, span, False) or other[1] <= span[0] for other in kept):
            kept.append(span)
    parent, depth = nest([kept], [False])
    for index, up in enumerate(parent):
        assert depth[index] == (depth[up] + 1 if up >= 0 else 0)


@pytest.mark.parametrize(
    ("spans", "gpu", "parents", "rows"),
    [
        ([(0, 5), (5, 5)], False, [-1, 0], [0, 1]),
        ([(0, 5), (5, 5)], True, [-1, -1], [0, 0]),
        ([(0, 5), (5, 9)], False, [-1, -1], [0, 0]),
        ([(0, 6), (3, 9), (4, 5), (7, 8)], False, [-1, -1, 1, 1], [0, 1, 2, 2]),
        ([(0, 9), (1, 4), (3, 8), (5, 6)], False, [-1, 0, 0, 2], [0, 1, 2, 3]),
        ([(0, 3), (1, 5), (2, 7), (4, 9)], True, [-1] * 4, [0, 1, 2, 0]),
    ],
)
def test_borders_and_crossings(
    spans: Spans, gpu: bool, parents: list[int], rows: list[int]
) -> None:
    assert nest([spans], [gpu]) == (parents, rows)
