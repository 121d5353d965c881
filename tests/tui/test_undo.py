"""The list of acts: what is taken back at once, what is forgotten, what it holds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from whichlayer.tui.undo import Act, Acts, Change, Part, act_of
from whichlayer.tui.view_parts import Selected


def colour(before: int, after: int) -> Act:
    act = act_of([Change(Part.COLOURS, before, after, f"to {after}")])
    assert act is not None
    return act


def pan(before: int, after: int, run: str = "pan") -> Act:
    act = act_of([Change(Part.PLACE, before, after)], run)
    assert act is not None
    return act


def test_what_changes_nothing_is_no_act() -> None:
    assert act_of([Change(Part.COLOURS, 1, 1), Change(Part.PLACE, 2, 2)]) is None


def test_an_act_is_called_by_what_tells_most() -> None:
    act = act_of([Change(Part.PLACE, 1, 2, "view"), Change(Part.SEARCH, "", "nccl", "search nccl")])
    assert act is not None and act.word == "search nccl"
    assert act.parts == {Part.PLACE, Part.SEARCH}


def test_taken_back_an_act_leads_to_where_it_began() -> None:
    back = colour(1, 2).taken_back().changes[0]
    assert (back.before, back.after) == (2, 1)


def test_acts_of_one_run_are_one() -> None:
    acts = Acts()
    for place in range(200):
        acts.note(pan(place, place + 1))
    act = acts.next_back()
    assert len(acts) == 1 and act is not None
    assert (act.changes[0].before, act.changes[0].after) == (0, 200)


def test_a_run_that_ends_where_it_began_leaves_nothing() -> None:
    acts = Acts()
    acts.note(pan(0, 1))
    acts.note(pan(1, 0))
    assert len(acts) == 0


def test_another_run_or_an_act_between_begins_anew() -> None:
    acts = Acts()
    acts.note(pan(0, 1))
    acts.note(pan(1, 2, "zoom"))
    acts.note(colour(0, 1))
    acts.note(pan(2, 3, "zoom"))
    acts.note(pan(3, 4, ""))
    acts.note(pan(4, 5, ""))
    assert len(acts) == 6


def test_what_was_undone_is_gone_after_another_act_and_is_no_part_of_a_run() -> None:
    acts = Acts()
    acts.note(pan(0, 1))
    acts.note(colour(0, 1))
    acts.step_back()
    acts.note(pan(1, 2))
    assert acts.next_forward() is None
    assert len(acts) == 2, "what was undone in between parts the runs"


def test_it_remembers_so_many_and_no_more() -> None:
    acts = Acts()
    for number in range(3 * Acts.LIMIT):
        acts.note(colour(number, number + 1))
    assert len(acts) == Acts.LIMIT
    act = acts.next_back()
    assert act is not None and act.changes[0].after == 3 * Acts.LIMIT


def test_another_recording_forgets_places_alone() -> None:
    acts = Acts()
    acts.note(pan(0, 1))
    both = act_of([Change(Part.PLACE, 1, 2), Change(Part.SEARCH, "", "nccl", "search nccl")])
    assert both is not None
    acts.note(both)
    acts.note(colour(0, 1))
    acts.step_back()
    acts.leave_recording()
    left = acts.next_back()
    assert len(acts) == 1 and left is not None and left.parts == {Part.SEARCH}
    assert acts.next_forward() is not None


@given(st.lists(st.sampled_from(["act", "back", "forward"]), max_size=60))
def test_back_and_forward_always_lead_along_one_line(moves: list[str]) -> None:
    acts, past, now = Acts(), [0], 0
    future: list[int] = []
    for number, move in enumerate(moves, 1):
        back, forward = acts.next_back(), acts.next_forward()
        if move == "act":
            acts.note(colour(now, number))
            past, future, now = [*past, number], [], number
        elif move == "back" and back is not None:
            acts.step_back()
            future.append(past.pop())
            now = back.changes[0].before
        elif move == "forward" and forward is not None:
            acts.step_forward()
            past.append(future.pop())
            now = forward.changes[0].after
        assert now == past[-1]
        assert (acts.next_forward() is None) == (not future)


def test_what_was_done_while_selecting_stays_an_act_of_its_own() -> None:
    none, begun, ended = Selected(None, None), Selected(None, 5), Selected((5, 9), None)
    acts = Acts()
    for act in (
        Act((Change(Part.SELECTION, none, begun),)),
        colour(0, 1),
        Act((Change(Part.SELECTION, begun, ended, "selection"),)),
    ):
        acts.note(act)
    assert len(acts) == 2
    last = acts.next_back()
    assert last is not None and last.changes == (Change(Part.SELECTION, none, ended),)
    acts.step_back()
    assert acts.next_back() == colour(0, 1)


def test_the_same_selection_made_anew_is_no_act() -> None:
    begun, ended = Selected(None, 5), Selected((5, 9), None)
    acts = Acts()
    acts.note(Act((Change(Part.SELECTION, ended, begun),)))
    acts.note(Act((Change(Part.SELECTION, begun, ended),)))
    assert len(acts) == 0
