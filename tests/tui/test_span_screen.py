"""Marks, measures and spans, by key and mouse, on the recording of ``recording.py`` at 120x40."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from itertools import pairwise

import pytest
import pytest_asyncio
from textual.pilot import Pilot

from tests.tui.screen import MEDIUM, ReadyLoader, text_of, view_of
from whichlayer.analysis import analyse
from whichlayer.analysis.results import Analysis, Options
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.widgets.footer import Footer
from whichlayer.tui.widgets.region import RegionPane
from whichlayer.tui.widgets.timeline import Timeline

US = 1000
Screen = tuple[WhichlayerApp, Pilot[int]]


class Later:
    """Runs what is to run beside the screen when the test says so."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []

    def __call__(self, run: Callable[[], None]) -> None:
        self.waiting.append(run)

    def run(self) -> None:
        waiting, self.waiting = self.waiting, []
        for one in waiting:
            one()


class Asked:
    """Analyses for real, and remembers of which spans."""

    def __init__(self) -> None:
        self.spans: list[tuple[int, int] | None] = []

    def __call__(self, trace: Trace, options: Options) -> Analysis:
        self.spans.append(options.span_ns)
        return analyse(trace, options)


@pytest.fixture
def asked() -> Asked:
    return Asked()


@pytest_asyncio.fixture
async def screen(trace: Trace, asked: Asked) -> AsyncIterator[Screen]:
    app = WhichlayerApp(ReadyLoader("a.json", Options(), lambda p, progress: trace, asked))
    app.span_pause_s = 0.0
    app.span_start = Later()
    async with app.run_test(size=MEDIUM) as pilot:
        await pilot.pause()
        await pilot.press("f", "f", "home")
        await pilot.pause()
        yield app, pilot


async def press(screen: Screen, *keys: str) -> None:
    await screen[1].press(*keys)
    await screen[1].pause()


async def analysed(screen: Screen) -> None:
    app, pilot = screen
    await pilot.pause()
    assert isinstance(app.span_start, Later)
    app.span_start.run()
    await pilot.pause()


def said(app: WhichlayerApp) -> str:
    return app.screen_stack[0].query_one(Footer).said


async def test_two_marks_measure_between_exact_edges(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "full_stop", "home")
    app.look_at(view_of(app).at(297 * US))
    await press(screen, "m")
    assert view_of(app).anchor_ns == 300 * US
    assert said(app).startswith("mark at 300.0 µs")
    app.look_at(view_of(app).at(852 * US))
    await press(screen, "m")
    assert view_of(app).selection == (300 * US, 850 * US)
    assert said(app).startswith("550.0 µs · 3 kernels · busy 81.8 % · idle 100.0 µs")


async def test_every_panel_speaks_of_the_span_and_escape_goes_back(
    screen: Screen, asked: Asked
) -> None:
    app = screen[0]
    whole = {name: text_of(app, name) for name in ("verdict", "kernels", "gaps", "findings")}
    await press(screen, "V")  # the gap that the first step begins with
    span = view_of(app).selection
    assert span == (0, 300 * US)
    assert "span 300.0 µs from 0" in text_of(app, "header")[0]
    assert text_of(app, "header")[0].rstrip().endswith("analysing …"), "not ready meanwhile"
    assert text_of(app, "verdict")[0].strip() == "span: analysing …", "not what the window is"
    await analysed(screen)
    assert asked.spans == [None, span]
    assert "span 300.0 µs from 0 ·" in text_of(app, "header")[0]
    assert text_of(app, "header")[0].rstrip().endswith("ready")
    assert "of the span" in text_of(app, "verdict")[0]
    assert "no kernels" in text_of(app, "kernels")[1]
    assert text_of(app, "gaps")[0].startswith("part 1")
    assert "300.0 µs selected" in text_of(app, "region")[0]
    assert "0 kernels · busy 0.0 % · idle" in text_of(app, "region")[1]
    await press(screen, "escape")
    assert view_of(app).selection is None
    assert {name: text_of(app, name) for name in whole} == whole
    assert "span" not in text_of(app, "header")[0]


