"""Instants on the timeline: a tick for each, named in the region pane, never a slice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tui.recording import build_trace
from tests.tui.screen import screen_of, text_of
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Instants, Trace
from whichlayer.analysis.trace.kinds import GPU_WORK, LaneKind, SliceKind
from whichlayer.tui.carry import opened
from whichlayer.tui.describe_mark import describe_mark
from whichlayer.tui.document import Document, open_document
from whichlayer.tui.instant_lanes import FIRST_ROW, InstantLane
from whichlayer.tui.travel import rows_of, settled, slice_at, to_slice
from whichlayer.tui.view import View


def marked(trace: Trace, times: list[tuple[int, int, str, float]]) -> Trace:
    """The trace with instants: (time, lane, name, value) each, in order."""
    strings = [*trace.strings, *(name for _, _, name, _ in times)]
    return replace(
        trace,
        strings=strings,
        instants=Instants(
            np.array([time for time, *_ in times], np.int64),
            np.array([lane for _, lane, *_ in times], np.int32),
            np.arange(len(trace.strings), len(strings), dtype=np.int32),
            np.array([value for *_, value in times], np.float64),
        ),
    )


def instants_of(document: Document) -> list[InstantLane]:
    return [lane for lane in document.lanes if isinstance(lane, InstantLane)]


NAN = float("nan")


@pytest.fixture
def document(trace: Trace) -> Document:
    host = next(i for i, lane in enumerate(trace.lanes) if lane.kind == LaneKind.CPU_THREAD)
    return open_document(
        marked(
            trace,
            [
                (10, host, "first [bold]\x1b[31m", NAN),
                (500_000, -1, "for all", NAN),
                (1_000_000, host, "[memory]", 4096.0),
                (1_000_000, host, "again", NAN),
            ],
        )
    )


def on(document: Document, lane: InstantLane, time_ns: int) -> list[str]:
    """What the region pane says with the cursor on an instant's row at a time."""
    view = opened(document, 100)
    view = view.pointed(time_ns, 0)
    rows = rows_of(document, view)
    line = next(i for i, row in enumerate(rows) if document.lanes[row.lane] is lane)
    return [line.text for line in describe_mark(document, view.pointed(time_ns, line))]


def test_every_instant_is_in_a_row_of_its_thread(document: Document) -> None:
    lanes = instants_of(document)
    assert sorted(len(lane.row(0)) for lane in lanes) == [1, 3]
    assert all(lane.title.startswith("instants") for lane in lanes)
    assert document.lanes[-len(lanes) :] == tuple(lanes), "below what explains gaps"


def test_a_trace_without_instants_has_no_such_lane(trace: Trace) -> None:
    assert not instants_of(open_document(marked(trace, [])))


def test_of_another_program_they_lie_below_their_thread() -> None:
    trace = build_trace()
    other = tuple(replace(lane, kind=LaneKind.OTHER) for lane in trace.lanes)
    kind = np.full(len(trace), SliceKind.OTHER, np.uint8)
    assert not np.isin(kind, GPU_WORK).any()
    plain = replace(trace, lanes=other, kind=kind)
    document = open_document(marked(plain, [(10, lane, "i", NAN) for lane in range(len(other))]))
    for before, lane in zip(document.lanes, document.lanes[1:], strict=False):
        if isinstance(lane, InstantLane):
            assert before.lane is lane.lane and lane.title == "  instants"


def test_each_shows_as_a_tick(document: Document) -> None:
    (lane,) = (one for one in instants_of(document) if len(one.row(0)) == 3)
    cells = lane.row(0).cells(np.array([0, 11, 999_999, 1_000_001], np.int64))
    assert cells.count.tolist() == [1, 0, 2] and (cells.level > 0).tolist() == [True, False, True]


def test_the_pane_names_the_instant_at_the_cursor(document: Document) -> None:
    (lane,) = (one for one in instants_of(document) if len(one.row(0)) == 3)
    said = on(document, lane, 10)
    assert said[0].startswith("first [bold]") and "\x1b" not in said[0]
    said = on(document, lane, 1_000_000)
    assert said[0] == "[memory]" and any("4 096 bytes" in line for line in said)
    assert any("2 instants" in line for line in said)
    assert on(document, lane, 400_000)[1] == "3 instants"


def test_no_instant_is_taken_for_a_slice(document: Document) -> None:
    (lane,) = (one for one in instants_of(document) if len(one.row(0)) == 3)
    assert set(lane.row(0).slices.tolist()) <= {FIRST_ROW - i for i in range(4)}
    assert all(lane.depth_of(row) < 0 for row in range(len(document.trace)))
    view = opened(document, 100)
    rows = rows_of(document, view)
    line = next(i for i, row in enumerate(rows) if document.lanes[row.lane] is lane)
    assert slice_at(document, rows, view.pointed(10, line)) < 0


def test_keys_go_from_one_to_the_next(document: Document) -> None:
    (lane,) = (one for one in instants_of(document) if len(one.row(0)) == 3)
    view = opened(document, 100)
    rows = rows_of(document, view)
    line = next(i for i, row in enumerate(rows) if document.lanes[row.lane] is lane)
    there = to_slice(document, rows, view.pointed(10, line), 1)
    assert there is not None and there.cursor_ns == 1_000_000
    assert to_slice(document, rows, there, 1) is None


async def test_the_screen_shows_them(trace: Trace, analysis: Analysis) -> None:
    traced = marked(trace, [(1_000_000, -1, "here", NAN)])
    async with screen_of(traced, replace(analysis, trace=traced)) as (app, _):
        (line,) = (text for text in text_of(app, "timeline") if "instants" in text)
        assert line.replace("instants", "").strip()


def test_marks_have_a_row_only_while_one_of_them_is_in_sight(document: Document) -> None:
    view = settled(document, replace(opened(document, 100), lines=40))

    def shown(at: View) -> list[str]:
        lanes = [document.lanes[row.lane] for row in rows_of(document, at)]
        return [lane.title for lane in lanes if lane.group == "instant"]

    both = shown(view)
    assert both == ["instants", "instants main"]
    beside = settled(document, view.showing(501_000, 600_000))
    assert shown(beside) == []
    for cells in range(1, 60):  # the row comes as soon as the mark does
        beside = settled(document, beside.panned(-1))
        inside = beside.port.start_ns <= 500_000 < beside.port.end_ns
        assert ("instants" in shown(beside)) == inside or not inside, cells
    assert "instants" in shown(beside)
