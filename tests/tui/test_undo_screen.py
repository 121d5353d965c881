"""``u`` takes every kind of act back, exactly, and ``U`` does it again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from tests.tui.screen import MEDIUM, ReadyLoader, screen_of, view_of
from whichlayer.analysis.results import Analysis, Options
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.undo import Acts
from whichlayer.tui.widgets.footer import Footer

US = 1000


def at_once(run: Callable[[], None]) -> None:
    run()


def app_on(path: Path, trace: Trace, analysis: Analysis) -> WhichlayerApp:
    app = WhichlayerApp(
        ReadyLoader(str(path), Options(), lambda p, progress: trace, lambda t, o: analysis)
    )
    app.find_start = at_once
    app.span_pause_s = 1000.0
    return app


def picture(app: WhichlayerApp) -> dict[str | None, list[object]]:
    """Everything that is drawn, colours too, but for the footer's words."""
    view = view_of(app)
    drawn: dict[str | None, list[object]] = {"selection": [view.selection, view.anchor_ns]}
    for pane in app.panes:
        if pane.display and not isinstance(pane, Footer):
            drawn[pane.id] = [pane.render_line(y) for y in range(pane.size.height)]
    return drawn


def said(app: WhichlayerApp) -> str:
    return str(app.screen_stack[0].query_one(Footer).said)


async def press(pilot: Pilot[int], *keys: str) -> None:
    await pilot.press(*keys)
    await pilot.pause()
    await pilot.pause()


def typed(text: str) -> tuple[str, ...]:
    names = {">": "greater_than_sign", ":": "colon", " ": "space"}
    return tuple(names.get(char, char) for char in text)


KERNELS = ("tab", "tab", "tab")

#: Keys before an act, the act, and the word for it.
ACTS: dict[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "filter by name": ((), ("ampersand", *typed("add"), "enter"), "filter add"),
    "filter by duration": ((), ("ampersand", *typed("dur>100us"), "enter"), "filter dur>100us"),
    "filter by family": ((), ("ampersand", *typed("family:matmul"), "enter"), "filter family:matm"),
    "filter off": (("ampersand", *typed("add"), "enter"), ("x",), "filter add off"),
    "filter replaced": (("ampersand", *typed("add"), "enter"),
                        ("ampersand", "ctrl+u", *typed("gemm"), "enter"), "filter gemm"),
    "search": ((), ("slash", *typed("gemm"), "enter"), "search gemm"),
    "search over": (("slash", *typed("gemm"), "enter"), ("escape",), "search gemm off"),
    "colours": ((), ("C",), "bars coloured by"),
    "theme": ((), ("T",), "colours"),
    "sort": ((), ("t",), "kernels sorted by share"),
    "group": ((), ("b",), "kernel table by"),
    "heatmap": ((), ("R",), "heatmap by"),
    "higher": ((), ("underscore",), "height of panels"),
    "wider": (KERNELS, ("percent_sign",), "width of panels"),
    "full": (KERNELS, ("vertical_line",), "kernels on the whole screen"),
    "full over": ((*KERNELS, "vertical_line"), ("escape",), "no longer on the whole"),
    "fold": (("j", "j", "j"), ("c",), "folded"),
    "hide": ((), ("X",), "GPU0 s7 hidden"),
    "show": (("X",), ("D", "enter"), "GPU0 s7 shown again"),
    "pin": (("j", "j"), ("circumflex_accent",), "pinned"),
    "unpin": (("j", "j", "circumflex_accent"), ("circumflex_accent",), "no longer pinned"),
    "order": ((), ("shift+down",), "lane moved"),
    "taller": ((), ("9",), "GPU0 s7 in other rows"),
    "launch lanes": ((), ("Q",), "launch lanes shown"),
    "launch lanes off": (("Q",), ("Q",), "launch lanes hidden"),
    "zoom": ((), ("w",), "zoom"),
    "held zoom": (("w",), ("s", "s", "s"), "zoom"),
    "pan": (("w", "w", "w"), ("d",), "pan"),
    "jump": (("w", "w", "w", "w"), ("greater_than_sign",), "view"),
    "mark": (("full_stop",), ("m",), "mark"),
    "selection": (("full_stop",), ("V",), "selection"),
    "selection off": (("full_stop", "V"), ("escape",), "selection cleared"),
    "bookmark": (("full_stop",), ("M", *typed("here"), "enter"), "bookmark"),
    "bookmark deleted": (("M", "ctrl+u", *typed("here"), "enter"),
                         ("apostrophe", "d", "escape"), "bookmark here deleted"),
    "bookmark renamed": (("M", "ctrl+u", *typed("here"), "enter"),
                         ("apostrophe", "r", "ctrl+u", *typed("there"), "enter"),
                         "bookmark here renamed"),
}  # fmt: skip

#: Runs that came before an act are a part of it: these keys begin where no run is.
_FRESH = {"held zoom"}


def notes(folder: Path) -> list[tuple[str, int]]:
    file = folder / "step.json.whichlayer.json"
    if not file.exists():
        return []
    marks = json.loads(file.read_text())["bookmarks"]
    return sorted((mark["name"], mark["clock_ns"]) for mark in marks)


