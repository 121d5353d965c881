"""Panels as the user sized them: kept between openings, by layout, never beyond bounds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from textual.widget import Widget

from tests.tui.screen import LARGE, MEDIUM, screen_of
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.panel_state import PanelSizes, panels_path, read_sizes, write_sizes


def size_of(app: WhichlayerApp, name: str) -> tuple[int, int]:
    size = app.query_one(f"#{name}", Widget).size
    return size.width, size.height


async def test_sizes_are_those_of_the_last_time(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, MEDIUM) as (app, pilot):
        usual = size_of(app, "region")
        await pilot.press("underscore", "tab", "tab", "tab", "percent_sign", "percent_sign")
        await pilot.pause()
        changed = size_of(app, app.focused.id or "" if app.focused else "")
        name = app.focused.id or "" if app.focused else ""
        lower = size_of(app, "region")[1]
        assert lower == usual[1] - 2
    async with screen_of(trace, analysis, MEDIUM) as (app, _):
        assert size_of(app, name) == changed
        assert size_of(app, "region")[1] == lower
    async with screen_of(trace, analysis, LARGE) as (app, pilot):
        before = size_of(app, "region")[1]
        await pilot.press("tilde")
        assert size_of(app, "region")[1] == before + 2, "another layout has lines of its own"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "{",
        '{"whichlayer_panels": 2, "lines": {"3": 4}}',
        '{"whichlayer_panels": 1, "lines": {"3": 1e9, "x": 1, "4": true}, "widths": [1]}',
        '{"whichlayer_panels": 1, "lines": {"3": 9999}, "widths": {"region": 7, "gaps": null}}',
    ],
)
def test_what_makes_no_sense_is_passed_over(tmp_path: Path, body: str) -> None:
    path = tmp_path / "panels.json"
    path.write_text(body)
    assert read_sizes(path, 6) == PanelSizes()


def test_sizes_are_read_as_they_were_written() -> None:
    sizes = PanelSizes({1: -4, 3: 6}, {"region": 2})
    write_sizes(panels_path(), sizes)
    path = panels_path()
    assert path is not None and read_sizes(path, 6) == sizes
    assert json.loads(path.read_text())["lines"] == {"1": -4, "3": 6}


async def test_absurd_sizes_leave_room_for_the_timeline(trace: Trace, analysis: Analysis) -> None:
    write_sizes(panels_path(), PanelSizes({1: 200, 3: 200, 4: 200}, {"nowhere": 3}))
    async with screen_of(trace, analysis, MEDIUM) as (app, _):
        assert size_of(app, "timeline")[1] >= 3


async def test_a_folder_that_cannot_be_written_to_is_told_of(
    trace: Trace, analysis: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    async with screen_of(trace, analysis, MEDIUM) as (app, pilot):
        await pilot.press("underscore")
        app.keep_sizes_now()
        from whichlayer.tui.widgets.footer import Footer

        assert "kept only until you leave" in app.query_one(Footer).said
