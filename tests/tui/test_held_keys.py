"""Keys that come faster than frames: what is between is not drawn, and nothing is queued."""

from __future__ import annotations

import pytest
from textual import events

from tests.tui.screen import LARGE, screen_of, view_of
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui import frame
from whichlayer.tui.widgets import timeline as timelines
from whichlayer.tui.widgets.timeline import Timeline

KEYS = 60


@pytest.mark.parametrize("key", ["d", "w"])
async def test_a_held_key_draws_far_fewer_frames_than_it_comes_in(
    key: str, trace: Trace, analysis: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = 0

    def counted(*given: object) -> frame.Frame:
        nonlocal drawn
        drawn += 1
        return frame.draw_frame(*given)  # type: ignore[arg-type]

    async with screen_of(trace, analysis, LARGE) as (app, pilot):
        await pilot.press("home", *"wwwwww")
        await pilot.pause()
        monkeypatch.setattr(timelines, "draw_frame", counted)
        last = view_of(app)
        for _ in range(KEYS):
            last = last.panned(0.25 * last.port.cells) if key == "d" else last.zoomed(1)
            app.post_message(events.Key(key, key))
        await pilot.pause()
        assert view_of(app).port == last.port, "every key counts"
        assert 1 <= drawn <= KEYS // 4
        assert app.query_one(Timeline).view is view_of(app), "and the last is what is shown"


async def test_a_view_that_is_replaced_before_it_is_drawn_costs_nothing(
    trace: Trace, analysis: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with screen_of(trace, analysis, LARGE) as (app, pilot):
        await pilot.press("w", "w")
        await pilot.pause()
        spans: list[tuple[int, int]] = []

        def noted(rows: object, port: object, *others: object) -> frame.Frame:
            spans.append((port.start_ns, port.end_ns))  # type: ignore[attr-defined]
            return frame.draw_frame(rows, port, *others)  # type: ignore[arg-type]

        monkeypatch.setattr(timelines, "draw_frame", noted)
        first = view_of(app).panned(5)
        second = first.zoomed(2)
        app.look_at(first)
        app.look_at(second)
        await pilot.pause()
        assert spans == [(second.port.start_ns, second.port.end_ns)]
