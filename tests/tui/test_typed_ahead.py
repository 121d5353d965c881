"""Keys that come all at once: each is for what has the focus when its turn comes."""

from __future__ import annotations

from random import Random

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.screen import LARGE, screen_of, view_of
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.widgets.command_screen import CommandScreen
from whichlayer.tui.widgets.legend_screen import LegendScreen

_NAMES = {
    ":": "colon", "/": "slash", "\r": "enter", "&": "ampersand", "\x1b": "escape",
    "?": "question_mark", "@": "at", "!": "exclamation_mark", "'": "apostrophe",
}  # fmt: skip


async def _burst(app: WhichlayerApp, pilot: Pilot[int], keys: str) -> None:
    """Press keys as a paste does: all are there before the first is looked at."""
    for key in keys:
        app.post_message(events.Key(_NAMES.get(key, key), key))
    for _ in range(4):
        await pilot.pause()


async def test_text_after_the_key_of_the_palette_goes_into_it(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, LARGE) as (app, pilot):
        before = view_of(app)
        await _burst(app, pilot, ":flash")
        assert isinstance(app.screen, CommandScreen)
        assert app.screen.query_one(Input).value == "flash"
        assert not app.screen.query_one(Input).cursor_blink, "a blinking cursor writes at rest"
        assert view_of(app) == before, "no letter was taken for a command"


@pytest.mark.parametrize("key", ["/", "&"])
async def test_text_after_the_key_of_a_prompt_goes_into_it(
    key: str, trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, LARGE) as (app, pilot):
        before = view_of(app)
        await _burst(app, pilot, f"{key}flash")
        assert app.prompt is not None
        assert app.prompt.text == "flash"
        assert view_of(app) == before


async def test_enter_in_the_palette_takes_what_was_found_for_all_of_the_text(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, LARGE) as (app, pilot):
        await _burst(app, pilot, ":legend\r")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert isinstance(app.screen, LegendScreen)


@pytest.mark.parametrize("keys", [":legend\r\r", ":\r\r\r", ":no such thing\r\r"])
async def test_more_enters_than_one_do_no_harm(keys: str, trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, LARGE) as (app, pilot):
        await _burst(app, pilot, keys)
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.is_running
        assert app.error is None


async def test_keys_behind_the_end_of_a_prompt_are_commands_again(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, LARGE) as (app, pilot):
        before = view_of(app)
        await _burst(app, pilot, "/x\rww")
        assert app.prompt is None
        assert view_of(app).port.span_ns < before.port.span_ns


async def test_bursts_of_keys_never_end_the_program_or_leave_it_without_answer(
    trace: Trace, analysis: Analysis
) -> None:
    random = Random(2)
    keys = "\x1b\x1b\x1b\x1b\x1b\x1b" + "ooMMK?:gAI@B!'/aj\r"
    async with screen_of(trace, analysis, LARGE) as (app, pilot):
        for turn in range(60):
            burst = "".join(random.choices(keys, k=random.randint(1, 6)))
            for key in burst:
                app.post_message(events.Key(_NAMES.get(key, key), key))
            if turn % 3:
                await pilot.pause()
            assert app.is_running and app.error is None, burst
        for _ in range(8):
            await pilot.press("escape")
        await pilot.pause()
        assert len(app.screen_stack) == 1 and app.prompt is None
        before = view_of(app).port
        await pilot.press("home", "w")
        assert view_of(app).port != before
