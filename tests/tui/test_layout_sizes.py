"""How the screen is laid out by its size: rows, panels, columns; nothing is blank that could tell."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.screen import screen_of, text_of
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.layout import PANELS, arrangement_for
from whichlayer.tui.widgets.findings_list import FindingsList
from whichlayer.tui.widgets.heatmap import Heatmap
from whichlayer.tui.widgets.timeline import Timeline

HUGE = (250, 70)


@given(st.integers(1, 300), st.integers(1, 120), st.integers(1, 200), st.integers(0, 400),
       st.booleans())  # fmt: skip
def test_panels_and_timeline_share_the_height(
    width: int, height: int, rows: int, more: int, has_gpu: bool
) -> None:
    arranged = arrangement_for(width, height, rows, rows + more, has_gpu)
    assert 0 <= arranged.panel_lines <= height
    assert sorted(name for place in arranged.places for name in place) == sorted(PANELS)
    left = height - 6 - arranged.panel_lines
    if height >= 24:
        assert left >= min(rows, 8, height // 3), "the timeline keeps rows"
        assert left <= max(rows + more, 8), "the timeline has no line that it cannot use"


@pytest.mark.parametrize("size", [(250, 70), (200, 50), (160, 45), (120, 40), (100, 30)])
async def test_no_line_between_lanes_and_panels_is_left_blank(
    size: tuple[int, int], trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, size) as (app, _):
        timeline = app.query_one(Timeline)
        blank = timeline.size.height - len(timeline.rows)
        # A row grows by a whole line at all of its bars or not at all.
        assert blank < max(sum(row.lane == lane for row in timeline.rows) for lane in range(5))


async def test_high_panels_stand_above_one_another_and_leave_their_width(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, HUGE) as (app, _):
        gaps, findings = app.query_one(Heatmap), app.query_one(FindingsList)
        assert gaps.region.bottom == findings.region.y and gaps.region.x == findings.region.x
        assert gaps.size.height == gaps.lines, "as high as it has rows"
        assert app.query_one("#kernels").region.x == findings.region.right
        heading = text_of(app, "kernels")[0]
        assert "a call" in heading


@pytest.mark.parametrize("size", [(250, 70), (200, 50), (120, 40)])
async def test_without_a_gpu_what_is_there_has_the_room(
    size: tuple[int, int], trace: Trace, analysis: Analysis
) -> None:
    without = replace(analysis, devices=(), segments=(), kernels=())
    async with screen_of(trace, without, size) as (app, pilot):
        shown = [name for name in PANELS if app.query_one(f"#{name}").display]
        assert shown == ["findings", "region"]
        assert app.query_one("#region").region.right == size[0]
        app.bring_to_front("kernels")
        await pilot.pause()
        assert app.query_one("#kernels").display and app.query_one("#region").display


async def test_findings_say_what_to_do_where_there_is_room(
    trace: Trace, analysis: Analysis
) -> None:
    fix = "num_workers=4 loads beside the training process"
    first = replace(analysis.findings[0], fix=fix)
    few = replace(analysis, findings=(first, replace(first, rule="another")), warnings=())
    async with screen_of(trace, few, HUGE) as (app, pilot):
        findings = app.query_one(FindingsList)
        shown = " ".join(" ".join(text_of(app, "findings")).split())
        assert fix in shown and first.title in shown
        second = next(y for y, line in enumerate(text_of(app, "findings")) if "another" in line)
        await pilot.click("#findings", offset=(10, second + 2))
        assert findings.chosen == 1, "each of its lines is of the finding"


async def test_the_column_that_rows_are_sorted_by_is_shown_at_every_width(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, (100, 30)) as (app, pilot):
        seen = set()
        for _ in range(8):
            await pilot.press("t")
            await pilot.pause()
            heading = text_of(app, "kernels")[0]
            assert "▾" in heading
            seen.add(heading[: heading.index("▾")].split()[-1])
        assert {"share", "calls", "lost"} <= seen
