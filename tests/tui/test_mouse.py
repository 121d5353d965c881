"""What the mouse does, on the recording of ``recording.py`` at 120x40."""

from __future__ import annotations

import pytest
from textual import events
from textual.pilot import Pilot

from tests.tui.screen import screen_of, text_of, view_of
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.lanes import Fold
from whichlayer.tui.widgets.panel import Panel
from whichlayer.tui.widgets.timeline import Timeline

LABEL = 16


async def wheel(
    app: WhichlayerApp,
    pilot: Pilot[int],
    turn: type[events.MouseScrollUp | events.MouseScrollDown],
    offset: tuple[int, int],
    shift: bool = False,
    over: str = "#timeline",
) -> None:
    """Turn the wheel over a part of the screen; Textual has no public way."""
    widget = app.query_one(over)
    await pilot._post_mouse_events([turn], widget=widget, offset=offset, shift=shift)
    await pilot.pause()


async def test_wheel_zooms_about_the_pointer(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        before = view_of(app).port
        under = before.centre(60)
        await wheel(app, pilot, events.MouseScrollUp, (LABEL + 60, 1))
        after = view_of(app).port
        assert after.span_ns < before.span_ns
        assert abs(after.cell_of(under) - 60) <= 1
        await wheel(app, pilot, events.MouseScrollDown, (LABEL + 60, 1))
        assert abs(view_of(app).port.span_ns - before.span_ns) <= 2


async def test_wheel_with_shift_pans_and_over_labels_scrolls(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, (120, 18)) as (app, pilot):
        await pilot.press("w", "w")
        before = view_of(app).port
        await wheel(app, pilot, events.MouseScrollDown, (LABEL + 60, 1), shift=True)
        panned = view_of(app).port
        assert panned.span_ns == before.span_ns and panned.start_ns > before.start_ns
        first = text_of(app, "timeline")[0]
        await wheel(app, pilot, events.MouseScrollDown, (2, 1))
        assert view_of(app).port == panned
        assert text_of(app, "timeline")[0] != first


async def test_click_puts_the_cursor_on_row_and_instant(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        port, rows = view_of(app).port, app.query_one(Timeline).rows
        for line in range(min(len(rows), app.query_one(Timeline).size.height)):
            await pilot.click("#timeline", offset=(LABEL + 30, line))
            await pilot.pause()
            view, first = view_of(app), line - rows[line].part
            assert (view.row, port.cell_of(view.cursor_ns), view.port) == (first, 30, port)


async def test_drag_selects_and_right_click_clears(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        port = view_of(app).port
        await pilot.mouse_down("#timeline", offset=(LABEL + 20, 0))
        await pilot.hover("#timeline", offset=(LABEL + 40, 0))
        await pilot.mouse_up("#timeline", offset=(LABEL + 40, 0))
        await pilot.pause()
        assert view_of(app).selection == (port.centre(20), port.centre(40))
        await pilot.click("#timeline", offset=(LABEL + 30, 0), button=3)
        await pilot.pause()
        assert view_of(app).selection is None


async def test_double_click_fits_what_is_there(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        cell = view_of(app).port.cell_of(1_450_000)
        await pilot.double_click("#timeline", offset=(LABEL + cell, 0))
        await pilot.pause()
        port = view_of(app).port
        assert port.start_ns < 1_300_000 and port.end_ns > 1_600_000
        assert port.span_ns < 400_000


async def test_click_on_a_label_folds_its_lane(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        await pilot.click("#timeline", offset=(2, 2))
        await pilot.pause()
        assert list(view_of(app).folds.values()) == [Fold.ALL]


async def test_click_in_the_overview_moves_the_span(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        await pilot.press("w", "w", "w", "w")
        before = view_of(app).port
        await pilot.click("#overview", offset=(LABEL + 80, 0))
        await pilot.pause()
        after = view_of(app).port
        assert after.span_ns == before.span_ns
        assert after.start_ns < 3_000_000 * 80 // 104 + 20_000 < after.end_ns


async def test_wheel_over_the_overview_zooms_about_its_pointer(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        before = view_of(app).port
        await wheel(app, pilot, events.MouseScrollUp, (LABEL + 80, 0), over="#overview")
        after = view_of(app).port
        assert after.span_ns < before.span_ns
        assert after.shows(3_000_000 * 80 // 104)


@pytest.mark.parametrize("over", ["#ruler", "#layers"])
async def test_ruler_and_strip_take_the_mouse_as_the_timeline_does(
    over: str, trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        port = view_of(app).port
        await pilot.mouse_down(over, offset=(LABEL + 20, 0))
        await pilot.hover(over, offset=(LABEL + 40, 0))
        await pilot.mouse_up(over, offset=(LABEL + 40, 0))
        await pilot.pause()
        assert view_of(app).selection == (port.centre(20), port.centre(40))
        await wheel(app, pilot, events.MouseScrollUp, (LABEL + 60, 0), over=over)
        assert view_of(app).port.span_ns < port.span_ns


async def test_click_on_a_heatmap_cell_goes_there(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        gaps = app.query_one("#gaps", Panel)
        await pilot.click(
            "#gaps", offset=(gaps.gutter.left + len("step 2 ") + 1, gaps.gutter.top + 1)
        )
        await pilot.pause()
        view = view_of(app)
        assert view.port.start_ns <= 1_000_000 < view.cursor_ns < 1_300_000


async def test_click_chooses_a_kernel_and_a_second_goes_to_it(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        top = app.query_one("#kernels", Panel).gutter.top
        await pilot.click("#kernels", offset=(5, top + 2))
        await pilot.pause()
        assert "why of add" in "\n".join(text_of(app, "region"))
        await pilot.double_click("#kernels", offset=(5, top + 2))
        await pilot.pause()
        assert 700_000 <= view_of(app).cursor_ns < 850_000


async def test_click_on_a_heading_sorts(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        kernels = app.query_one("#kernels", Panel)
        place = text_of(app, "kernels")[0].index("%roof")
        await pilot.click("#kernels", offset=(kernels.gutter.left + place, kernels.gutter.top))
        await pilot.pause()
        assert "%roof▾" in text_of(app, "kernels")[0]


async def test_click_on_a_tab_brings_its_panel_to_the_front(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        await pilot.click("#gaps", offset=(10, 0))
        await pilot.pause()
        assert app.query_one("#findings").display and not app.query_one("#gaps").display


async def test_wheel_scrolls_a_panel(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, (80, 24)) as (app, pilot):
        region = app.query_one("#region", Panel)
        before = text_of(app, "region")
        await pilot._post_mouse_events([events.MouseScrollDown], widget=region, offset=(5, 3))
        await pilot.pause()
        if region.lines > region.body_height:
            assert text_of(app, "region") != before
