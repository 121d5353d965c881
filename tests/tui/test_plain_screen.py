"""Terminals without colours, and without more than ASCII."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from textual._compositor import LayoutUpdate
from textual.command import CommandList
from textual.pilot import Pilot

from tests.tui.screen import LARGE, MEDIUM, SMALL, screen_of
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.plain_filters import in_ascii, without_colours
from whichlayer.tui.screen_settings import screen_settings

#: Keys that open every sheet, and that show every panel.
SHEETS = ((), ("question_mark",), ("exclamation_mark",), ("o",), ("K",), ("apostrophe",), ("slash",),
          ("colon",), ("C",), ("tab",), ("tab", "tab"), ("tab", "tab", "tab"), ("Q",), ("v", "l"),
          ("slash", "a", "enter", "i"))  # fmt: skip


@pytest.fixture
def only_ascii() -> Iterator[None]:
    screen_settings.ascii_only = True
    yield
    screen_settings.ascii_only = False


def segments_of(app: WhichlayerApp) -> list[tuple[str, Style | None]]:
    """What a whole repaint writes."""
    update = app.screen._compositor.render_update(full=True, screen_stack=app._background_screens)
    assert isinstance(update, LayoutUpdate)
    return [
        (segment.text, segment.style)
        for line in update.strips
        for strip in line
        for segment in strip
    ]


async def pictures(
    app: WhichlayerApp, pilot: Pilot[int]
) -> AsyncIterator[tuple[tuple[str, ...], list[tuple[str, Style | None]]]]:
    """What every sheet and panel writes, one after the other on one screen."""
    for keys in SHEETS:
        await pilot.press(*keys)
        await pilot.pause()
        yield keys, segments_of(app)
        while len(app.screen_stack) > 1:
            await pilot.press("escape")
        await pilot.press("escape")
        app.query_one("#timeline").focus()
        await pilot.pause()


@pytest.mark.parametrize("size", [SMALL, MEDIUM, LARGE])
async def test_nothing_but_ascii_is_written_where_that_is_set(
    size: tuple[int, int], trace: Trace, analysis: Analysis, only_ascii: None
) -> None:
    seen = []
    async with screen_of(trace, analysis, size) as (app, pilot):
        async for keys, segments in pictures(app, pilot):
            text = "".join(text for text, _ in segments)
            assert text.isascii(), (keys, {char for char in text if not char.isascii()})
            assert len(text) == size[0] * size[1], keys
            seen.append(text)
    assert len(set(seen)) == len(SHEETS)


@pytest.mark.parametrize("theme", ["dark", "light"])
async def test_no_colour_is_written_where_none_is_wanted(
    theme: str, trace: Trace, analysis: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(screen_settings, "theme", f"whichlayer-{theme}")
    async with screen_of(trace, analysis) as (app, pilot):
        async for keys, segments in pictures(app, pilot):
            styles = [style for _, style in segments if style is not None]
            assert styles, keys
            assert not [style for style in styles if style.color or style.bgcolor], keys


async def test_bars_and_letters_are_reversed_without_colours(
    trace: Trace, analysis: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with screen_of(trace, analysis) as (app, _):
        found = {text.strip(): style for text, style in segments_of(app) if style is not None}
        bar = next(style for text, style in found.items() if "ampere_s" in text)
        assert bar.reverse
        assert found["whichlayer"].reverse and found["whichlayer"].bold
        assert not found["overview"].reverse


def test_text_darker_than_its_ground_is_reversed_on_a_dark_theme() -> None:
    ink_on_light = Style.parse("bold #000000 on #ffffff")
    light_on_dark = Style.parse("underline #ffffff on #000000")
    assert without_colours(ink_on_light, True) == Style(bold=True, reverse=True)
    assert without_colours(light_on_dark, True) == Style(underline=True)
    assert without_colours(ink_on_light, False) == Style(bold=True)
    assert without_colours(light_on_dark, False) == Style(underline=True, reverse=True)
    assert without_colours(Style(reverse=True), True) == Style(reverse=True)


@given(st.text())
def test_ascii_takes_as_many_cells(text: str) -> None:
    plain = in_ascii(text)
    assert plain.isascii()
    wide = sum(cell_len(char) for char in text if not char.isascii())
    assert len(plain) == sum(char.isascii() for char in text) + wide


def test_blocks_and_frames_stay_readable() -> None:
    assert in_ascii("▁▂▃▄▅▆▇█ ▌│─┌▼▲ 12 µs · 3 × 4 …") == "_.:-=+*# ||-+v^ 12 us . 3 x 4 ~"


async def test_the_chosen_command_is_seen_without_colours(
    trace: Trace, analysis: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with screen_of(trace, analysis) as (app, pilot):
        await pilot.press("colon", *"lane", "down")
        await app.workers.wait_for_complete()
        await pilot.pause()
        segments = segments_of(app)
        reversed_words = [
            text.strip() for text, style in segments if style is not None and style.reverse
        ]
        chosen = app.screen.query_one(CommandList).highlighted_option
        assert chosen is not None
        assert not [style for _, style in segments if style is not None and style.dim]
        first = str(chosen.prompt).split("\n")[0].strip()
        assert any(word and word in first for word in reversed_words)
