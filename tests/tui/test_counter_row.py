"""Counters as rows: every cell shows the greatest value of its time, exactly."""

from __future__ import annotations

import math
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.tui import counter_row
from whichlayer.tui.counter_row import CounterRow
from whichlayer.tui.frame import draw_frame
from whichlayer.tui.viewport import Viewport

VALUES = st.one_of(
    st.floats(-1e6, 1e6), st.sampled_from([math.nan, math.inf, 0.0, 1e308, -1e308, 5e-324])
)
SAMPLES = st.lists(st.tuples(st.integers(-50, 250), VALUES), max_size=60).map(
    lambda pairs: sorted(pairs, key=lambda pair: pair[0])
)


def row_of(samples: list[tuple[int, float]], until: int = 300) -> CounterRow:
    times = np.array([time for time, _ in samples], np.int64)
    return CounterRow(times, np.array([value for _, value in samples], np.float64), until)


def glyphs(row: CounterRow, low: int, high: int, cells: int) -> str:
    port = Viewport.over(low, high, cells)
    painted = row.paint(row.cells(port.edges()))
    return painted.glyphs.tobytes().decode("utf-32-le")


def greatest_in(samples: list[tuple[int, float]], low: int, high: int) -> float:
    """The greatest number that the counter has at any instant of ``[low, high)``."""
    held = [value for time, value in samples if time <= low]
    at_low = [value for time, value in samples if time == low]
    inside = [value for time, value in samples if low < time < high]
    values = [*(at_low or held[-1:]), *inside]
    return max((v for v in values if not math.isnan(v)), default=-math.inf)


@given(SAMPLES, st.integers(-60, 200), st.integers(1, 120), st.integers(1, 40))
def test_a_cell_has_the_greatest_value_of_its_time(
    samples: list[tuple[int, float]], low: int, span: int, cells: int
) -> None:
    with patch.object(counter_row, "_BLOCK", 4):
        row = row_of(samples)
        edges = Viewport.over(low, low + span, cells).edges()
        found = row.greatest(edges).tolist()
    wanted = [greatest_in(samples, a, b) for a, b in pairwise(edges.tolist())]
    assert found == wanted


@given(SAMPLES, st.integers(1, 40))
def test_heights_grow_with_values_and_no_value_is_blank(
    samples: list[tuple[int, float]], cells: int
) -> None:
    row = row_of(samples)
    edges = Viewport.over(-60, 300, cells).edges()
    shown, values = row.cells(edges), row.greatest(edges)
    assert ((shown.count > 0) == (values > -np.inf)).all()
    known = np.flatnonzero(shown.count)
    order = known[np.argsort(values[known], kind="stable")]
    assert (np.diff(shown.level[order].astype(int)) >= 0).all()
    assert row.paint(shown).cost() <= 24 * 3 + 3 * cells + 24 * 2 * len(samples)


def test_a_value_holds_until_the_next_sample_and_blank_comes_before_the_first() -> None:
    row = row_of([(20, 8.0), (40, 0.0), (60, 4.0)], until=80)
    assert glyphs(row, 0, 100, 10) == "  ██__▄▄▄▄"


def test_a_peak_between_two_columns_is_not_hidden() -> None:
    row = row_of([(0, 1.0), (501, 8.0), (502, 1.0)], until=1000)
    assert glyphs(row, 0, 1000, 10) == "▁▁▁▁▁█▁▁▁▁"


def test_negative_values_have_their_least_at_the_bottom() -> None:
    row = row_of([(0, -4.0), (10, 0.0), (20, 4.0)], until=30)
    assert glyphs(row, 0, 30, 3) == "_▄█"


@pytest.mark.parametrize("value", [1e308, -1e308, 5e-324, 7.0])
def test_one_sample_is_a_row(value: float) -> None:
    row = row_of([(10, value)], until=30)
    assert glyphs(row, 0, 30, 3) == (" ██" if value > 0 else " __")


def test_what_is_no_number_is_blank_and_does_not_spoil_the_scale() -> None:
    row = row_of([(0, 1.0), (10, math.nan), (20, math.inf), (30, 2.0)], until=40)
    assert glyphs(row, 0, 40, 4) == "▄ ██"
    assert (row.lowest, row.highest) == (1.0, 2.0)


def test_no_numbers_at_all_are_a_blank_row() -> None:
    assert glyphs(row_of([(0, math.nan), (10, math.nan)]), 0, 40, 4) == "    "
    assert glyphs(row_of([]), 0, 40, 4) == "    "


def test_a_peak_among_a_million_samples_is_seen_in_a_frame_of_few_bytes() -> None:
    count = 1_000_000
    value = np.zeros(count)
    value[123_457] = 5.0
    row = CounterRow(np.arange(count, dtype=np.int64), value, count)
    port = Viewport.over(0, count, 100)
    frame = draw_frame([row], port, lambda _: "")
    assert frame.cost() <= 4.5 * 100 + 2 * 24
    levels = row.cells(port.edges()).level
    assert levels.tolist() == [8 if cell == 12 else 0 for cell in range(100)]


def test_neighbours_are_found_by_time_even_where_samples_share_it() -> None:
    row = row_of([(10, 1.0), (20, 2.0), (20, 3.0), (30, 4.0)])
    assert row.index_at(20) == 2 and row.index_at(5) == -1 and row.index_at(5, 15) == 0
    assert row.neighbour(20, forward=True) == 3 and row.neighbour(20, forward=False) == 0
