from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.tui.carry import lane_keys
from whichlayer.tui.dealt_rows import shown_rows
from whichlayer.tui.document import Document
from whichlayer.tui.lane_order import USUAL, LaneOrder
from whichlayer.tui.lanes import Fold
from whichlayer.tui.view_state import ViewState, read_state, state_path, write_state

COUNT = 6
ACTS = st.lists(
    st.tuples(st.sampled_from(["hide", "pin", "up", "down", "show"]), st.integers(0, COUNT - 1))
)


def after(acts: list[tuple[str, int]]) -> LaneOrder:
    order = USUAL
    for act, lane in acts:
        if act == "hide":
            order = order.hiding(lane)
        elif act == "pin":
            order = order.pinning(lane)
        elif act == "show":
            order = order.showing(lane)
        else:
            order = order.moving(lane, 1 if act == "down" else -1, COUNT)
    return order


@given(ACTS)
def test_every_lane_that_is_not_hidden_is_listed_once(acts: list[tuple[str, int]]) -> None:
    order = after(acts)
    listed = order.listed(COUNT)
    assert sorted(listed) == sorted(set(range(COUNT)) - order.hidden)
    pinned = [lane for lane in order.pinned if lane not in order.hidden]
    assert listed[: len(pinned)] == pinned


@given(ACTS)
def test_moving_down_and_up_again_changes_nothing(acts: list[tuple[str, int]]) -> None:
    order = after(acts)
    for lane in order.listed(COUNT):
        moved = order.moving(lane, 1, COUNT)
        if moved != order:
            assert moved.moving(lane, -1, COUNT).listed(COUNT) == order.listed(COUNT)


@given(ACTS, st.permutations(range(COUNT)))
def test_other_numbers_of_the_lanes_keep_the_order(
    acts: list[tuple[str, int]], numbers: list[int]
) -> None:
    order = after(acts)
    if not order.moved:  # the usual order is that of the numbers
        order = LaneOrder(order.hidden, order.pinned, tuple(range(COUNT)), order.rows)
    carried = order.carried(numbers, COUNT)
    assert carried.listed(COUNT) == [numbers[lane] for lane in order.listed(COUNT)]


def test_a_new_lane_appears_where_it_usually_would() -> None:
    order = LaneOrder(moved=(2, 0, 1))
    assert order.carried((0, 1, 3), 4).moved == (3, 0, 1, 2)


def test_lanes_show_the_rows_that_they_are_given(document: Document) -> None:
    count = len(document.lanes)
    deep = max(range(count), key=lambda lane: document.lanes[lane].depth)
    for rows in range(1, document.lanes[deep].depth + 1):
        listed = shown_rows(document.lanes, {}, 40, (), USUAL.sized(deep, rows))
        assert sum(row.lane == deep for row in listed) == rows
    hidden = shown_rows(document.lanes, {}, 40, (1,) * count, USUAL.hiding(deep))
    assert deep not in {row.lane for row in hidden}


def test_a_view_is_read_as_it_was_left(
    document: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path, keys = state_path("runs/step.json"), lane_keys(document.lanes)
    assert path is not None and read_state(path, keys) is None
    order = USUAL.hiding(1).pinning(3).moving(2, -1, len(keys)).sized(2, 4)
    write_state(path, keys, ViewState(order, {0: Fold.ALL}, True))
    assert path.stat().st_mode & 0o077 == 0
    found = read_state(path, keys)
    assert found == ViewState(order, {0: Fold.ALL}, True)
    write_state(path, keys, ViewState())
    assert not path.exists()


@pytest.mark.parametrize(
    "body",
    ["", "[]", "{", '{"whichlayer_view": 2}', '{"whichlayer_view": 1, "hidden": 3, "rows": [1]}',
     '{"whichlayer_view": 1, "pinned": [[1], null, "x"], "folds": {"x": 1e9}, "clock": 1}'],
)  # fmt: skip
def test_a_damaged_state_does_no_harm(document: Document, tmp_path: Path, body: str) -> None:
    path = tmp_path / "state.json"
    path.write_text(body)
    found = read_state(path, lane_keys(document.lanes))
    assert found is None or found == ViewState(USUAL, {}, False)


def test_a_state_that_hides_every_lane_is_not_believed(document: Document, tmp_path: Path) -> None:
    path, keys = tmp_path / "state.json", lane_keys(document.lanes)
    write_state(path, keys, ViewState(LaneOrder(frozenset(range(len(keys))))))
    found = read_state(path, keys)
    assert found is not None and found.order == USUAL