@pytest.mark.parametrize("name", ACTS)
async def test_undone_everything_is_as_it_was_and_redone_as_it_became(
    name: str, trace: Trace, analysis: Analysis, tmp_path: Path
) -> None:
    before_keys, keys, word = ACTS[name]
    app = app_on(tmp_path / "step.json", trace, analysis)
    async with app.run_test(size=MEDIUM) as pilot:
        await pilot.pause()
        app.look_at(replace(view_of(app), cursor_ns=750 * US), noted=False)
        await press(pilot, *before_keys)
        if name in _FRESH:
            app.acts = Acts()
        before, kept = picture(app), notes(tmp_path)
        await press(pilot, *keys)
        after, kept_after = picture(app), notes(tmp_path)
        assert (after, kept_after) != (before, kept)
        await press(pilot, "u")
        assert said(app).startswith("undone: ") and word in said(app)
        assert notes(tmp_path) == kept
        assert picture(app) == before
        await press(pilot, "U")
        assert said(app).startswith("done again: ") and word in said(app)
        assert notes(tmp_path) == kept_after
        assert picture(app) == after
        await press(pilot, "u")
        assert picture(app) == before


async def test_acts_of_many_kinds_are_undone_one_after_the_other(
    trace: Trace, analysis: Analysis, tmp_path: Path
) -> None:
    app = app_on(tmp_path / "step.json", trace, analysis)
    async with app.run_test(size=MEDIUM) as pilot:
        await pilot.pause()
        pictures = [picture(app)]
        acts = (("C",), ("Q",), ("X",), ("Q",), ("ampersand", *typed("add"), "enter"), ("w",),
                ("t",), ("full_stop", "V"), ("underscore",), ("x",), ("T",))  # fmt: skip
        for keys in acts:
            await press(pilot, *keys)
            pictures.append(picture(app))
        cursor_moved = {8}  # by a key that is no act
        for place in range(len(acts) - 1, -1, -1):
            await press(pilot, "u")
            if place + 1 not in cursor_moved:
                assert picture(app).keys() == pictures[place].keys()
                for part, lines in picture(app).items():
                    assert lines == pictures[place][part], (place, part)
        assert said(app).startswith("undone: bars coloured")
        await press(pilot, "u")
        assert said(app) == "nothing to undo"
        for _ in acts:
            await press(pilot, "ctrl+r")
        assert picture(app)["kernels"] == pictures[-1]["kernels"]
        await press(pilot, "U")
        assert said(app) == "nothing to do again"


async def test_views_have_a_way_back_of_their_own(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, MEDIUM) as (app, pilot):
        first = view_of(app).port
        await press(pilot, "w", "w", "X", "C")
        hidden = view_of(app).order
        await press(pilot, "z", "z")
        assert view_of(app).port == first
        assert view_of(app).order == hidden, "lanes are no view"
        await press(pilot, "u")
        assert view_of(app).port != first, "going back is an act, too"


@pytest.mark.parametrize("key", ["v", "m"])
async def test_a_finished_selection_is_undone_begin_and_all(
    trace: Trace, analysis: Analysis, key: str
) -> None:
    async with screen_of(trace, analysis, MEDIUM) as (app, pilot):
        await press(pilot, key, "l", "l", "l", "l", "l", "l", "l", "l", key)
        selection = view_of(app).selection
        assert selection is not None
        await press(pilot, "u")
        assert (view_of(app).selection, view_of(app).anchor_ns) == (None, None)
        assert said(app).startswith("undone: selection")
        await press(pilot, "u")
        assert said(app) == "nothing to undo"
        await press(pilot, "U")
        assert (view_of(app).selection, view_of(app).anchor_ns) == (selection, None)


async def test_a_selection_that_is_only_begun_is_undone_alone(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, MEDIUM) as (app, pilot):
        await press(pilot, "v", "l", "l", "v")
        first = view_of(app).selection
        await press(pilot, "v", "l", "u")
        assert (view_of(app).selection, view_of(app).anchor_ns) == (first, None)
        await press(pilot, "v", "w", "l", "v", "u")
        assert (view_of(app).selection, view_of(app).anchor_ns) == (first, None)


async def test_a_drag_of_the_overview_or_of_a_title_is_one_act(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, MEDIUM) as (app, pilot):
        await press(pilot, "w", "w", "w")
        port = view_of(app).port
        places = {"overview": [(60, 0), (80, 0), (70, 0), (90, 0)],
                  "kernels": [(30, 0), (30, 1), (30, 2), (30, 1)]}  # fmt: skip
        for name, path in places.items():
            before = picture(app)
            await pilot.mouse_down(f"#{name}", offset=path[0])
            for at in path[1:]:
                await pilot._post_mouse_events(
                    [events.MouseMove], widget=app.query_one(f"#{name}"), offset=at, button=1
                )
                await pilot.pause()
            await pilot.mouse_up(f"#{name}", offset=path[-1])
            await pilot.pause()
            assert picture(app) != before
            await press(pilot, "u")
            assert len(picture(app)["kernels"]) == len(before["kernels"])
            assert view_of(app).port == port
        await press(pilot, "w", "z")
        assert view_of(app).port == port


async def test_a_heading_that_was_clicked_is_undone(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, MEDIUM) as (app, pilot):
        before = picture(app)["kernels"]
        await pilot.click("#kernels", offset=(44, 1))
        await pilot.pause()
        await press(pilot, "escape", "u")
        assert "kernels sorted by" in said(app) and picture(app)["kernels"] == before


async def test_undo_survives_a_bookmark_that_another_screen_has_set(
    trace: Trace, analysis: Analysis, tmp_path: Path
) -> None:
    from whichlayer.tui.notes_file import NotesFile, new_bookmark

    path = tmp_path / "step.json"
    app = app_on(path, trace, analysis)
    async with app.run_test(size=MEDIUM) as pilot:
        await pilot.pause()
        await press(pilot, "M", "ctrl+u", *typed("mine"), "enter")
        NotesFile(str(path)).add(new_bookmark("other", 5))
        await press(pilot, "u")
        assert [name for name, _ in notes(tmp_path)] == ["other"]
        await press(pilot, "U")
        assert [name for name, _ in notes(tmp_path)] == ["mine", "other"]