async def test_a_span_that_was_analysed_is_known_again_at_once(
    screen: Screen, asked: Asked
) -> None:
    app = screen[0]
    await press(screen, "V")
    await analysed(screen)
    await press(screen, "escape", "V")
    assert "of the span" in text_of(app, "verdict")[0]
    assert len(asked.spans) == 2


async def test_only_the_last_of_several_selections_is_analysed(
    screen: Screen, asked: Asked
) -> None:
    app = screen[0]
    view = view_of(app)
    for end in (100, 200, 400):
        app.look_at(view.selected(0, end * US))
        await screen[1].pause()
    await analysed(screen)
    assert asked.spans == [None, (0, 400 * US)]


async def test_a_span_that_cannot_be_analysed_is_told_and_the_whole_stays(
    trace: Trace, analysis: Analysis
) -> None:
    def refuse(trace: Trace, options: Options) -> Analysis:
        if options.span_ns is not None:
            raise ValueError("it was not read\nthere")
        return analysis

    app = WhichlayerApp(ReadyLoader("a.json", Options(), lambda p, progress: trace, refuse))
    app.span_pause_s = 0.0
    app.span_start = Later()
    async with app.run_test(size=MEDIUM) as pilot:
        await pilot.pause()
        before = text_of(app, "verdict")
        app.look_at(view_of(app).selected(0, 300 * US))
        await analysed((app, pilot))
        assert said(app) == "the span is not analysed: it was not read there"
        assert text_of(app, "verdict") == before
        assert "analysing" not in text_of(app, "header")[0]


async def test_a_drag_selects_and_is_analysed_when_it_ends(screen: Screen, asked: Asked) -> None:
    app, pilot = screen
    port = view_of(app).port
    start, end = 16 + port.cell_of(300 * US), 16 + port.cell_of(900 * US)
    await pilot.mouse_down("#timeline", offset=(start, 0))
    await pilot.hover("#timeline", offset=(end, 0))
    await pilot.mouse_up("#timeline", offset=(end, 0))
    await analysed(screen)
    span = view_of(app).selection
    assert span is not None and asked.spans[-1] == span
    assert "of the span" in text_of(app, "verdict")[0]
    assert said(app).startswith("6")


async def test_the_selection_key_measures_at_its_end(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "v", "L", "L", "v")
    assert view_of(app).selection is not None
    assert "kernel" in said(app) and "busy" in said(app)


async def test_selecting_a_slice_again_selects_what_is_around_it(screen: Screen) -> None:
    app = screen[0]
    await press(screen, "slash")
    app.find_start = lambda run: run()
    await press(screen, *"mm", "enter")
    await press(screen, "V")
    assert view_of(app).selection == (292 * US, 310 * US)
    await press(screen, "V")
    assert view_of(app).selection == (1 * US, 980 * US)
    await press(screen, "V")
    assert view_of(app).selection == (0, 990 * US)
    await press(screen, "V")
    assert view_of(app).selection == (0, 2990 * US), "the window"
    await press(screen, "V")
    assert view_of(app).selection == (0, 3000 * US)
    await press(screen, "V")
    assert said(app) == "nothing wider to select: esc clears the selection"


async def test_selecting_a_gap_again_selects_its_step_then_the_window(screen: Screen) -> None:
    app = screen[0]
    app.look_at(replace(view_of(app), cursor_ns=650 * US))
    await screen[1].pause()
    spans = []
    for _ in range(5):
        await press(screen, "V")
        span = view_of(app).selection
        assert span is not None
        spans.append(span)
    assert spans[0] == (600 * US, 700 * US)
    for inner, outer in pairwise(dict.fromkeys(spans)):
        assert outer[0] <= inner[0] and inner[1] <= outer[1] and inner != outer
    assert spans[1:4] == [(0, 990 * US), (0, 2990 * US), (0, 3000 * US)]
    assert said(app) == "nothing wider to select: esc clears the selection"
    await press(screen, "escape")
    last = len(app.query_one(Timeline).rows) - 1  # a thread that does nothing while the GPU works
    app.look_at(replace(view_of(app), cursor_ns=400 * US, row=last))
    await press(screen, "V")
    assert view_of(app).selection is None and said(app) == "nothing here to select"


