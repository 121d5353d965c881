"""Every sheet over the screen, at 80x24: it can be read to its end and is closed in the same ways."""

from __future__ import annotations

import pytest
from textual import events
from textual.pilot import Pilot

from tests.tui.screen import SMALL, screen_of, text_of, view_of
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.widgets.over_screen import OverScreen

#: Keys that open a sheet; the last is its own.
OPENED = {
    "help": ("question_mark",),
    "quality": ("exclamation_mark",),
    "legend": ("K",),
    "sections": ("A",),
    "finding": ("I",),
    "folded": ("B",),
    "explain": ("right_square_bracket", "at"),
    "copy": ("right_square_bracket", "Y"),
    "roofline": ("o",),
    "show-lanes": ("j", "X", "D"),
}


async def opened(
    app: WhichlayerApp, pilot: Pilot[int], keys: tuple[str, ...]
) -> OverScreen[object]:
    await pilot.press(*keys)
    await pilot.pause()
    assert isinstance(app.screen, OverScreen), keys
    return app.screen


@pytest.mark.parametrize("sheet", OPENED)
async def test_it_is_closed_by_every_way(sheet: str, trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, SMALL) as (app, pilot):
        keys = OPENED[sheet]
        for way in ("escape", "q", keys[-1], "click"):
            screen = await opened(app, pilot, keys)
            region = screen.body.region
            assert 0 <= region.x and region.right <= 80 and region.bottom <= 24
            beside = next(y for y in range(24) if not region.contains(0, y))
            if way == "click":
                await pilot.click(offset=(0, beside))
            else:
                await pilot.press(way)
            await pilot.pause()
            assert len(app.screen_stack) == 1, way
            if sheet == "show-lanes":
                await pilot.press("u")
                await pilot.pause()


@pytest.mark.parametrize("sheet", OPENED)
async def test_keys_that_come_at_once_close_it_once(
    sheet: str, trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, SMALL) as (app, pilot):
        keys = OPENED[sheet]
        for way in ("escape", keys[-1]):
            screen = await opened(app, pilot, keys)
            for _ in range(3):
                app.post_message(events.Key(way, None))
            for _ in range(4):
                await pilot.pause()
            assert app.is_running and app.error is None, way
            assert screen not in app.screen_stack, way
            while len(app.screen_stack) > 1:
                await pilot.press("escape")
                await pilot.pause()
            if sheet == "show-lanes":
                await pilot.press("u")
                await pilot.pause()


@pytest.mark.parametrize("sheet", OPENED)
async def test_keys_and_wheel_leave_it_open_and_it_keeps_right_in_another_size(
    sheet: str, trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, SMALL) as (app, pilot):
        screen = await opened(app, pilot, OPENED[sheet])
        await pilot.press("down", "pagedown", "end", "home", "up", "pageup", "j", "k")
        for size in ((200, 50), (60, 16), (120, 40), SMALL):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert app.screen is screen
            region = screen.body.region
            assert region.right <= size[0] and region.bottom <= size[1] and region.height > 3
        await pilot.press("escape")
        await pilot.pause()
        below = [text_of(app, name) for name in ("header", "timeline", "region")]
        port = view_of(app).port
    if sheet == "show-lanes":
        return  # lanes are kept as they were left: the next screen begins with one less
    async with screen_of(trace, analysis, SMALL) as (other, pilot):
        await pilot.press(*OPENED[sheet])
        await pilot.pause()
        await pilot.press("escape")
        await pilot.pause()
        assert view_of(other).port == port
        assert below == [text_of(other, name) for name in ("header", "timeline", "region")]
