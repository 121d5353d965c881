"""Queue and launch delay as lanes: there when asked for, exact, and worked out when drawn."""

from __future__ import annotations

import numpy as np
import pytest

from tests.tui.screen import SMALL, screen_of, text_of, view_of
from whichlayer.analysis.launches.view import launch_views
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui import travel
from whichlayer.tui.document import Document
from whichlayer.tui.launch_lanes import (
    LaunchLane,
    shows_launches,
    with_launches,
    without_launches,
)


def lane_of(document: Document, analysis: Analysis) -> LaunchLane:
    shown = with_launches(document, analysis)
    (lane,) = (lane for lane in shown.lanes if isinstance(lane, LaunchLane))
    return lane


@pytest.fixture
def analysed(document: Document) -> Analysis:
    assert document.analysis is not None
    return document.analysis


def test_the_lane_is_below_the_lanes_of_its_device_and_goes_away(
    document: Document, analysed: Analysis
) -> None:
    assert not shows_launches(document)
    shown = with_launches(document, analysed)
    assert shows_launches(shown)
    place = next(i for i, lane in enumerate(shown.lanes) if isinstance(lane, LaunchLane))
    number = analysed.devices[0].number
    assert shown.lanes[place - 1].device == number
    assert all(lane.device != number for lane in shown.lanes[place + 1 :])
    assert without_launches(shown).lanes == document.lanes


def test_nothing_is_worked_out_before_a_row_is_drawn(
    document: Document, analysed: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("worked out too early")

    with monkeypatch.context() as patch:
        patch.setattr("whichlayer.tui.launch_lanes.launch_calls", fail)
        lane = lane_of(document, analysed)
        assert lane.row_title(0, True) == "queue"
        assert lane.row_title(1, False) == "delay"
    assert len(lane.row(0)) > 0


def test_rows_say_what_the_report_says(document: Document, analysed: Analysis) -> None:
    lane = lane_of(document, analysed)
    (view,) = launch_views(analysed)
    queue, delay = lane.row(0), lane.row(1)
    assert view.delays.most_ns is not None
    assert delay.highest * 1000 >= view.delays.most_ns
    assert queue.highest >= (view.depth_most or 0)
    assert (np.diff(queue.start_ns) > 0).all()
    assert queue.value[-1] == 0


def test_labels_give_the_unit_of_the_scale_as_there_is_room(
    document: Document, analysed: Analysis
) -> None:
    lane = lane_of(document, analysed)
    depth = f"{lane.row(0).top:.0f}"
    notes = [lane.row_note(0, room) for room in (0, len(depth), 20)]
    assert notes == ["", depth, f"{depth} launch{'es' if depth != '1' else ''}"]
    number, unit = lane.row_note(1, 20).split(" ")
    assert unit in ("ns", "µs", "ms", "s")
    narrow = lane.row_note(1, 5)
    assert narrow.endswith(unit) and abs(float(narrow.removesuffix(unit)) - float(number)) <= 0.5


async def test_rows_of_the_gpu_stay_in_sight_when_it_comes(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, SMALL) as (app, pilot):
        await pilot.press("j", "j", "j")
        await pilot.pause()
        first = text_of(app, "timeline")[0].split()[0]
        await pilot.press("Q")
        await pilot.pause()
        assert text_of(app, "timeline")[0].split()[0] == first


async def test_its_key_shows_and_hides_it_and_the_view_stays(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis) as (app, pilot):
        await pilot.press("w", "w", "j", "j", "j")
        await pilot.pause()
        before = view_of(app)
        assert app.document is not None
        lane = app.document.lanes[travel.rows_of(app.document, before)[before.row].lane]
        await pilot.press("Q")
        await pilot.pause()
        shown = view_of(app)
        assert any(line.startswith(" queue") for line in text_of(app, "timeline"))
        assert (shown.port.start_ns, shown.port.end_ns) == (
            before.port.start_ns,
            before.port.end_ns,
        )
        here = travel.rows_of(app.document, shown)[shown.row]
        assert app.document.lanes[here.lane] is lane
        await pilot.press("Q")
        await pilot.pause()
        assert not any(line.startswith(" queue") for line in text_of(app, "timeline"))
        again = view_of(app)
        here = travel.rows_of(app.document, again)[again.row]
        assert app.document.lanes[here.lane] is lane
