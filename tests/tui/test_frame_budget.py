"""Colours that are left out first are those of the shortest stretches."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.tui.frame_budget import merge_colours, paint_within
from whichlayer.tui.frame_cells import UInt8, rasterise
from whichlayer.tui.raster import Row
from whichlayer.tui.viewport import Viewport


def changes(family: UInt8, level: UInt8) -> int:
    """How often a row's colour changes, row by row."""
    total = 0
    for colours, levels in zip(family, level, strict=True):
        shown = colours[levels > 0]
        total += int((shown[1:] != shown[:-1]).sum())
    return total


@st.composite
def pictures(draw: st.DrawFn) -> tuple[UInt8, UInt8]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = draw(st.integers(1, 7)), draw(st.integers(1, 40))
    family = rng.integers(0, draw(st.integers(1, 6)), shape).astype(np.uint8)
    level = rng.integers(0, 9, shape) * (rng.random(shape) < draw(st.floats(0, 1)))
    return family, level.astype(np.uint8)


@given(pictures(), st.integers(0, 40))
def test_no_more_changes_are_left_than_asked_and_no_fewer_than_needed(
    picture: tuple[UInt8, UInt8], most: int
) -> None:
    family, level = picture
    merged = merge_colours(family, level, most)
    before, after = changes(family, level), changes(merged, level)
    assert min(before, most) - 1 <= after <= max(most, 0)
    if before <= most:
        assert (merged == family).all()


@given(pictures(), st.integers(0, 40))
def test_no_row_gets_a_colour_that_it_had_not(picture: tuple[UInt8, UInt8], most: int) -> None:
    family, level = picture
    merged = merge_colours(family, level, most)
    assert (merged[level == 0] == family[level == 0]).all()
    for old, new, shown in zip(family, merged, level > 0, strict=True):
        assert set(new[shown].tolist()) <= set(old[shown].tolist())


def test_the_shortest_stretch_goes_first_into_the_longer_one_beside() -> None:
    family = np.array([[1] * 9 + [2] * 2 + [3] * 5 + [4] * 1 + [5] * 8], np.uint8)
    level = np.full(family.shape, 8, np.uint8)
    assert merge_colours(family, level, 3).tolist() == [[1] * 9 + [2] * 2 + [3] * 5 + [5] * 9]
    assert merge_colours(family, level, 2).tolist() == [[1] * 11 + [3] * 5 + [5] * 9]


def test_single_coloured_rows_do_not_hold_up_the_others() -> None:
    family = np.array([[1, 1, 1], [7, 7, 7], [1, 2, 3]], np.uint8)
    level = np.array([[1, 0, 0], [1, 0, 0], [8, 8, 8]], np.uint8)
    assert changes(merge_colours(family, level, 1), level) == 1


@given(st.integers(0, 2**32), st.integers(0, 3000))
def test_what_is_drawn_within_a_budget_keeps_it(seed: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(int(rng.integers(1, 6))):
        count = int(rng.choice([5, 80, 700]))
        length = rng.integers(0, int(rng.choice([4, 90, 700])) + 1, count)
        start = np.cumsum(length + rng.integers(0, 90, count)) - length
        family = rng.integers(0, 6, count).astype(np.uint8)
        rows.append(Row(np.arange(count, dtype=np.int32), start, start + length, family))
    port = Viewport.over(0, 20_000, 60)
    painted, _, _ = paint_within(rasterise(rows, port.edges()), np.zeros(len(rows), np.uint8), most)
    needed = (3 * 60 + 24) * len(rows)
    assert painted.cost() <= max(most, needed)
