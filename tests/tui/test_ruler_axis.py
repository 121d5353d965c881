from __future__ import annotations

import doctest
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.tui import families, frame, names, ruler
from whichlayer.tui.ruler import axis_of, round_step
from whichlayer.tui.viewport import Viewport


@pytest.mark.parametrize("module", [ruler, frame, families, names])
def test_examples_of_the_docstrings_hold(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


@given(st.integers(0, 10**14), st.integers(1, 10**14), st.integers(1, 250))
def test_marks_are_apart_in_order_and_where_their_time_is(low: int, span: int, cells: int) -> None:
    port = Viewport.over(0, 2 * 10**14, cells).to(low, low + span)
    cells_marked = [cell for cell, _ in axis_of(port).marks]
    assert all(0 <= cell < cells for cell in cells_marked)
    assert all(b - a >= 11 for a, b in pairwise(cells_marked))


def test_labels_are_round_and_have_units() -> None:
    axis = axis_of(Viewport.over(0, 100_000_000, 100))
    assert [label for _, label in axis.marks] == [
        "0 ms", "20 ms", "40 ms", "60 ms", "80 ms",
    ]  # fmt: skip
    assert axis.base_ns == 0


def test_far_from_zero_labels_count_from_a_base() -> None:
    axis = axis_of(Viewport.over(0, 10**11, 100).to(5_000_000_300, 5_000_001_300))
    assert axis.base_ns > 0
    assert all(label.startswith("+") for _, label in axis.marks)


def test_the_cursor_reads_in_the_unit_of_the_labels() -> None:
    axis = axis_of(Viewport.over(0, 100_000_000, 100))
    assert axis.instant(34_512_345, 100_000) == "34.5 ms"


@given(st.integers(1, 10**18))
def test_steps_are_one_two_or_five(least: int) -> None:
    step = round_step(least)
    assert least <= step < 2.5 * least + 1 or step == least
    assert str(step).rstrip("0") in ("1", "2", "5")
