"""All steps over one another: the curves, the bands they are drawn in, the screen that shows them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.screen import LARGE, MEDIUM, SMALL, screen_of, view_of
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.steps.folded import fold_steps
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.document import Document
from whichlayer.tui.folded_chart import ABOVE, BELOW, MEDIAN, NOTHING, Curve, bands, curves_of
from whichlayer.tui.widgets.folded_screen import FoldedScreen
from whichlayer.tui.widgets.text_sheet import TextSheet

Shares = tuple[float, float, float]


def curve_of(shares: list[Shares]) -> Curve:
    low, median, high = np.array([sorted(three) for three in shares]).T
    return Curve("one", "gpu", low, median, high)


@given(st.lists(st.tuples(*[st.floats(0, 1)] * 3), min_size=1, max_size=20), st.integers(1, 9))
def test_bands_are_as_high_as_median_and_spread_say(shares: list[Shares], lines: int) -> None:
    curve = curve_of(shares)
    foot, filled, above = bands(curve, lines)
    assert foot.shape == filled.shape == above.shape == (lines, len(shares))
    for column in range(len(shares)):
        # What a cell's foot fills is its own; the rest of it is the band above.
        shown = []
        for line in reversed(range(lines)):
            eighths = int(filled[line, column])
            shown += [int(foot[line, column])] * eighths
            shown += [int(above[line, column])] * (8 - eighths)
        assert shown == sorted(shown, reverse=True), "bands lie on one another"
        for band, share in ((BELOW, curve.low), (MEDIAN, curve.median), (ABOVE, curve.high)):
            height = sum(one >= band for one in shown)
            wanted = 8 * lines * float(share[column])
            # A cell holds two bands at most: a third one gives way within it.
            assert abs(height - np.ceil(wanted - 1e-9)) < 8


def test_what_no_step_reaches_is_blank() -> None:
    nothing = np.array([np.nan])
    foot, filled, _ = bands(Curve("one", "gpu", nothing, nothing, nothing), 3)
    assert (foot == NOTHING).all() and (filled == 8).all()


def test_curves_are_shares_of_each_position_and_add_up_to_the_busy_time(
    trace: Trace, analysis: Analysis, document: Document
) -> None:
    found = fold_steps(analysis, 0, 40)
    assert found is not None
    curves = {curve.label: curve for curve in curves_of(trace, document.lanes, 0, found)}
    assert {"GPU0 s7", "CPU main"} <= set(curves)
    for curve in curves.values():
        known = ~np.isnan(curve.median)
        assert (curve.low[known] <= curve.median[known]).all()
        assert (curve.median[known] <= curve.high[known]).all()
        assert (curve.high[known] <= 1).all() and (curve.low[known] >= 0).all()


def test_one_step_alone_gives_the_busy_time_of_each_lane_exactly(
    trace: Trace, analysis: Analysis, document: Document
) -> None:
    found = fold_steps(analysis, 0, 40)
    assert found is not None
    alone = replace(found, rows=found.rows[:1])
    length = np.diff(alone.offset_ns)
    (curve,) = (one for one in curves_of(trace, document.lanes, 0, alone) if one.label == "GPU0 s7")
    row = alone.rows[0]
    lane = next(lane for lane in document.lanes if lane.title == "GPU0 s7")
    mine = np.sort(lane.rows_in_order()[0])
    begin = np.clip(trace.start_ns[mine], row.start_ns, row.end_ns)
    end = np.clip(trace.end_ns[mine], row.start_ns, row.end_ns)
    busy = int((end - begin).sum())  # this stream runs one kernel after the other
    cut = np.minimum(np.diff(np.minimum(row.start_ns + alone.offset_ns, row.end_ns)), length)
    assert round(float((np.nan_to_num(curve.median) * cut).sum())) == busy


@pytest.mark.parametrize("size", [SMALL, MEDIUM, LARGE, (250, 70)])
async def test_steps_are_laid_over_one_another_on_every_screen(
    size: tuple[int, int], trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, size) as (app, pilot):
        await pilot.press("B")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, FoldedScreen)
        plot = screen.plot
        assert plot.region.width == size[0] and plot.region.height >= size[1] * 9 // 10
        for word in ("gaps", "owner", "GPU0 s7", "CPU main", "3 steps", "median", "RRR"):
            assert word in plot.plain, word
        for y in range(plot.size.height):
            assert plot.render_line(y).cell_length == plot.size.width


async def test_the_cursor_tells_its_position_and_enter_goes_there(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        await pilot.press("B", "home")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, FoldedScreen)
        before = screen.plot.plain
        await pilot.press("right", "right")
        await pilot.pause()
        assert screen.plot.column == 2 and screen.plot.plain != before
        target = screen.plot.target
        assert target is not None
        await pilot.press("enter")
        await pilot.pause()
        assert not isinstance(app.screen, FoldedScreen)
        assert target.start_ns <= view_of(app).cursor_ns <= target.end_ns


async def test_another_size_keeps_the_time_of_the_cursor(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, LARGE) as (app, pilot):
        await pilot.press("B", "home", *["right"] * 40)
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, FoldedScreen) and screen.plot.found is not None
        time = int(screen.plot.found.offset_ns[screen.plot.column])
        await pilot.resize_terminal(*SMALL)
        await pilot.pause()
        found, column = screen.plot.found, screen.plot.column
        assert int(found.offset_ns[column]) <= time < int(found.offset_ns[column + 1])
        assert screen.plot.region.right <= 80


async def test_a_click_moves_the_cursor_and_the_wheel_scrolls(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, SMALL) as (app, pilot):
        await pilot.press("B")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, FoldedScreen)
        await pilot.click("#folded", offset=(2 + 16 + 20, 3))
        assert screen.plot.column == 20
        before = screen.plot.top
        screen.plot.scroll_by(3)
        assert screen.plot.top > before


async def test_fewer_than_two_steps_say_what_to_record(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, replace(analysis, steps=None)) as (app, pilot):
        await pilot.press("B")
        await pilot.pause()
        assert isinstance(app.screen, TextSheet)
        said = app.screen.text.plain
        assert "fewer than two steps" in said and "prof.step()" in said
