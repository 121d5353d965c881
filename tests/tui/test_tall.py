"""Rows that are several lines high: nothing is lost, nothing is shown twice over."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.screen import LARGE, screen_of, text_of, view_of
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.counter_row import CounterRow
from whichlayer.tui.dealt_rows import MOST_LINES
from whichlayer.tui.frame_cells import FULL
from whichlayer.tui.raster import Row
from whichlayer.tui.tall import cells_part, row_part
from whichlayer.tui.travel import rows_of


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=30),
    st.integers(2, MOST_LINES),
)
def test_the_lines_of_a_row_hold_together_what_one_line_holds(
    pairs: list[tuple[int, int]], parts: int
) -> None:
    gaps = np.cumsum(np.array(pairs, np.int64).ravel())
    start, end = gaps[0::2], gaps[1::2]
    row = Row(np.arange(len(start), dtype=np.int32), start, end, np.zeros(len(start), np.uint8))
    whole = row.cells(np.arange(0, int(gaps[-1]) + 20, 7, dtype=np.int64))
    lines = [cells_part(row, whole, part, parts).level.astype(int) for part in range(parts)]
    crowd = whole.count > 1
    assert (np.sum(lines, axis=0)[crowd] == whole.level.astype(int)[crowd] * parts).all()
    assert all((line[~crowd] == whole.level[~crowd]).all() for line in lines), "ends are ends"
    assert ((lines[-1] > 0) == (whole.level > 0)).all(), "the lowest line hides nothing"
    for above, below in pairwise(lines):
        assert (below[crowd & (above > 0)] == FULL).all(), "filled from below"


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=40), st.integers(2, MOST_LINES))
def test_a_counter_is_as_fine_as_all_of_its_lines(values: list[float], parts: int) -> None:
    value = np.array(values)
    row = CounterRow(np.arange(len(value), dtype=np.int64), value, len(value))
    edges = np.arange(len(value) + 1, dtype=np.int64)
    lines = [row_part(row, part, parts) for part in range(parts)]
    levels = np.sum([line.cells(edges).level.astype(int) for line in lines], axis=0)
    span = row.top - row.base
    exact = (value - row.base) / span * FULL * parts if span else np.zeros(len(value))
    assert (np.abs(levels - exact) <= 1 + 1e-6).all()
    glyphs = [
        line.paint(line.cells(edges)).glyphs for line in lines if isinstance(line, CounterRow)
    ]
    assert all((above != ord("_")).all() for above in glyphs[:-1]), "one line at the bottom"


def test_one_line_is_the_row_itself() -> None:
    row = CounterRow(np.zeros(1, np.int64), np.ones(1), 5)
    assert row_part(row, 0, 1) is row
    cells = row.cells(np.array([0, 5], np.int64))
    assert cells_part(row, cells, 0, 1) is cells


async def test_a_lane_of_one_row_is_made_higher_and_lower(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, LARGE) as (app, pilot):
        assert app.document is not None

        def lines() -> int:
            assert app.document is not None
            rows = rows_of(app.document, view_of(app))
            return sum(1 for row in rows if row.lane == 0)

        usual = lines()
        assert app.document.lanes[0].depth == 1 and usual > 1, "there is room"
        await pilot.press(*["8"] * usual, "9", "9")
        await pilot.pause()
        assert lines() == 3
        text = [line[app._cells and len(line) - app._cells :] for line in text_of(app, "timeline")]
        assert "sgemm" in text[0] and "sgemm" not in text[1], "its name is said once"
        await pilot.press(*["9"] * MOST_LINES)
        assert lines() == MOST_LINES
        await pilot.press("8")
        assert lines() == MOST_LINES - 1
        await pilot.press("0")
        assert lines() == usual
        await pilot.press("u")
        assert lines() == MOST_LINES - 1, "undone like any act"


async def test_every_line_of_it_is_told_alike(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, LARGE) as (app, pilot):
        await pilot.press("9", "9", "f", "right_square_bracket")
        said = text_of(app, "region")
        await pilot.press("j")
        assert text_of(app, "region")[:2] == said[:2]
