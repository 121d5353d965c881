"""Rows out of sight are told at the edges of the timeline."""

from __future__ import annotations

import doctest

from tests.tui.recording import Slice, build_trace
from tests.tui.screen import screen_of, text_of
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Lane, Trace
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind
from whichlayer.tui import row_edges
from whichlayer.tui.widgets.timeline import Timeline


def threads(count: int) -> Trace:
    """So many threads of one call each."""
    slices: list[Slice] = [
        (lane, SliceKind.CPU_OP, "aten::mm", 1000 * lane, 900_000, 0, -1) for lane in range(count)
    ]
    lanes = tuple(Lane(1, 10 + i, LaneKind.CPU_THREAD, name=f"t{i}") for i in range(count))
    return build_trace(slices, lanes)


def test_the_examples_hold() -> None:
    assert doctest.testmod(row_edges).attempted and not doctest.testmod(row_edges).failed


async def test_rows_out_of_sight_are_counted_at_the_edges_and_a_click_goes_there(
    analysis: Analysis,
) -> None:
    trace = threads(60)
    async with screen_of(trace, analysis, (80, 24)) as (app, pilot):
        timeline = app.query_one(Timeline)
        height = timeline.size.height
        labels = [line[:12] for line in text_of(app, "timeline")]
        assert f"▼{len(timeline.rows) - height}" in labels[-1].replace(" ", "")
        assert not any("▲" in label or "▼" in label for label in labels[:-1])
        await pilot.click(timeline, offset=(3, height - 1))
        await pilot.pause()
        above = timeline.top
        assert above
        labels = [line[:12] for line in text_of(app, "timeline")]
        assert f"▲{above}" in labels[0].replace(" ", "")
        assert f"▼{len(timeline.rows) - height - above}" in labels[-1].replace(" ", "")
        await pilot.click(timeline, offset=(3, 0))
        await pilot.pause()
        assert timeline.top < above
        timeline.scroll_rows(1000)
        await pilot.pause()
        assert "▼" not in text_of(app, "timeline")[-1][:12]


async def test_where_all_rows_are_in_sight_nothing_is_said(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, (200, 50)) as (app, _):
        timeline = app.query_one(Timeline)
        assert len(timeline.rows) <= timeline.size.height
        assert not any("▲" in line[:20] or "▼" in line[:20] for line in text_of(app, "timeline"))
