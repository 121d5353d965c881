"""Going places, bookmarks and the copied view, on the recording of ``recording.py``."""

from __future__ import annotations

import json
import shlex
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from textual.pilot import Pilot

from tests.tui.screen import MEDIUM, ReadyLoader, text_of, view_of
from whichlayer.analysis.results import Analysis, Options
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui import travel
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.arguments import Parser, add_analysis_options
from whichlayer.tui.notes_file import NotesFile, new_bookmark
from whichlayer.tui.samples import sample_path
from whichlayer.tui.view_options import add_view_options
from whichlayer.tui.wanted import Wanted, wanted_of
from whichlayer.tui.widgets.footer import Footer
from whichlayer.tui.widgets.list_sheet import ListSheet
from whichlayer.tui.widgets.ruler import Ruler

US = 1000
Screen = tuple[WhichlayerApp, Pilot[int]]


def app_on(
    path: Path, trace: Trace, analysis: Analysis, wanted: Wanted | None = None
) -> WhichlayerApp:
    loader = ReadyLoader(
        str(path), Options(), lambda p, progress: trace, lambda t, options: analysis
    )
    app = WhichlayerApp(loader, wanted)
    app.span_pause_s = 1000.0
    return app


@pytest_asyncio.fixture
async def screen(
    trace: Trace, analysis: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Screen]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    app = app_on(tmp_path / "step one.json", trace, analysis)
    async with app.run_test(size=MEDIUM) as pilot:
        await pilot.pause()
        yield app, pilot


async def press(screen: Screen, *keys: str) -> None:
    await screen[1].press(*keys)
    await screen[1].pause()


async def typed(screen: Screen, text: str) -> None:
    names = {" ": "space", "+": "plus", ".": "full_stop", "%": "percent_sign"}
    await press(screen, *(names.get(c, c) for c in text), "enter")


def said(app: WhichlayerApp) -> str:
    return app.screen_stack[0].query_one(Footer).said


async def test_the_time_that_the_ruler_shows_can_be_gone_to(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "g")
    await typed(screen, "1.25ms")
    for keys in (("f",), ("w",) * 14, ("w",) * 6):
        await press(screen, *keys)
        ruler = app.query_one(Ruler).render_line(0).text
        shown = ruler.split("▼")[1].split("│")[0].strip()
        for text in (shown, shown.rsplit(" ", 1)[0]):
            await press(screen, "home", "g")
            await typed(screen, text.replace("µ", "u"))
            assert not said(app), text
            shows = app.query_one(Ruler).render_line(0).text
            assert f"▼{shown}" in shows, (text, shows)


async def test_a_span_can_be_gone_to(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "g")
    await typed(screen, "1ms..1.5ms")
    view = view_of(app)
    assert view.cursor_ns == 1000 * US
    assert view.port.shows(1000 * US) and view.port.shows(1500 * US - 1)
    assert view.port.span_ns < 600 * US


async def test_g_goes_to_a_time_a_step_and_from_the_cursor_on(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "g")
    assert app.prompt is not None and "step 3" in app.prompt.render_line(0).text
    await typed(screen, "1.25ms")
    assert view_of(app).cursor_ns == 1250 * US
    await press(screen, "g")
    await typed(screen, "+100us")
    assert view_of(app).cursor_ns == 1350 * US
    await press(screen, "g")
    await typed(screen, "step 3")
    view = view_of(app)
    assert view.cursor_ns == 2000 * US
    assert view.port.shows(2000 * US) and view.port.shows(2900 * US)
    assert view.port.span_ns < 1200 * US
    await press(screen, "z")
    assert view_of(app).cursor_ns == 1350 * US, "going somewhere can be undone"


async def test_a_wrong_place_is_told_while_typing_and_moves_nothing(screen: Screen) -> None:
    app = screen[0]
    before = view_of(app)
    await press(screen, "g", "5", "s")
    assert app.prompt is not None
    assert "5s is outside the recording" in app.prompt.render_line(0).text
    await press(screen, "enter")
    assert said(app) == "5s is outside the recording: 0 ms to 3 ms"
    assert view_of(app) == before
    await press(screen, "g", "enter")
    assert view_of(app) == before


async def test_bookmarks_are_kept_listed_gone_to_and_deleted(
    screen: Screen, tmp_path: Path
) -> None:
    app = screen[0]
    await press(screen, "apostrophe")
    assert isinstance(app.screen, ListSheet)
    assert "no bookmark yet" in app.screen.rows.render_line(0).text
    await press(screen, "escape")
    for at, name in ((310, "late"), (1310, "x")):
        app.look_at(travel.on_row(app.document, view_of(app).at(at * US), 0))  # type: ignore[arg-type]
        await press(screen, "M")
        assert app.prompt is not None and app.prompt.text == "ampere_sgemm_128x64_tn"
        await press(screen, "ctrl+u")
        await typed(screen, name)
        assert said(app) == f"bookmark {name} kept in step one.json.whichlayer.json; ' lists"
    body = json.loads((tmp_path / "step one.json.whichlayer.json").read_text())
    assert [mark["clock_ns"] for mark in body["bookmarks"]] == [310 * US, 1310 * US]
    await press(screen, "home", "j", "apostrophe", "down", "enter")
    assert view_of(app).cursor_ns == 1310 * US and view_of(app).row == 0
    await press(screen, "apostrophe", "d", "enter")
    assert said(app) == "bookmark x"
    body = json.loads((tmp_path / "step one.json.whichlayer.json").read_text())
    assert [mark["name"] for mark in body["bookmarks"]] == ["x"]


