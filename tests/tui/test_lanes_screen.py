"""Keys and mouse acts of lanes, chains and panels, on the recording of ``recording.py``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from textual import events
from textual.pilot import Pilot

from tests.tui.recording import build_analysis, build_trace
from tests.tui.screen import MEDIUM, ReadyLoader, text_of, view_of
from whichlayer.analysis.results import Analysis, Options
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui import travel
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.widgets.footer import Footer
from whichlayer.tui.widgets.help_screen import HelpScreen
from whichlayer.tui.widgets.list_sheet import ListSheet
from whichlayer.tui.widgets.panel import Panel
from whichlayer.tui.widgets.timeline import Timeline

Screen = tuple[WhichlayerApp, Pilot[int]]


@pytest_asyncio.fixture
async def screen(
    trace: Trace, analysis: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Screen]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    app = app_on(tmp_path, trace, analysis)
    async with app.run_test(size=MEDIUM) as pilot:
        await pilot.pause()
        await pilot.pause()
        yield app, pilot


def app_on(folder: Path, trace: Trace, analysis: Analysis) -> WhichlayerApp:
    return WhichlayerApp(
        ReadyLoader(
            str(folder / "step.json"), Options(), lambda p, progress: trace, lambda t, o: analysis
        )
    )


async def press(screen: Screen, *keys: str) -> None:
    await screen[1].press(*keys)
    await screen[1].pause()


def lanes_of(app: WhichlayerApp) -> list[str]:
    assert app.document is not None
    rows = travel.rows_of(app.document, view_of(app))
    return [app.document.lanes[lane].title.strip() for lane in dict.fromkeys(r.lane for r in rows)]


def lane_here(app: WhichlayerApp) -> str:
    assert app.document is not None
    view = view_of(app)
    row = travel.rows_of(app.document, view)[view.row]
    return app.document.lanes[row.lane].title.strip()


def name_here(app: WhichlayerApp) -> str:
    assert app.document is not None
    view = view_of(app)
    row = travel.slice_at(app.document, travel.rows_of(app.document, view), view)
    return app.document.names.short(row) if row >= 0 else ""


def said(app: WhichlayerApp) -> str:
    return app.query_one(Footer).said


async def put(screen: Screen, **changes: object) -> None:
    screen[0].look_at(replace(view_of(screen[0]), **changes))  # type: ignore[arg-type]
    await screen[1].pause()


async def test_the_chain_is_gone_up_and_down_and_back_to_where_it_began(screen: Screen) -> None:
    app = screen[0]
    await put(screen, cursor_ns=750_000)
    before = view_of(app)
    names = [name_here(app)]
    for _ in range(3):
        await press(screen, "backspace")
        names.append(name_here(app))
    assert names[0].startswith("add")
    assert names[1:] == ["cudaLaunchKernel", "aten::add", "train [bold]"]
    await press(screen, "backspace")
    assert said(app) == "nothing recorded started this: \\ goes down the chain"
    await press(screen, "backslash", "backslash", "backslash")
    assert name_here(app) == names[0] and view_of(app).row == before.row
    await press(screen, "backslash")
    assert said(app) == "nothing recorded was started by this: ⌫ goes up the chain"


async def test_from_a_gap_the_chain_begins_with_the_launch_that_it_waited_for(
    screen: Screen,
) -> None:
    app = screen[0]
    await put(screen, cursor_ns=650_000)
    assert name_here(app) == ""
    await press(screen, "backspace")
    assert name_here(app) == "cudaLaunchKernel" and lane_here(app) != "GPU0 s7"
    assert said(app) == "the launch that this gap waited for: cudaLaunchKernel"
    await press(screen, "backslash")
    assert name_here(app).startswith("add")


async def test_where_neither_slice_nor_gap_is_the_chain_says_so(screen: Screen) -> None:
    await put(screen, cursor_ns=999_000)
    await press(screen, "backspace")
    assert said(screen[0]) == "no slice and no gap at the cursor"


async def test_enter_on_an_operator_goes_to_the_work_that_it_started(screen: Screen) -> None:
    await put(screen, cursor_ns=750_000)
    await press(screen, "backspace", "backspace")
    assert name_here(screen[0]) == "aten::add"
    await press(screen, "enter")
    assert name_here(screen[0]).startswith("add")


async def test_enter_goes_from_work_to_its_launch_and_back(screen: Screen) -> None:
    app = screen[0]
    await put(screen, cursor_ns=750_000)
    name = name_here(app)
    await press(screen, "enter")
    assert name_here(app) == "cudaLaunchKernel"
    await press(screen, "enter")
    assert name_here(app) == name


async def test_the_chain_is_drawn_from_the_launch_to_the_work_with_its_delay(
    screen: Screen,
) -> None:
    app = screen[0]
    await put(screen, cursor_ns=350_000)
    await press(screen, "w", "w", "w")
    text = text_of(app, "timeline")
    head = next(y for y, line in enumerate(text) if "▲" in line)
    column = text[head].index("▲")
    assert any("5.000 µs" in line for line in text)
    launch = next(y for y, line in enumerate(text) if line[column : column + 1] in ("┘", "┴"))
    assert all(text[y][column] in "│▲▼" for y in range(head, launch)), "no row is left out"
    assert "sgemm" in text[head - 2] and launch > head + 1
    await put(screen, cursor_ns=999_000)
    assert not any("5.000 µs" in line or "▲" in line for line in text_of(app, "timeline"))


async def test_the_chain_of_the_cursor_is_underlined_on_its_lanes(screen: Screen) -> None:
    app = screen[0]
    await put(screen, cursor_ns=750_000)
    await press(screen, "w", "w", "w")

    def underlined() -> set[int]:
        timeline = app.query_one(Timeline)
        return {
            y
            for y in range(timeline.size.height)
            if any(one.style and one.style.underline for one in timeline.render_line(y))
        }

    assert len(underlined()) >= 3  # the launch, the operator and the Python frame
    await put(screen, cursor_ns=860_000)  # launch spacing
    assert not underlined()


async def test_a_lane_is_hidden_shown_again_and_undone(screen: Screen) -> None:
    app, before = screen[0], lanes_of(screen[0])
    await press(screen, "X")
    assert lanes_of(app) == before[1:] and "is hidden" in said(app)
    assert "1 lane hidden (D shows)" in text_of(app, "header")[0]
    assert text_of(app, "overview")[0].startswith(" overview ")
    await press(screen, "u")
    assert lanes_of(app) == before
    await press(screen, "U", "D", "enter")
    assert lanes_of(app) == before
    await press(screen, "D")
    assert "no lane is hidden" in said(app)


async def test_the_last_lane_cannot_be_hidden(screen: Screen) -> None:
    for _ in range(10):
        await press(screen, "X")
    assert len(lanes_of(screen[0])) == 1 and "last lane stays" in said(screen[0])


async def test_going_to_a_slice_of_a_hidden_lane_shows_it(screen: Screen) -> None:
    await put(screen, cursor_ns=750_000)
    await press(screen, "backspace")
    launching = lane_here(screen[0])
    await press(screen, "X")
    assert launching not in lanes_of(screen[0])
    await put(screen, cursor_ns=750_000, row=0)
    await press(screen, "backspace")
    assert lane_here(screen[0]) == launching


async def test_a_pinned_lane_is_first_and_does_not_scroll(
    trace: Trace, analysis: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    app = app_on(tmp_path, trace, analysis)
    async with app.run_test(size=(120, 18)) as pilot:
        await pilot.pause()
        last = lanes_of(app)[-1]
        await pilot.press(*["pagedown"] * 4, "circumflex_accent")
        await pilot.pause()
        assert lanes_of(app)[0] == last
        await pilot.press(*["j"] * 30)
        await pilot.pause()
        assert last[:6] in text_of(app, "timeline")[0]
        timeline = app.query_one(Timeline)
        assert timeline.top > 0 and timeline.row_under(0) == 0
        assert len(set(timeline.lines_in_sight())) == timeline.size.height
        await pilot.press(*["k"] * 40, "circumflex_accent")
        await pilot.pause()
        assert lanes_of(app)[0] != last


async def test_lanes_move_past_each_other(screen: Screen) -> None:
    app, before = screen[0], lanes_of(screen[0])
    await press(screen, "shift+down")
    assert lanes_of(app) == [before[1], before[0], *before[2:]]
    assert lane_here(app) == before[0]
    await press(screen, "shift+up")
    assert lanes_of(app) == before
    await press(screen, "shift+up")
    assert "first lane" in said(app)


async def test_a_lane_has_as_many_rows_as_it_is_given(screen: Screen) -> None:
    app = screen[0]
    await put(screen, cursor_ns=750_000)
    await press(screen, "backspace")
    assert app.document is not None

    def rows() -> int:
        assert app.document is not None
        here = travel.rows_of(app.document, view_of(app))
        return sum(row.lane == here[view_of(app).row].lane for row in here)

    usual = rows()
    await press(screen, "8")
    assert rows() == usual - 1
    await press(screen, "9")
    assert rows() == usual
    await press(screen, "8", "8", "8", "8", "8", "8")
    assert rows() == 1 and "last row stays" in said(app)
    await press(screen, "0")
    assert rows() == usual


async def test_lanes_are_there_again_as_they_were_left(
    screen: Screen, trace: Trace, analysis: Analysis, tmp_path: Path
) -> None:
    await press(screen, "shift+down", "X", "j", "c")
    left, folds = lanes_of(screen[0]), view_of(screen[0]).folds
    app = app_on(tmp_path, trace, analysis)
    async with app.run_test(size=MEDIUM) as pilot:
        await pilot.pause()
        assert lanes_of(app) == left and view_of(app).folds == folds
        await pilot.press("c", "c")
        await pilot.pause()
        assert view_of(app).order == view_of(screen[0]).order


async def test_a_right_click_on_a_label_lists_what_can_be_done(screen: Screen) -> None:
    app, pilot = screen
    before, timeline = lanes_of(app), app.query_one(Timeline)
    second = next(line for line, row in enumerate(timeline.rows) if row.lane == 1)
    await pilot._post_mouse_events(
        [events.MouseDown], widget=timeline, offset=(2, second), button=3
    )
    await pilot.pause()
    assert isinstance(app.screen, ListSheet)
    await press(screen, "enter")
    assert lanes_of(app) == [before[0], *before[2:]]


async def test_the_wall_clock_is_told_where_it_was_recorded(
    screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await press(screen, "W")
    assert "does not tell its wall clock" in said(screen[0])
    trace = build_trace(base_ns=1_700_000_000_000_000_000)
    app = app_on(tmp_path, trace, build_analysis(trace))
    async with app.run_test(size=MEDIUM) as pilot:
        await pilot.pause()
        await pilot.press("W")
        await pilot.pause()
        assert "22:13:20" in text_of(app, "ruler")[0] and "UTC" in text_of(app, "ruler")[0]
        assert "2023-11-14 22:13:20" in "\n".join(text_of(app, "region"))
        await pilot.press("W")
        await pilot.pause()
        assert "22:13:20" not in text_of(app, "ruler")[0]


async def test_a_panel_takes_the_whole_screen_and_gives_it_back(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "tab", "tab", "tab")
    kernels = app.query_one("#kernels", Panel)
    small = kernels.size
    await press(screen, "vertical_line")
    assert kernels.size.width > small.width and kernels.size.height > 30
    assert not app.query_one("#timeline").display
    await press(screen, "tab")
    assert app.query_one("#region").display and not kernels.display
    await press(screen, "escape")
    assert app.query_one("#timeline").display and kernels.display
    await press(screen, "escape", "vertical_line")
    assert app.query_one("#timeline").size.height > 30 and not app.query_one("#panels").display
    await press(screen, "vertical_line")
    assert kernels.size == small


async def test_a_double_click_on_a_title_does_the_same(screen: Screen) -> None:
    app, pilot = screen
    await pilot.double_click("#kernels", offset=(30, 0))
    await pilot.pause()
    assert not app.query_one("#timeline").display
    await pilot.double_click("#kernels", offset=(30, 0))
    await pilot.pause()
    assert app.query_one("#timeline").display


@pytest.mark.parametrize(("higher", "lower"), [("tilde", "underscore"), ("ctrl+up", "ctrl+down")])
async def test_panels_are_higher_or_lower(screen: Screen, higher: str, lower: str) -> None:
    panels = screen[0].query_one("#panels")
    before = panels.size.height
    await press(screen, lower, lower)
    assert panels.size.height == before - 4
    await press(screen, higher)
    assert panels.size.height == before - 2
    await press(screen, *[lower] * 30)
    assert panels.size.height == 4 and "no lower" in said(screen[0])


@pytest.mark.parametrize(
    ("wider", "narrower"), [("percent_sign", "dollar_sign"), ("ctrl+right", "ctrl+left")]
)
async def test_a_panel_is_wider_or_narrower(screen: Screen, wider: str, narrower: str) -> None:
    await press(screen, wider)
    assert "tab to a panel" in said(screen[0])
    await press(screen, "tab", "tab", "tab")
    kernels = screen[0].query_one("#kernels")
    before = kernels.size.width
    await press(screen, wider)
    assert kernels.size.width > before
    await press(screen, narrower, narrower)
    assert kernels.size.width < before


async def test_dragging_a_title_sizes_the_panels(screen: Screen) -> None:
    app, pilot = screen
    panels = app.query_one("#panels")
    top = panels.region.y
    await pilot.mouse_down("#kernels", offset=(30, 0))
    await pilot._post_mouse_events(
        [events.MouseMove], widget=app.query_one("#kernels"), offset=(30, 3), button=1
    )
    await pilot.pause()
    await pilot.mouse_up("#kernels", offset=(30, 0))
    await pilot.pause()
    assert panels.region.y == top + 3


async def test_help_begins_with_the_part_in_focus(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "question_mark")
    assert isinstance(app.screen, HelpScreen)
    assert app.screen.text.startswith("In focus: timeline") and "launch delay:" in app.screen.text
    await press(screen, "escape", "tab", "tab", "tab", "question_mark")
    assert isinstance(app.screen, HelpScreen)
    assert app.screen.text.startswith("In focus: kernels") and "roof:" in app.screen.text
