"""Lanes as they are written on the command line, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.tui.lane_order import USUAL, LaneOrder
from whichlayer.tui.lane_spec import (
    LaneEntry,
    LaneName,
    LaneSpecError,
    lane_names,
    parse_counts,
    parse_lanes,
    parse_name,
    place_of,
    places_of,
)
from whichlayer.tui.lanes import Fold
from whichlayer.tui.lanes_as_text import arranged_as, lanes_as_text

TITLES = st.text(st.sampled_from("ab ,=#^-*\\/'\"~§1 "), max_size=6)


def text_of(order: LaneOrder, folds: dict[int, Fold], names: list[LaneName]) -> str:
    return ",".join(map(str, lanes_as_text(order, folds, names)))


@given(st.lists(TITLES, max_size=8))
def test_every_lane_has_a_name_of_its_own_that_is_read_back(titles: list[str]) -> None:
    names = lane_names(titles)
    places = places_of(names)
    assert len(places) == len(names)
    assert [place_of(parse_name(str(name)), places) for name in names] == list(range(len(names)))


@st.composite
def arrangements(draw: st.DrawFn) -> tuple[list[str], LaneOrder, dict[int, Fold]]:
    titles = draw(st.lists(TITLES, min_size=1, max_size=9))
    count = len(titles)
    lanes = st.integers(0, count - 1)
    hidden = draw(st.frozensets(lanes, max_size=count - 1))
    pinned = draw(st.lists(lanes, unique=True, max_size=3))
    moved = draw(st.permutations(range(count)) | st.just([]))
    rows = draw(st.dictionaries(lanes, st.integers(1, 999), max_size=2))
    folds = draw(st.dictionaries(lanes, st.sampled_from(Fold), max_size=3))
    order = LaneOrder(
        hidden,
        tuple(lane for lane in pinned if lane not in hidden),
        tuple(moved) if list(moved) != list(range(count)) else (),
        tuple(rows.items()),
    )
    return titles, order, folds


@given(arrangements())
def test_arranged_lanes_are_written_and_read_back(
    arranged: tuple[list[str], LaneOrder, dict[int, Fold]],
) -> None:
    titles, order, folds = arranged
    names = lane_names(titles)
    written = text_of(order, folds, names)
    told = {lane: fold for lane, fold in folds.items() if fold is not Fold.SOME}
    if not written:
        assert (order, told) == (USUAL, {})
        return
    again = arranged_as(parse_lanes(written), names)
    assert again.missing == ()
    assert (again.order.hidden, again.order.pinned) == (order.hidden, order.pinned)
    assert again.order.listed(len(titles)) == order.listed(len(titles))
    shown = again.order.listed(len(titles))
    assert {lane: again.order.rows_of(lane) for lane in shown} == {
        lane: order.rows_of(lane) for lane in shown
    }
    assert {lane: again.folds.get(lane) for lane in shown} == {
        lane: told.get(lane) for lane in shown
    }


@pytest.mark.parametrize(
    ("order", "folds", "written"),
    [
        (USUAL, {}, ""),
        (USUAL, {1: Fold.SOME}, ""),
        (LaneOrder(pinned=(2,)), {}, "^c,*"),
        (LaneOrder(hidden=frozenset({1})), {}, "-b,*"),
        (LaneOrder(hidden=frozenset({0, 1, 2, 4})), {}, "d"),
        (LaneOrder(rows=((3, 7),)), {3: Fold.LINE}, "d=7=one,*"),
        (USUAL, {0: Fold.ALL}, "a=all,*"),
    ],
)
def test_little_is_written_where_little_differs(
    order: LaneOrder, folds: dict[int, Fold], written: str
) -> None:
    assert text_of(order, folds, lane_names("abcde")) == written


def test_one_lane_among_very_many_is_told_alone() -> None:
    names = lane_names(f"thread {number}" for number in range(3000))
    order = USUAL
    for _ in range(3):
        order = order.moving(1500, 1, 3000)
    assert len(text_of(order, {}, names)) < 200
    assert arranged_as(lanes_as_text(order, {}, names), names).order == order


@pytest.mark.parametrize("text", ["", "a,,b", "a=0", "a=1000", "a=two", "*,*", "a=", "^,"])
def test_what_is_no_list_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(LaneSpecError) as error:
        parse_lanes(text)
    assert "\n" not in str(error.value) and str(error.value)


@pytest.mark.parametrize("text", ["a", "^a=3", "-a=3", "a=one", "*"])
def test_rows_by_lane_are_a_number_each(text: str) -> None:
    with pytest.raises(LaneSpecError):
        parse_counts(text)
    assert parse_counts("a=3,b#2=1") == ((LaneName("a"), 3), (LaneName("b", 2), 1))


def test_lanes_are_found_by_what_people_type() -> None:
    names = lane_names(["GPU0 s7", " python", "python", "main #12"])
    made = arranged_as(parse_lanes("main #12,python#2, GPU0 s7=all"), names)
    assert made.order.listed(4) == [3, 2, 0] and made.folds == {0: Fold.ALL}
    made = arranged_as(parse_lanes("nobody,python"), names)
    assert made.missing == (LaneName("nobody"),) and made.order.listed(4) == [1]
    assert arranged_as((LaneEntry(LaneName("nobody")),), names).order == USUAL
