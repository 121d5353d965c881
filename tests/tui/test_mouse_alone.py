"""Without a keyboard: the footer opens the palette, and its list can be clicked, at every size."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events
from textual.geometry import Region
from textual.pilot import Pilot
from textual.widgets import OptionList

from tests.tui.screen import LARGE, MEDIUM, SMALL, screen_of, view_of
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.keys import KEYS
from whichlayer.tui.widgets.footer import Footer
from whichlayer.tui.widgets.list_sheet import ListedRows

README = Path(__file__).parent.parent.parent / "README.md"


async def opened(app: WhichlayerApp, pilot: Pilot[int]) -> OptionList:
    """The palette, opened by a click on the footer."""
    footer = app.screen_stack[0].query_one(Footer)
    if footer.said:  # a message makes room for the keys
        await pilot.click("#footer", offset=(3, 0))
    line = footer.render_line(0).text
    await pilot.click("#footer", offset=(line.index(": commands") + 3, 0))
    await app.workers.wait_for_complete()
    await pilot.pause()
    return app.screen.query_one(OptionList)


async def choose(pilot: Pilot[int], listed: OptionList, title: str) -> None:
    """Turn the wheel until an entry is in sight, and click it."""
    place = next(
        index
        for index, option in enumerate(listed.options)
        if str(option.prompt).lower().startswith(title.lower())
    )
    for _ in range(500):
        lines = [listed.render_line(y) for y in range(listed.size.height)]
        at = [y for y, line in enumerate(lines) if title.lower() in line.text.lower()]
        if at:
            await pilot.click(listed, offset=(5, at[0] + listed.gutter.top))
            await pilot.pause()
            await pilot.pause()
            return
        await pilot._post_mouse_events([events.MouseScrollDown], widget=listed, offset=(5, 1))
        await pilot.pause()
    raise AssertionError(f"entry {place} never comes into sight")


@pytest.mark.parametrize("size", [SMALL, MEDIUM, LARGE], ids=str)
async def test_an_entry_far_down_is_reached_and_undone_by_the_mouse(
    size: tuple[int, int], trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, size) as (app, pilot):
        theme = app.theme
        await choose(pilot, await opened(app, pilot), "Dark, light or colour-blind")
        assert app.theme != theme
        assert app.screen_stack[0].query_one(Footer).said
        await choose(pilot, await opened(app, pilot), "Undo the last act")
        assert app.theme == theme


async def test_keys_that_ask_can_be_begun_by_the_mouse(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, SMALL) as (app, pilot):
        await choose(pilot, await opened(app, pilot), "Go to a time, step")
        assert app.prompt is not None
        before = view_of(app).cursor_ns
        await pilot.press(*"2ms", "enter")
        await pilot.pause()
        assert view_of(app).cursor_ns != before


def test_the_table_of_the_readme_has_an_act_of_the_mouse_for_every_key() -> None:
    rows = [line.split(" | ") for line in README.read_text(encoding="utf-8").split("\n")
            if line.startswith("|") and "`" in line]  # fmt: skip
    told = {row[2]: row[3].strip(" |") for row in rows if len(row) == 4}
    assert all(told.get(key.does) for key in KEYS)
    assert {told[key.does] for key in KEYS if not key.mouse} == {"footer", "palette"}


async def test_a_bookmark_is_renamed_deleted_and_left_by_the_mouse(
    trace: Trace, analysis: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    async with screen_of(trace, analysis, SMALL) as (app, pilot):
        await pilot.press("M", "ctrl+u", *"here", "enter")
        for word, left in (("r renames", 1), ("d deletes", 0), ("esc closes", 0)):
            await choose(pilot, await opened(app, pilot), "Bookmarks: go to one")
            rows = app.screen.query_one(ListedRows)
            height = rows.outer_size.height
            line = rows.render_lines(Region(0, height - 1, rows.outer_size.width, 1))[0].text
            await pilot.click(rows, offset=(line.index(word) + 3, height - 1))
            await pilot.pause()
            assert (app.prompt is not None) == (word == "r renames")
            if app.prompt is not None:
                await pilot.press("ctrl+u", *"there", "enter")
                await pilot.pause()
                assert [mark.name for mark in app.notes.read()] == ["there"]
            assert len(app.notes.read()) == left
            if word == "d deletes":
                await pilot.press("escape")
        assert len(app.screen_stack) == 1
