"""Acts are taken back after the file has grown, and in another window of a live screen."""

from __future__ import annotations

from collections.abc import Callable

from tests.tui.growing import file_order, on_clock, part_of
from tests.tui.live.live_screen import arrives, happen, live_app, live_screen
from tests.tui.screen import view_of
from tests.tui.test_filling_in import filling, know, line_of_cursor, seen
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.launch_lanes import shows_launches
from whichlayer.tui.slots import ColourBy
from whichlayer.tui.widgets.footer import Footer


def at_once(run: Callable[[], None]) -> None:
    run()


def said(app: WhichlayerApp) -> str:
    return str(app.screen_stack[0].query_one(Footer).said)


def hidden(app: WhichlayerApp) -> set[str]:
    assert app.document is not None
    return {app.document.lanes[lane].title for lane in view_of(app).order.hidden}


async def test_after_more_was_read_acts_lead_to_the_same_instants_and_lanes() -> None:
    async with filling() as (app, pilot):
        app.find_start = at_once
        await pilot.press("w", "w")
        start = seen(app)
        lane = line_of_cursor(app)
        await pilot.press("X", "d", "ampersand", "a", "d", "d", "enter")
        gone = hidden(app)
        assert gone == {lane[0]}
        earlier = on_clock(file_order(), -7_000_000)[:1]
        await know(app, pilot, part_of([*earlier, *file_order()]))
        assert hidden(app) == gone
        await pilot.press("u")
        await pilot.pause()
        assert said(app).startswith("undone: filter add")
        assert app.document is not None and app.document.filter is None
        await pilot.press("u", "u")
        assert not hidden(app) and seen(app) == start
        assert line_of_cursor(app) == lane
        await pilot.press("U")
        assert hidden(app) == gone
        await know(app, pilot, part_of(file_order()))
        await pilot.press("u")
        assert not hidden(app)


async def test_in_another_window_everything_but_the_place_is_taken_back() -> None:
    app = live_app()
    app.find_start = at_once
    async with live_screen(arrives(1), app=app) as (app, pilot):
        await pilot.press("X", "w", "Q", "C", "ampersand", "a", "d", "d", "enter")
        await pilot.pause()
        gone = hidden(app)
        first = app.document
        await happen(app, pilot, arrives(2, "fixed"))
        await pilot.press("right_parenthesis")
        await pilot.pause()
        await pilot.pause()
        assert app.document is not None and app.document is not first and hidden(app) == gone
        assert shows_launches(app.document), "what was asked for is there in every window"
        assert app.document.filter is not None and app.document.filter.text == "add"
        port = view_of(app).port
        for word in ("filter add", "bars coloured by", "launch lanes shown", "hidden"):
            await pilot.press("u")
            await pilot.pause()
            await pilot.pause()
            assert word in said(app)
        assert app.document.filter is None and app.coloured_by is ColourBy.FAMILY
        assert not shows_launches(app.document) and not hidden(app)
        assert view_of(app).port == port, "the place of another window is no place here"
        await pilot.press("u")
        assert said(app) == "nothing to undo"