async def test_bookmarks_on_a_sample_are_kept_in_a_folder_that_is_told(
    trace: Trace, analysis: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "s"))
    path = sample_path("launch_bound_decode")
    app = app_on(path, trace, analysis)
    async with app.run_test(size=MEDIUM) as pilot:
        await pilot.pause()
        await press((app, pilot), "M", "ctrl+u")
        await typed((app, pilot), "slow")
        assert said(app) == "bookmark slow kept in ~/s/whichlayer/notes; ' lists"
    assert not path.with_name(path.name + ".whichlayer.json").exists()


async def test_bookmarks_show_on_the_ruler_and_a_click_goes_to_them(
    screen: Screen,
) -> None:
    app, pilot = screen
    app.look_at(travel.on_row(app.document, view_of(app).at(310 * US + 7), 0))  # type: ignore[arg-type]
    await press(screen, "M", "ctrl+u")
    await typed(screen, "slow [bold] product")
    await press(screen, "end")
    ruler = app.query_one(Ruler)
    text = ruler.render_line(0).text
    assert "◆slow [bold] product" in text
    at = text.index("◆")
    await pilot.click("#ruler", offset=(at, 0))
    assert view_of(app).cursor_ns == 310 * US + 7, "exactly, not the middle of the column"
    await press(screen, "apostrophe", "d", "escape")
    assert "◆" not in ruler.render_line(0).text


async def test_bookmarks_of_the_last_time_are_on_the_ruler(
    trace: Trace, analysis: Analysis, tmp_path: Path
) -> None:
    path = tmp_path / "again.json"
    NotesFile(str(path)).add(new_bookmark("kept", 1310 * US))
    NotesFile(str(path)).add(new_bookmark("広い", 2310 * US))
    app = app_on(path, trace, analysis)
    async with app.run_test(size=MEDIUM) as pilot:
        await pilot.pause()
        text = app.query_one(Ruler).render_line(0).text
        assert "◆kept" in text and text.count("◆") == 2
        view = view_of(app)
        app.look_at(replace(view, port=view.port.around(10 * US, 20 * US, 1.0)))
        await pilot.pause()
        assert "◆" not in app.query_one(Ruler).render_line(0).text, "none is in sight"


async def test_a_bookmark_of_a_selection_selects_it_again(screen: Screen) -> None:
    app = screen[0]
    app.look_at(view_of(app).selected(300 * US, 850 * US))
    await press(screen, "M", "ctrl+u")
    await typed(screen, "[bold]span")
    await press(screen, "escape", "end", "apostrophe")
    assert isinstance(app.screen, ListSheet)
    assert "[bold]span" in app.screen.rows.render_line(1).text
    await press(screen, "enter")
    assert view_of(app).selection == (300 * US, 850 * US)


async def test_somebody_elses_file_is_told_of(screen: Screen, tmp_path: Path) -> None:
    (tmp_path / "step one.json.whichlayer.json").write_text("{}")
    await press(screen, "apostrophe", "escape")
    assert "is no file of notes" in said(screen[0])


async def test_the_copied_command_opens_exactly_there(
    screen: Screen, trace: Trace, analysis: Analysis, tmp_path: Path
) -> None:
    app = screen[0]
    await press(screen, "w", "w", "d", "j", "j", "j", "l", "l")
    app.look_at(view_of(app).selected(300_123, 850_007), noted=False)
    await press(screen, "y")
    assert said(app).startswith("copied: whichlayer '")
    before = view_of(app)
    words = shlex.split(app.clipboard)
    assert words[:2] == ["whichlayer", str(tmp_path / "step one.json")]
    parser = Parser()
    add_view_options(parser)
    add_analysis_options(parser)
    got = parser.parse_args(words[2:])
    wanted = wanted_of(got)
    again = app_on(tmp_path / "step one.json", trace, analysis, wanted)
    async with again.run_test(size=MEDIUM) as pilot:
        await pilot.pause()
        after = view_of(again)
        assert after.port == before.port
        assert (after.cursor_ns, after.selection, after.row) == (
            before.cursor_ns, before.selection, before.row,
        )  # fmt: skip
        assert text_of(again, "timeline") == text_of(app, "timeline")


async def test_a_lane_that_is_not_there_and_a_cursor_alone_are_no_trouble(
    trace: Trace, analysis: Analysis, tmp_path: Path
) -> None:
    wanted = Wanted(at=10**15, lane="no such lane")
    app = app_on(tmp_path / "a.json", trace, analysis, wanted)
    async with app.run_test(size=MEDIUM) as pilot:
        await pilot.pause()
        view = view_of(app)
        assert view.port.shows(view.cursor_ns)


def test_asking_for_nothing_is_nothing() -> None:
    assert not Wanted()
    assert Wanted(at=0)
