"""What a timeline paints anew: the rows that look otherwise, and of those only what has to be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from tests.tui.recording import build_trace
from tests.tui.screen import screen_of
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Lane, Trace
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind
from whichlayer.tui.document import Document, open_document
from whichlayer.tui.palette import HIT
from whichlayer.tui.screen_settings import screen_settings
from whichlayer.tui.view import View
from whichlayer.tui.viewport import Viewport
from whichlayer.tui.widgets.timeline import Timeline

LABEL, CELLS = 10, 60
SIZE = (LABEL + CELLS, 4)
SPAN = 6000


def three_lanes() -> Document:
    """A lane that is busy all of the time, one with a slice in every second column, one empty half."""
    lanes = tuple(Lane(9, i, LaneKind.CPU_THREAD, name=f"t{i}") for i in range(3))
    start = [0, *range(0, SPAN, 200), 0]
    end = [SPAN, *range(100, SPAN + 100, 200), SPAN // 2]
    lane = [0] + [1] * (SPAN // 200) + [2]
    count = len(start)
    none = np.full(count, -1, np.int32)
    trace = build_trace(
        [], lanes, strings=["aten::mm"], start_ns=np.array(start, np.int64),
        end_ns=np.array(end, np.int64), kind=np.full(count, SliceKind.CPU_OP, np.uint8),
        name_id=np.zeros(count, np.int32), category_id=np.zeros(count, np.int32),
        lane_id=np.array(lane, np.int32), correlation=none.astype(np.int64),
        external_id=none.astype(np.int64), detail_id=none, parent=none,
        depth=np.zeros(count, np.int32), launch=none, stray=np.zeros(count, np.bool_),
        events=count, lane_rows=np.searchsorted(lane, range(4)).astype(np.int64),
    )  # fmt: skip
    return open_document(trace)


class Alone(App[None]):
    """A timeline and nothing else."""

    CSS = "Timeline { width: 70; height: 4; }"

    def compose(self) -> ComposeResult:
        yield Timeline()


class Shown:
    """A timeline on the screen, and what it has painted since it was last asked."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self.document = three_lanes()
        timeline.label_cells = LABEL
        port = Viewport.over(0, SPAN, CELLS).to(0, SPAN // 2)
        self.view = View(port, cursor_ns=port.centre(30), row=1)
        timeline.show(self.document, self.view)
        self.before = self.strips()
        self.regions()

    def strips(self) -> list[Strip]:
        return self.timeline.render_lines(self.timeline.size.region)

    def regions(self) -> list[Region]:
        """What is to be painted."""
        return sorted(self.timeline._exchange_repaint_regions())

    def look(self, view: View) -> tuple[list[int], list[Region]]:
        """Look at something else: the lines that were made anew, and what was painted."""
        self.timeline.show(self.document, view)
        regions, after = self.regions(), self.strips()
        new = [y for y, strip in enumerate(after) if strip is not self.before[y]]
        self.view, self.before = view, after
        return new, regions


async def test_a_move_of_the_cursor_makes_its_row_anew_and_no_other() -> None:
    async with Alone().run_test(size=SIZE) as pilot:
        shown = Shown(pilot.app.query_one(Timeline))
        line = shown.view.row
        new, regions = shown.look(shown.view.cursor_moved(1))
        assert new == [line]
        assert [(region.y, region.height) for region in regions] == [(line, 1)]
        new, regions = shown.look(replace(shown.view, row=2))
        assert new == [1, 2] and {region.y for region in regions} == {1, 2}


async def test_a_longer_selection_paints_only_its_new_columns_of_rows_that_show_it() -> None:
    async with Alone().run_test(size=SIZE) as pilot:
        shown = Shown(pilot.app.query_one(Timeline))
        port = shown.view.port
        names = [lane.lane.name for lane in shown.document.lanes]
        solid = names.index("t0")
        first = replace(shown.view, selection=(port.edge(10), port.edge(14)))
        shown.look(first)
        new, regions = shown.look(replace(first, selection=(port.edge(10), port.edge(20))))
        assert solid not in new and len(new) == 1, "a bar's body hides the ground it lies on"
        assert {(r.x, r.width) for r in regions} == {(LABEL + 14, 6)}
        assert {r.y for r in regions} == set(new)


async def test_a_row_that_looks_the_same_keeps_its_strip_when_the_view_moves() -> None:
    async with Alone().run_test(size=SIZE) as pilot:
        shown = Shown(pilot.app.query_one(Timeline))
        names = [lane.lane.name for lane in shown.document.lanes]
        row = names.index("t0")
        shown.look(replace(shown.view, row=(row + 1) % 3))
        new, _ = shown.look(shown.view.panned(1))
        assert row not in new and names.index("t1") in new


async def test_what_lies_below_the_last_row_is_not_painted_again() -> None:
    async with Alone().run_test(size=SIZE) as pilot:
        shown = Shown(pilot.app.query_one(Timeline))
        _, regions = shown.look(shown.view.zoomed(1))
        assert regions and max(region.bottom for region in regions) == 3


async def test_a_selection_looks_the_same_however_it_came_about() -> None:
    """Painting only what differs ends where painting everything would."""
    async with Alone().run_test(size=SIZE) as pilot:
        shown = Shown(pilot.app.query_one(Timeline))
        port = shown.view.port
        rng = np.random.default_rng(5)
        for _ in range(30):
            low, high = sorted(rng.integers(0, CELLS, 2).tolist())
            chosen = (port.edge(low), port.edge(high)) if high > low else None
            view = replace(shown.view, selection=chosen, row=int(rng.integers(3)))
            shown.look(view.pointed(port.centre(int(rng.integers(CELLS))), view.row))
            stepwise = [list(strip) for strip in shown.before]
            shown.timeline.document_changed()
            assert [list(strip) for strip in shown.strips()] == stepwise


async def test_calls_are_lit_on_every_row_that_has_them() -> None:
    async with Alone().run_test(size=SIZE) as pilot:
        shown = Shown(pilot.app.query_one(Timeline))
        trace = shown.document.trace
        plain = [list(strip) for strip in shown.before]
        shown.timeline.light_calls(np.flatnonzero(trace.lane_id != 1).astype(np.int32))
        hit = shown.timeline.palette.timeline[HIT]
        names = [lane.lane.name for lane in shown.document.lanes]
        for name, strip in zip(names, shown.strips(), strict=False):
            assert (hit in {segment.style for segment in strip}) == (name != "t1")
        shown.timeline.light_calls(None)
        assert [list(strip) for strip in shown.strips()] == plain


@pytest.fixture
def only_ascii() -> Iterator[None]:
    screen_settings.ascii_only = True
    yield
    screen_settings.ascii_only = False


def written(strips: list[Strip]) -> list[list[Segment]]:
    return [[Segment(text, style) for text, style, _ in strip] for strip in strips]


async def check_lines(trace: Trace, analysis: Analysis) -> None:
    """The timeline's own way to its lines gives what Textual's gives."""
    async with screen_of(trace, analysis) as (app, pilot):
        await pilot.press("v", "l", "l")
        await pilot.pause()
        timeline = app.query_one(Timeline)
        for region in (timeline.size.region, Region(7, 1, 40, 3)):
            ours = timeline.render_lines(region)
            timeline._styles_cache.clear()
            assert written(ours) == written(Widget.render_lines(timeline, region))


async def test_lines_are_those_that_textual_would_make(trace: Trace, analysis: Analysis) -> None:
    await check_lines(trace, analysis)


async def test_lines_without_colours_are_those_that_textual_would_make(
    trace: Trace, analysis: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    await check_lines(trace, analysis)


async def test_lines_in_ascii_are_those_that_textual_would_make(
    trace: Trace, analysis: Analysis, only_ascii: None
) -> None:
    await check_lines(trace, analysis)
    async with screen_of(trace, analysis) as (app, _):
        timeline = app.query_one(Timeline)
        assert all(strip.text.isascii() for strip in timeline.render_lines(timeline.size.region))
