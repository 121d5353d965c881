"""The terminal may change its size at any moment, also between a size and its frame."""

from __future__ import annotations

from textual.command import CommandPalette

from tests.tui.screen import screen_of
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.widgets.timeline import Timeline


async def test_a_line_beyond_the_drawn_frame_is_drawn(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, (120, 12)) as (app, pilot):
        timeline = app.query_one(Timeline)
        low = timeline.size.height
        assert low < len(timeline.rows)
        # Textual may ask for a line of the new height before the widget hears of it.
        strip = timeline.render_line(len(timeline.rows) - timeline.top - 1)
        assert strip.cell_length == timeline.size.width
        await pilot.resize_terminal(120, 40)
        await pilot.pause()
        assert timeline.render_line(0).cell_length == timeline.size.width


async def test_any_sequence_of_sizes_leaves_a_whole_screen(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, (80, 24)) as (app, pilot):
        for width, height in ((200, 50), (20, 5), (120, 40), (1, 1), (80, 24), (300, 100)):
            await pilot.resize_terminal(width, height)
            await pilot.press("j", "w")
        assert app.query_one(Timeline).size.width > 0


async def test_the_palette_survives_a_terminal_without_room_for_it(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, (80, 4)) as (app, pilot):
        await pilot.press("ctrl+p", "pagedown", "escape")
        await pilot.resize_terminal(80, 24)
        await pilot.press("ctrl+p")
        assert isinstance(app.screen, CommandPalette)
        await pilot.resize_terminal(80, 4)
        await pilot.pause()
        await pilot.press("pagedown")
        assert not isinstance(app.screen, CommandPalette)
