"""Every key of the table changes what it is there to change, and so does every act of the mouse."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from textual import events
from textual.geometry import Region
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import OptionList

from tests.tui.screen import LARGE, MEDIUM, screen_of, text_of, view_of
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui import travel
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.keys import Key, current_keys, footer_hints
from whichlayer.tui.view import View
from whichlayer.tui.widgets.footer import Footer

US = 1000

_ONE = Region(0, 0, 20, 1)

#: Keys before the one that is tried, and what has to differ after it.
EFFECTS: dict[str, tuple[tuple[str, ...], str]] = {
    "zoom-in": ((), "port"),
    "zoom-out": (("w",), "port"),
    "pan-left": (("w", "w"), "port"),
    "pan-right": (("w", "w"), "port"),
    "fit": (("w",), "port"),
    "fit-thing": ((), "port"),
    "view-before": (("w",), "port"),
    "undo": (("w",), "port"),
    "view-after": (("w", "z"), "port"),
    "redo": (("w", "u"), "port"),
    "left": ((), "cursor"),
    "right": ((), "cursor"),
    "far-left": ((), "cursor"),
    "far-right": ((), "cursor"),
    "start": ((), "cursor"),
    "end": ((), "cursor"),
    "next-gap": ((), "cursor"),
    "previous-gap": ((), "cursor"),
    "smaller-gap": ((), "cursor"),
    "larger-gap": (("right_curly_bracket", "right_curly_bracket"), "cursor"),
    "next-slice": ((), "cursor"),
    "previous-slice": ((), "cursor"),
    "next-step": (("greater_than_sign",), "cursor"),  # after its own step is shown whole
    "previous-step": ((), "cursor"),
    "cause": (("full_stop",), "row"),
    "effect": (("full_stop", "backspace"), "row"),
    "go-to": ((), "prompt"),
    "bookmark": ((), "prompt"),
    "bookmarks": ((), "sheet"),
    "search": ((), "prompt"),
    "next-hit": (("full_stop", "asterisk"), "cursor"),
    "previous-hit": (("full_stop", "asterisk"), "cursor"),
    "search-this": (("full_stop",), "search"),
    "hits": (("full_stop", "asterisk"), "sheet"),
    "filter": ((), "prompt"),
    "unfilter": (("ampersand", "a", "d", "d", "enter"), "filter"),
    "select": ((), "anchor"),
    "mark": ((), "said"),
    "select-this": (("full_stop",), "selection"),
    "clear": (("full_stop", "V"), "selection"),
    "row-up": (("j",), "row"),
    "row-down": ((), "row"),
    "page-up": (("pagedown",), "row"),
    "page-down": ((), "row"),
    "fold": (("j", "j", "j"), "folds"),
    "hide-lane": ((), "order"),
    "show-lanes": (("X",), "sheet"),
    "pin-lane": (("j",), "order"),
    "lane-up": (("j",), "order"),
    "lane-down": ((), "order"),
    "lane-taller": ((), "order"),
    "lane-shorter": (("9", "9"), "order"),
    "lane-usual": (("9",), "order"),
    "clock": ((), "clock or said"),
    "follow": (("full_stop",), "cursor"),
    "next-panel": ((), "focus"),
    "previous-panel": ((), "focus"),
    "only": ((), "panels"),
    "panels-higher": (("underscore",), "panels"),
    "panels-lower": ((), "panels"),
    "panel-wider": (("tab", "tab", "tab"), "panels"),
    "panel-narrower": (("tab", "tab", "tab"), "panels"),
    "read": (("right_square_bracket", *["underscore"] * 9), "region"),
    "sort": ((), "kernels"),
    "group-by": ((), "kernels"),
    "roofline": ((), "sheet"),
    "sections": ((), "sheet"),
    "finding": (("tab", "tab"), "sheet"),
    "folded": ((), "sheet"),
    "heat-rows": ((), "gaps"),
    "queue": ((), "rows"),
    "quality": ((), "sheet"),
    "copy-view": ((), "clipboard"),
    "copy": (("right_square_bracket",), "sheet"),
    "edit": (("right_square_bracket",), "said"),
    "explain": (("right_square_bracket",), "sheet"),
    "redraw": ((), "written"),
    "theme": ((), "theme"),
    "colour-by": ((), "said"),
    "legend": ((), "sheet"),
    "picture": ((), "files"),
    "commands": ((), "sheet"),
    "help": ((), "sheet"),
    "interrupt": ((), "left"),
    "quit": ((), "left"),
}


async def settled(app: WhichlayerApp, pilot: Pilot[int]) -> None:
    await app.workers.wait_for_complete()
    await pilot.pause()
    await pilot.pause()


def state(app: WhichlayerApp, folder: Path) -> dict[str, object]:
    """What there is to see, by a word for it."""
    view, document, first = view_of(app), app.document, app.screen_stack[0]
    assert document is not None
    panels = [first.query_one(f"#{name}", Widget) for name in ("panels", "kernels", "timeline")]

    def text(name: str) -> list[str]:
        pane = first.query_one(f"#{name}")
        return [pane.render_line(y).text for y in range(pane.size.height)]

    return {
        "port": view.port,
        "cursor": view.cursor_ns,
        "row": view.row,
        "selection": view.selection,
        "anchor": view.anchor_ns,
        "folds": dict(view.folds),
        "order": view.order,
        "rows": [document.lanes[row.lane].title for row in travel.rows_of(document, view)],
        "clock or said": (view.clock, first.query_one(Footer).said),
        "said": first.query_one(Footer).said,
        "prompt": app.prompt is not None,
        "sheet": type(app.screen).__name__,
        "search": app.search is None,
        "filter": document.filter is None,
        "focus": app.focused.id if app.focused is not None else None,
        "panels": [(one.size, one.display) for one in panels],
        "region": text("region"),
        "kernels": text("kernels"),
        "gaps": text("gaps"),
        "clipboard": app.clipboard,
        "theme": app.theme,
        "files": sorted(path.name for path in folder.iterdir()),
        "written": len(app.shown._lines),
        "left": app.return_code,
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    mine = tmp_path / "here"
    mine.mkdir()
    monkeypatch.chdir(mine)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    return mine


def test_no_key_is_without_a_promise() -> None:
    assert set(EFFECTS) == {key.id for key in current_keys()}


#: What a view holds, or a sheet that can be closed: the next key can begin where this one did.
ONE_AFTER_ANOTHER = (
    "port", "cursor", "row", "selection", "anchor", "folds", "order", "rows", "sheet", "prompt",
)  # fmt: skip


def shares_a_screen(what: str, before_it: tuple[str, ...]) -> bool:
    """Whether other keys can be tried on the screen on which this one was."""
    return what in ONE_AFTER_ANOTHER and not {"tab", "underscore"} & {*before_it}


async def begin(app: WhichlayerApp, pilot: Pilot[int], view: View) -> None:
    """Look at this, without a sheet, a prompt or a panel in front."""
    for _ in range(3):
        if len(app.screen_stack) > 1 or app.prompt is not None:
            await pilot.press("escape")
            await settled(app, pilot)
    assert len(app.screen_stack) == 1 and app.prompt is None, "a sheet cannot be left"
    app.query_one("#timeline").focus()
    app.look_at(view, noted=False)
    await settled(app, pilot)


async def changes(app: WhichlayerApp, pilot: Pilot[int], key: Key, name: str, folder: Path) -> bool:
    """Whether a key changes what it is there to change."""
    before_it, what = EFFECTS[key.id]
    await pilot.press(*before_it)
    await settled(app, pilot)
    if what == "written":
        app.shown.note(0, 0, next(iter(app.query_one(Footer).render_lines(_ONE))))
        app.shown._lines[10_000] = {}
    before = state(app, folder)
    await pilot.press(name)
    await settled(app, pilot)
    return state(app, folder)[what] != before[what]


@pytest.mark.parametrize(
    "key", [key for key in current_keys() if not shares_a_screen(EFFECTS[key.id][1], EFFECTS[key.id][0])],
    ids=lambda key: key.id,
)  # fmt: skip
async def test_a_key_does_what_it_is_there_for(
    key: Key, trace: Trace, analysis: Analysis, folder: Path
) -> None:
    for name in key.keys:
        async with screen_of(trace, analysis, MEDIUM) as (app, pilot):
            app.find_start = lambda run: run()
            app.look_at(replace(view_of(app), cursor_ns=1_500 * US), noted=False)
            assert await changes(app, pilot, key, name, folder), name


@pytest.mark.parametrize("what", ONE_AFTER_ANOTHER)
async def test_keys_do_what_they_are_there_for_from_the_same_view(
    what: str, trace: Trace, analysis: Analysis, folder: Path
) -> None:
    tried, without = 0, []
    async with screen_of(trace, analysis, MEDIUM) as (app, pilot):
        app.find_start = lambda run: run()
        view = replace(view_of(app), cursor_ns=1_500 * US)
        for key in current_keys():
            before_it, changed = EFFECTS[key.id]
            if changed == what and shares_a_screen(what, before_it):
                for name in key.keys:
                    tried += 1
                    await begin(app, pilot, view)
                    if not await changes(app, pilot, key, name, folder):
                        without.append(f"{key.id} ({name})")
    assert tried and not without


Act = Callable[[WhichlayerApp, Pilot[int]], Awaitable[object]]


@dataclass(frozen=True)
class Mouse:
    """An act of the mouse, keys before it, and what it changes."""

    act: Act
    what: str
    before: tuple[str, ...] = ()


def click(name: str, x: int, y: int, times: int = 1, button: int = 1) -> Act:
    async def act(app: WhichlayerApp, pilot: Pilot[int]) -> None:
        await pilot.click(f"#{name}", offset=(x, y), times=times, button=button)

    return act


def wheel(name: str, x: int, down: bool, shift: bool = False) -> Act:
    async def act(app: WhichlayerApp, pilot: Pilot[int]) -> None:
        kind = events.MouseScrollDown if down else events.MouseScrollUp
        await pilot._post_mouse_events(
            [kind], widget=app.query_one(f"#{name}"), offset=(x, 0), shift=shift
        )

    return act


def drag(name: str, start: tuple[int, int], end: tuple[int, int]) -> Act:
    async def act(app: WhichlayerApp, pilot: Pilot[int]) -> None:
        await pilot.mouse_down(f"#{name}", offset=start)
        await pilot._post_mouse_events(
            [events.MouseMove], widget=app.query_one(f"#{name}"), offset=end, button=1
        )
        await pilot.mouse_up(f"#{name}", offset=end)

    return act


#: By the words of the key table.
MOUSE: dict[str, tuple[Mouse, ...]] = {
    "wheel up": (Mouse(wheel("timeline", 60, False), "port"),),
    "wheel down": (Mouse(wheel("timeline", 60, True), "port", ("w",)),),
    "shift + wheel": (
        Mouse(wheel("timeline", 60, True, True), "port", ("w", "w")),
        Mouse(wheel("timeline", 60, False, True), "port", ("w", "w")),
    ),
    "double click": (Mouse(click("timeline", 40, 0, 2), "port"),),
    "click": (
        Mouse(click("timeline", 90, 0), "cursor"),
        Mouse(click("timeline", 90, 2), "row"),
        Mouse(click("ruler", 90, 0), "cursor"),
        Mouse(click("layers", 90, 0), "cursor"),
    ),
    "click in the overview": (Mouse(click("overview", 100, 0), "port", ("w", "w", "w")),),
    "drag": (
        Mouse(drag("timeline", (40, 0), (80, 0)), "selection"),
        Mouse(drag("ruler", (40, 0), (80, 0)), "selection"),
    ),
    "right click": (Mouse(click("timeline", 60, 0, 1, 3), "selection", ("full_stop", "V")),),
    "wheel over the labels": (Mouse(wheel("timeline", 3, True), "top"),),
    "click on its label": (Mouse(click("timeline", 3, 3), "folds"),),
    "right click on its label": (Mouse(click("timeline", 3, 2, 1, 3), "sheet"),),
    "right click on a label": (Mouse(click("timeline", 3, 2, 1, 3), "sheet"),),
    "click on a heatmap cell, double click on a table row": (
        Mouse(click("gaps", 14, 3), "cursor"),
        Mouse(click("kernels", 10, 2, 2), "cursor"),
    ),
    "click on a panel": (Mouse(click("kernels", 10, 2), "focus"),),
    "double click on its title": (Mouse(click("kernels", 30, 0, 2), "panels"),),
    "drag a panel's title": (Mouse(drag("kernels", (30, 0), (30, 2)), "panels"),),
    "wheel over the region pane": (
        Mouse(wheel("region", 5, True), "region", ("right_square_bracket", *["underscore"] * 9)),
    ),
    "click on a heading": (Mouse(click("kernels", 44, 1), "kernels"),),
    "click on the notes in the header": (),
}

#: Acts on the overview have no word of their own: ``w a s d`` do the same.
OVERVIEW = (
    Mouse(drag("overview", (60, 0), (80, 0)), "port", ("w", "w")),
    Mouse(wheel("overview", 60, False), "port"),
)


def test_every_act_of_the_mouse_in_the_table_is_tried() -> None:
    assert {key.mouse for key in current_keys() if key.mouse} == set(MOUSE)


@pytest.mark.parametrize("words", [*MOUSE, "overview"])
async def test_the_mouse_does_what_the_table_says(
    words: str, trace: Trace, analysis: Analysis, folder: Path
) -> None:
    acts = OVERVIEW if words == "overview" else MOUSE[words]
    for mouse in acts:
        async with screen_of(trace, analysis, MEDIUM) as (app, pilot):
            app.look_at(replace(view_of(app), cursor_ns=1_500 * US), noted=False)
            await pilot.press(*mouse.before)
            await settled(app, pilot)
            if mouse.what == "top":
                for _ in range(12):
                    await pilot.press("tilde")
                await settled(app, pilot)
            before = {**state(app, folder), "top": text_of(app, "timeline")}
            await mouse.act(app, pilot)
            await settled(app, pilot)
            after = {**state(app, folder), "top": _labels(app)}
            assert after[mouse.what] != before[mouse.what]


def _labels(app: WhichlayerApp) -> list[str]:
    return text_of(app, "timeline") if len(app.screen_stack) == 1 else []


#: Keys that change the view, the last of them at once.
VIEW_ACTS: tuple[tuple[str, ...], ...] = (
    ("w",), ("s",), ("a",), ("d",), ("f",), ("F",), ("full_stop", "F"), ("greater_than_sign",),
    ("j", "j", "j", "c"), ("X",), ("circumflex_accent",), ("shift+down",), ("j", "shift+up"),
    ("9",), ("9", "8"), ("9", "0"), ("full_stop", "V"), ("full_stop", "V", "escape"),
    ("v", "L", "v"), ("tab", "j", "enter"),
)  # fmt: skip


async def test_every_act_on_the_view_is_undone_and_done_again(
    trace: Trace, analysis: Analysis
) -> None:
    def shown(app: WhichlayerApp) -> tuple[object, ...]:
        view = view_of(app)
        return view.port, view.order, dict(view.folds), view.selection, view.clock

    async with screen_of(trace, analysis, MEDIUM) as (app, pilot):
        port = view_of(app).port.to(700 * US, 2_300 * US)
        first = replace(view_of(app), port=port, cursor_ns=1_500 * US)
        for keys in VIEW_ACTS:
            await begin(app, pilot, first)
            await pilot.press(*keys[:-1])
            await pilot.pause()
            before = shown(app)
            await pilot.press(keys[-1])
            await pilot.pause()
            after = shown(app)
            assert after != before, keys
            await pilot.press("u")
            await pilot.pause()
            assert shown(app) == before, keys
            await pilot.press("U")
            await pilot.pause()
            assert shown(app) == after, keys


async def test_a_selection_drawn_with_the_mouse_is_one_act(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, MEDIUM) as (app, pilot):
        await pilot.press("w")
        port = view_of(app).port
        await pilot.mouse_down("#timeline", offset=(40, 0))
        for x in (50, 60, 70):
            await pilot._post_mouse_events(
                [events.MouseMove], widget=app.query_one("#timeline"), offset=(x, 0), button=1
            )
        await pilot.mouse_up("#timeline", offset=(70, 0))
        await settled(app, pilot)
        assert view_of(app).selection is not None
        await pilot.press("u")
        assert view_of(app).selection is None and view_of(app).port == port
        await pilot.press("U", "z")
        assert view_of(app).selection is None and view_of(app).port == port


async def test_a_click_on_the_notes_tells_of_the_quality(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, LARGE) as (app, pilot):
        at = app.query_one("#header").render_line(0).text.index("!")
        await pilot.click("#header", offset=(at + 2, 0))
        await settled(app, pilot)
        assert type(app.screen).__name__ == "QualityScreen"


async def test_dragging_an_end_of_the_overviews_span_moves_that_end_alone(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, MEDIUM) as (app, pilot):
        await pilot.press("w", "w")
        await settled(app, pilot)
        before = view_of(app).port
        line = app.query_one("#overview").render_line(0).text
        left, right = line.index("["), line.index("]")
        await drag("overview", (right, 0), (right - 6, 0))(app, pilot)
        await settled(app, pilot)
        after = view_of(app).port
        assert after.start_ns == before.start_ns and after.end_ns < before.end_ns
        middle = (left + right - 6) // 2
        await drag("overview", (middle, 0), (middle + 5, 0))(app, pilot)
        await settled(app, pilot)
        moved = view_of(app).port
        assert moved.start_ns > after.start_ns
        assert abs(moved.span_ns - after.span_ns) <= moved.cells, "its length stays"


async def test_every_hint_of_the_footer_can_be_clicked(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, LARGE) as (app, pilot):
        footer = app.query_one(Footer)
        line = footer.render_line(0).text
        shown = [(keys, word) for keys, word in footer_hints() if f"{keys} {word} " in line]
        assert [word for _, word in shown][:3] == ["help", "quit", "commands"]
        done: list[str] = []

        async def note(action: str) -> bool:
            done.append(action)
            return True

        app.run_action = note  # type: ignore[method-assign, assignment]
        for keys, word in shown:
            at = line.index(f" {keys} {word} ") + 1
            parts = [at] if len(keys) > 2 else [at + i for i in range(len(keys))]
            for x in (*parts, at + len(keys) + 1):
                await pilot.click("#footer", offset=(x, 0))
        by_hint = {key.hint.split(" ", 1)[1]: key for key in current_keys() if key.hint}
        assert done[:2] == ["help", "help"] and "zoom(1)" in done and "zoom(-1)" in done
        assert {by_hint[word].action for _, word in shown} <= set(done)


async def test_every_key_is_reached_by_the_mouse_alone(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, MEDIUM) as (app, pilot):
        line = app.query_one(Footer).render_line(0).text
        await pilot.click("#footer", offset=(line.index(": commands"), 0))
        await settled(app, pilot)
        options = app.screen.query_one(OptionList).options
        titles = " ".join(str(option.prompt).lower() for option in options)
        assert all(key.does.lower() in titles for key in current_keys() if key.id != "commands")
        before = view_of(app).port
        await pilot.click(OptionList, offset=(5, 1))
        await settled(app, pilot)
        assert view_of(app).port.span_ns < before.span_ns, "the first of them zooms in"
