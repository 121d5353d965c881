"""A view is the same view in a document that knows more of the trace."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.tui.growing import part_of
from tests.tui.recording import Slice
from whichlayer.analysis.trace.kinds import SliceKind
from whichlayer.tui.carry import carried, carried_roughly, lane_keys, opened, shift_between
from whichlayer.tui.document import Document
from whichlayer.tui.lanes import Fold
from whichlayer.tui.travel import on_lane, rows_of, settled
from whichlayer.tui.view import View

#: Long before the recording.
CLOCK = 10**9

#: Towers of calls that do not overlap: (lane, slot, how deep).
PLACES = st.tuples(st.integers(0, 3), st.integers(0, 40), st.integers(0, 3))


def tower(place: tuple[int, int, int]) -> list[Slice]:
    """Calls inside each other, the outermost first, all Python's or all others."""
    lane, slot, deepest = place
    kind = SliceKind.KERNEL if lane < 2 else (SliceKind.PYTHON, SliceKind.CPU_OP)[slot % 2]
    start, end = CLOCK + 1000 * slot, CLOCK + 1000 * slot + 900
    return [
        (lane, kind, f"n{slot}", start + 100 * depth, end - 100 * depth, depth, -1)
        for depth in range(deepest + 1)
    ]


@st.composite
def growing(draw: st.DrawFn) -> tuple[Document, Document]:
    """A document, and one that knows more."""
    places = draw(st.lists(PLACES, min_size=2, max_size=30, unique_by=lambda place: place[:2]))
    slices = [slice for place in places for slice in tower(place)]
    return part_of(slices[: draw(st.integers(1, len(slices)))]), part_of(slices)


@st.composite
def views(draw: st.DrawFn, document: Document) -> View:
    """Any view of a document that the user can have come to."""
    view = opened(document, draw(st.integers(1, 200)))
    span = document.high_ns - document.low_ns
    start = document.low_ns + draw(st.integers(0, span - 1))
    view = replace(view, port=view.port.to(start, start + draw(st.integers(1, span))))
    view = replace(view, cursor_ns=view.port.start_ns, lines=draw(st.integers(0, 30)))
    lanes = st.integers(0, len(document.lanes) - 1)
    view = replace(view, folds=draw(st.dictionaries(lanes, st.sampled_from(Fold), max_size=3)))
    view = settled(document, view)
    return replace(view, row=draw(st.integers(0, len(rows_of(document, view)) - 1)))


@given(st.data(), growing())
def test_span_cursor_lane_row_and_folds_are_the_same(
    data: st.DataObject, documents: tuple[Document, Document]
) -> None:
    old, new = documents
    view = data.draw(views(old))
    now = carried(view, old, new)
    shift = shift_between(old, new)
    assert now.port.span_ns == view.port.span_ns
    assert now.port.start_ns == view.port.start_ns + shift
    assert now.cursor_ns == view.cursor_ns + shift
    assert now.port.low_ns == new.low_ns
    before, after = rows_of(old, view)[view.row], rows_of(new, now)[now.row]
    old_keys, new_keys = lane_keys(old.lanes), lane_keys(new.lanes)
    assert new_keys[after.lane] == old_keys[before.lane]
    if view.folds.get(before.lane, Fold.SOME) is not Fold.LINE:
        outer = new.lanes[after.lane].first_row  # frames that say nothing are folded away
        assert after.depth in (before.depth, outer) and after.depth >= before.depth
    folds = {old_keys[lane]: fold for lane, fold in view.folds.items()}
    assert {new_keys[lane]: fold for lane, fold in now.folds.items()} == folds
    assert now.edition == view.edition + 1


@given(st.data(), growing())
def test_views_that_nobody_sees_are_on_the_same_lane(
    data: st.DataObject, documents: tuple[Document, Document]
) -> None:
    old, new = documents
    view = data.draw(views(old))
    now = carried_roughly(view, old, new)
    before, after = rows_of(old, view)[view.row], rows_of(new, now)[now.row]
    assert lane_keys(new.lanes)[after.lane] == lane_keys(old.lanes)[before.lane]


@given(growing())
def test_no_two_lanes_have_one_key(documents: tuple[Document, Document]) -> None:
    for document in documents:
        keys = lane_keys(document.lanes)
        assert len(set(keys)) == len(keys)


def test_a_lane_that_is_gone_leaves_the_cursor_on_the_first_line() -> None:
    old = part_of([*tower((0, 1, 0)), *tower((2, 1, 0))])
    new = part_of(tower((0, 1, 0)))
    view = on_lane(old, opened(old, 100), 1)
    assert carried(view, old, new).row == 0
