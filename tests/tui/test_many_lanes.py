"""With very many lanes, opening and every key cost what is in sight, not what there is."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from tests.tui.recording import Slice, build_trace
from whichlayer.analysis.trace.columns import Lane, Trace
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind
from whichlayer.tui import listed_rows, travel
from whichlayer.tui.carry import opened
from whichlayer.tui.dealt_rows import shown_rows
from whichlayer.tui.document import Document, open_document
from whichlayer.tui.lanes import Fold, ShownLane
from whichlayer.tui.raster import Row


@cache
def recorded(lanes: int) -> Trace:
    places = tuple(Lane(1, tid, LaneKind.CPU_THREAD, name=f"t{tid:05}") for tid in range(lanes))
    slices: list[Slice] = []
    for tid in range(lanes):
        slices.append((tid, SliceKind.CPU_OP, "aten::mm", 10 * tid, 10 * tid + 9, 0, -1))
        slices.append((tid, SliceKind.CPU_OP, "aten::mm", 10 * tid, 10 * tid + 5, 1, -1))
    return build_trace(slices, places)


def crowd(lanes: int) -> Document:
    return open_document(recorded(lanes))


class Work:
    """Counts rows that are prepared and lists that are made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rows = self.lists = 0
        plain_row, plain_list = ShownLane.row, shown_rows

        def row(lane: ShownLane, depth: int) -> Row:
            self.rows += 1
            return plain_row(lane, depth)

        def listed(*args: object) -> object:
            self.lists += 1
            return plain_list(*args)  # type: ignore[arg-type]

        monkeypatch.setattr(ShownLane, "row", row)
        monkeypatch.setattr(listed_rows, "shown_rows", listed)


def test_opening_prepares_no_lane_that_nobody_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    work = Work(monkeypatch)
    document = crowd(3_000)
    for lane in document.lanes:
        lane.used_rows(document.low_ns, document.high_ns)
    assert len(document.lanes) == 3_000 and not work.rows


def test_keys_list_the_rows_once_and_look_into_no_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    document = crowd(3_000)
    work = Work(monkeypatch)
    view = travel.settled(document, replace(opened(document, 80), lines=30))
    for step in range(1, 20):
        view = travel.on_row(document, travel.settled(document, view.zoomed(1)), step)
        assert len(travel.rows_of(document, view)) == 6_000
    assert work.lists == 1 and not work.rows


def test_a_fold_lists_the_rows_anew() -> None:
    document = crowd(3_000)
    view = travel.settled(document, replace(opened(document, 80), lines=30))
    folded = replace(view, folds={5: Fold.LINE})
    assert len(travel.rows_of(document, folded)) == len(travel.rows_of(document, view)) - 1
    assert travel.rows_of(document, folded) == shown_rows(document.lanes, {5: Fold.LINE}, 30)


def test_a_slice_is_gone_to_without_a_search_of_every_lane(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    document = crowd(3_000)
    searched: list[ShownLane] = []
    plain = ShownLane.depth_of

    def depth_of(lane: ShownLane, slice_row: int) -> int:
        searched.append(lane)
        return plain(lane, slice_row)

    monkeypatch.setattr(ShownLane, "depth_of", depth_of)
    view = travel.to_slice_row(document, opened(document, 80), 5_001)
    here = travel.rows_of(document, view)[view.row]
    row = document.lanes[here.lane].row(here.depth)
    assert row.slices.tolist() == [5_001] and len(searched) == 1


def test_few_lanes_still_get_rows_by_what_is_in_sight() -> None:
    document = crowd(40)
    view = replace(opened(document, 80), lines=30)
    near = travel.settled(document, view.showing(0, 80))
    assert {
        lane.lane.tid for lane, used in zip(document.lanes, near.used, strict=True) if used
    } == {*range(12)}
