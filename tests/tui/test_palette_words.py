"""What the palette finds by the words that people look for."""

from __future__ import annotations

import doctest

from textual.command import Hit
from textual.style import Style

from tests.tui.screen import LARGE, screen_of
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui import commands
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.commands import KeyCommands, marked
from whichlayer.tui.keys import KEYS
from whichlayer.tui.thing_commands import ThingCommands


async def found(app: WhichlayerApp, query: str) -> list[str]:
    """The titles that are found, the best first."""
    hits: list[Hit] = []
    for provider in (KeyCommands, ThingCommands):
        hits += [hit async for hit in provider(app.screen).search(query) if isinstance(hit, Hit)]
    return [str(hit.text) for hit in sorted(hits, key=lambda hit: -hit.score)]


def test_the_examples_hold() -> None:
    result = doctest.testmod(commands)
    assert result.attempted and not result.failed


#: What people type, and the command that they mean.
MEANT = {
    "theme": "theme", "undo": "undo", "full screen": "only", "fullscreen": "only",
    "maximize": "only", "maxi": "only", "screenshot": "picture", "svg": "picture",
    "ruler": "mark", "measure": "mark", "colors": "legend", "dark": "theme",
    "shortcuts": "help", "share link": "copy-view", "find": "search", "flow": "cause",
    "collapse": "fold", "exit": "quit", "Time Jump": "go-to", "heatmap rows": "heat-rows",
}  # fmt: skip


async def test_a_command_is_found_by_its_obvious_words(trace: Trace, analysis: Analysis) -> None:
    does = {one.id: one.does.casefold() for one in KEYS}
    async with screen_of(trace, analysis, LARGE) as (app, _):
        for query, key in MEANT.items():
            assert (await found(app, query))[0].casefold() == does[key], query


async def test_every_command_is_found_by_its_id(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, LARGE) as (app, _):
        for key in KEYS:
            if key.live or key.id == "commands":
                continue
            titles = [title.casefold() for title in await found(app, key.id.replace("-", " "))]
            assert key.does.casefold() in titles[:6], key.id


def test_typed_words_are_lit_where_they_begin_a_word() -> None:
    shown = marked("mark set", "Set a mark at the remark", Style(bold=True))
    assert sorted((span.start, span.end) for span in shown.spans) == [(0, 3), (6, 10)]


async def test_letters_scattered_over_a_title_come_last(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, LARGE) as (app, _):
        titles = await found(app, "lol")  # of "close to line", say
        assert titles[0] == "search the timeline for lol" and len(titles) > 1


async def test_what_has_no_entry_is_searched_for(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, LARGE) as (app, pilot):
        await pilot.press("colon", *"cudalaunch", "enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        await pilot.pause()
        assert app.search is not None and app.search.text == "cudalaunch"
        assert len(app.search.hits)


async def test_markup_in_names_is_shown_as_it_is(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, LARGE) as (app, _):
        hits = [hit async for hit in ThingCommands(app.screen).search("[red]x[/] [/nope]")]
        assert "[red]x[/] [/nope]" in str(hits[-1].text)
