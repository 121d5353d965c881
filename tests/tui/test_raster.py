from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.plain_rows import Slices, row_of, union
from whichlayer.tui import raster
from whichlayer.tui.frame_cells import FULL
from whichlayer.tui.viewport import Viewport


@st.composite
def separate_slices(draw: st.DrawFn) -> Slices:
    """(start, end, family), sorted, not overlapping; some without length, some touching."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = draw(st.integers(0, 40))
    length = rng.integers(0, rng.choice([0, 30, 4000], count) + 1)
    pause = rng.integers(0, rng.choice([0, 20, 3000], count) + 1)
    start = np.cumsum(length + pause) - length
    family = rng.integers(0, 5, count)
    return list(zip(start.tolist(), (start + length).tolist(), family.tolist(), strict=True))


@st.composite
def any_slices(draw: st.DrawFn) -> Slices:
    """As a damaged file may hold them: overlapping, nested, equal."""
    start = st.integers(0, 500)
    rows = draw(st.lists(st.tuples(start, st.integers(0, 300), st.integers(0, 3)), max_size=25))
    return sorted((a, a + b, c) for a, b, c in rows)


ports = st.builds(
    lambda low, length, cells: Viewport.over(0, 1_000_000, cells).to(low, low + length),
    st.integers(0, 5000),
    st.one_of(st.integers(1, 300), st.integers(1, 60_000)),
    st.integers(1, 60),
)


@given(st.one_of(separate_slices(), any_slices()), ports)
def test_busy_cells_are_exact_and_add_up(slices: Slices, port: Viewport) -> None:
    cells = row_of(slices).cells(port.edges())
    edges = port.edges().tolist()
    expected = [union(slices, a, b) for a, b in pairwise(edges)]
    assert cells.busy_ns.tolist() == expected
    assert int(cells.busy_ns.sum()) == union(slices, port.start_ns, port.end_ns)


@given(st.one_of(separate_slices(), any_slices()), ports)
def test_no_slice_in_sight_is_invisible(slices: Slices, port: Viewport) -> None:
    cells = row_of(slices).cells(port.edges())
    for start, end, _ in slices:
        if start >= port.end_ns or max(end, start + 1) <= port.start_ns:
            continue
        first = max(port.cell_of(start), 0)
        last = min(max(port.cell_of(end - 1), port.cell_of(start)), port.cells - 1)
        assert (cells.level[first : last + 1] > 0).all()
        assert (cells.count[first : last + 1] > 0).all()


@given(separate_slices(), ports)
def test_no_gap_as_wide_as_a_cell_is_hidden(slices: Slices, port: Viewport) -> None:
    cells = row_of(slices).cells(port.edges())
    widest = int(np.diff(port.edges()).max())
    for (_, end, _), (start, _, _) in pairwise(slices):
        low, high = max(end, port.start_ns), min(start, port.end_ns)
        if high - low < widest:
            continue
        touched = cells.level[port.cell_of(low) : port.cell_of(high - 1) + 1]
        assert touched.min() <= FULL // 2


@given(separate_slices(), ports)
def test_a_cell_without_slices_is_empty(slices: Slices, port: Viewport) -> None:
    cells = row_of(slices).cells(port.edges())
    edges = port.edges().tolist()
    for cell, (low, high) in enumerate(pairwise(edges)):
        if not any(start < high and max(end, start + 1) > low for start, end, _ in slices):
            assert cells.level[cell] == 0 and cells.count[cell] == 0
            assert cells.first[cell] == cells.last[cell] == -1


@given(separate_slices(), ports)
def test_the_family_of_a_cell_has_the_most_time_in_it(slices: Slices, port: Viewport) -> None:
    cells = row_of(slices).cells(port.edges())
    edges = port.edges().tolist()
    for cell, (low, high) in enumerate(pairwise(edges)):
        times: dict[int, int] = {}
        for start, end, family in slices:
            inside = min(end, high) - max(start, low)
            if inside > 0:
                times[family] = times.get(family, 0) + inside
        if times and cells.count[cell] > 2:
            assert times[int(cells.family[cell])] == max(times.values())
        elif times:
            longest = max(
                min(end, high) - max(start, low) for start, end, _ in slices if start < high
            )
            assert times[int(cells.family[cell])] >= longest


@given(separate_slices(), ports)
def test_first_and_last_of_a_cell_are_its_slices(slices: Slices, port: Viewport) -> None:
    row = row_of(slices)
    cells = row.cells(port.edges())
    edges = port.edges().tolist()
    for cell, (low, high) in enumerate(pairwise(edges)):
        inside = [
            i
            for i, (start, end, _) in enumerate(slices)
            if low <= start < high or (start < low < end)
        ]
        assert cells.count[cell] == len(inside)
        if inside:
            assert (cells.first[cell], cells.last[cell]) == (inside[0], inside[-1])


@given(any_slices(), st.integers(0, 900))
def test_the_slice_at_an_instant_covers_it(slices: Slices, time: int) -> None:
    index = row_of(slices).index_at(time)
    covering = [i for i, (start, end, _) in enumerate(slices) if start <= time < end]
    if index >= 0:
        start, end, _ = slices[index]
        assert start <= time < max(end, start + 1)
    else:
        assert not covering


def test_a_slice_that_begins_later_in_the_cell_is_found() -> None:
    row = row_of([(100, 110, 0), (150, 160, 0)])
    assert row.index_at(105, 200) == 0
    assert row.index_at(120, 200) == 1
    assert row.index_at(120, 140) == -1
    assert row.index_at(170, 200) == -1


def test_neighbours_begin_strictly_after_or_before() -> None:
    row = row_of([(10, 20, 0), (30, 40, 0)])
    assert row.neighbour(10, forward=True) == 1
    assert row.neighbour(30, forward=True) == -1
    assert row.neighbour(30, forward=False) == 0
    assert row.neighbour(10, forward=False) == -1


def test_an_empty_row_has_empty_cells() -> None:
    cells = row_of([]).cells(np.array([0, 5, 10], np.int64))
    assert cells.level.tolist() == [0, 0] and cells.first.tolist() == [-1, -1]
    assert row_of([]).index_at(3) == -1


def test_columns_keep_their_type_for_the_search() -> None:
    """Edges of another type would make every search convert the whole column."""
    assert Viewport.over(0, 10**9, 180).edges().dtype == np.int64
    assert row_of([(1, 2, 0)]).start_ns.dtype == np.int64


def test_long_rows_are_ready_for_their_first_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are made beside the screen's thread, frames on it."""
    monkeypatch.setattr(raster, "_LONG", 3)
    row = row_of([(10 * i, 10 * i + 5, i % 2) for i in range(40)])
    blocks = row._family_times
    assert "grid" in row.__dict__ and blocks is not None
    row.cells(np.array([0, 200, 400], np.int64))
    assert row._family_times is blocks