async def test_the_region_pane_starts_at_its_title_after_the_selection_is_cleared(
    screen: Screen,
) -> None:
    app, pilot = screen
    await pilot.resize_terminal(40, 18)
    app.look_at(replace(view_of(app).selected(100 * US, 1_300 * US), cursor_ns=650 * US))
    await pilot.pause()
    await analysed(screen)
    pane = app.query_one(RegionPane)
    while not pane.top:
        await press(screen, "r")
    await press(screen, "escape")
    assert pane.top == 0
    title = pane.said[0].text
    assert title and title.split()[0] in text_of(app, "region")[0]


@pytest.mark.parametrize("key", ["right_square_bracket", "right_curly_bracket"])
async def test_a_jump_to_a_gap_outside_the_selection_clears_it_and_says_so(
    screen: Screen, key: str
) -> None:
    app = screen[0]
    span = (310 * US, 320 * US)  # within a kernel
    app.look_at(replace(view_of(app).selected(*span), cursor_ns=315 * US))
    await screen[1].pause()
    await analysed(screen)
    assert "selected" in text_of(app, "region")[0]
    await press(screen, key)
    assert view_of(app).selection is None and not span[0] <= view_of(app).cursor_ns < span[1]
    assert said(app).endswith("selection cleared: z brings it back")
    assert "selected" not in text_of(app, "region")[0]
    await press(screen, "z")
    assert view_of(app).selection == span and view_of(app).cursor_ns == 315 * US


@pytest.mark.parametrize("key", ["right_square_bracket", "right_curly_bracket"])
async def test_a_jump_to_a_gap_inside_the_selection_keeps_it(screen: Screen, key: str) -> None:
    app = screen[0]
    app.look_at(replace(view_of(app).selected(0, 3_000 * US), cursor_ns=315 * US))
    await screen[1].pause()
    await press(screen, key)
    assert view_of(app).selection == (0, 3_000 * US)
    assert view_of(app).cursor_ns != 315 * US and "cleared" not in said(app)


async def test_the_roofline_is_of_the_span(screen: Screen) -> None:
    app = screen[0]
    app.look_at(view_of(app).selected(300 * US, 850 * US))
    await analysed(screen)
    await press(screen, "o")
    assert len(app.screen_stack) == 2
    await press(screen, "escape")


async def test_no_panel_calls_a_span_the_window(screen: Screen) -> None:
    app, pilot = screen
    app.look_at(view_of(app).selected(100 * US, 1_300 * US))
    await pilot.pause()
    await analysed(screen)
    panels = ("verdict", "kernels", "gaps", "findings", "region")
    said = {name: " ".join(" ".join(text_of(app, name)).split()) for name in panels}
    assert "of the span" in said["region"]
    assert "of the span" in said["verdict"]
    assert not [name for name, text in said.items() if "of the window" in text]


async def test_findings_are_told_to_be_of_the_window_until_those_of_the_span_are_there(
    screen: Screen,
) -> None:
    app, pilot = screen
    await press(screen, "tab", "tab")
    heading = text_of(app, "findings")[0]
    app.look_at(view_of(app).selected(100 * US, 1_300 * US))
    await pilot.pause()
    assert "of the whole window" in text_of(app, "findings")[0] != heading
    await analysed(screen)
    assert "whole" not in text_of(app, "findings")[0]
    app.look_at(replace(view_of(app), selection=None))
    await pilot.pause()
    assert text_of(app, "findings")[0] == heading
