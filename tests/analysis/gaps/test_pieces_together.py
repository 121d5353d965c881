"""All idle pieces are looked up together: each gets what it would get alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.gaps.catalogue import cause_code
from whichlayer.analysis.gaps.during import longest_rows, stretches_between
from whichlayer.analysis.gaps.held import LEAST_NS, _long_runs
from whichlayer.analysis.gaps.host import Doing, HostStates
from whichlayer.analysis.gaps.overlay import overlaid
from whichlayer.analysis.gaps.part import Part, Parts
from whichlayer.analysis.gaps.relabel import at_times

STATES = [int(doing) for doing in Doing] + [0, 1]
stretch = st.tuples(st.integers(1, 400), st.sampled_from(STATES), st.integers(-1, 4))
thread = st.lists(stretch, min_size=1, max_size=30)


def states_of(stretches: list[tuple[int, int, int]], unit: int = 1) -> HostStates:
    length, state, row = np.array(stretches, np.int64).T
    codes = state.astype(np.int32)
    return HostStates(np.cumsum(length) * unit, codes, codes, row.astype(np.int32))


def spans(data: st.DataObject) -> tuple[np.ndarray, np.ndarray]:
    start = np.array(data.draw(st.lists(st.integers(0, 3000), min_size=1, max_size=8)), np.int64)
    length = [data.draw(st.integers(1, 900)) for _ in start]
    return start, start + np.array(length, np.int64)


@given(thread, st.data())
def test_stretches_fill_what_is_asked_for_with_the_thread_s_states(
    told: list[tuple[int, int, int]], data: st.DataObject
) -> None:
    states = states_of(told)
    start, end = spans(data)
    found = stretches_between(states, start, end)
    assert (found.end_ns > found.start_ns).all()
    length = np.bincount(found.which, found.end_ns - found.start_ns, minlength=len(start))
    assert length.tolist() == (end - start).tolist()
    state, _, _ = at_times(states, found.start_ns)
    before = found.start_ns < states.start_ns[0]
    assert (found.state[before] == cause_code("unattributed")).all()
    assert (found.state[~before] == state[~before]).all()


@given(thread, st.data())
def test_the_row_of_most_of_a_stretch_is_the_same_alone_and_together(
    told: list[tuple[int, int, int]], data: st.DataObject
) -> None:
    states = states_of(told)
    start, end = spans(data)
    found = longest_rows(states, start, end)
    for i in range(len(start)):
        cut = stretches_between(states, start[i : i + 1], end[i : i + 1])
        _, _, row = at_times(states, cut.start_ns)
        length = np.where(row >= 0, cut.end_ns - cut.start_ns, -1)
        assert found[i] == row[int(length.argmax())]


@given(st.lists(thread, min_size=2, max_size=3), st.integers(1, 7))
def test_threads_laid_over_one_another_are_the_same_in_blocks_of_any_size(
    told: list[list[tuple[int, int, int]]], size: int
) -> None:
    layers = [states_of(one) for one in told]
    whole = overlaid(layers)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("whichlayer.analysis.gaps.overlay.BLOCK", size)
        cut = overlaid(layers)
    for name in ("start_ns", "state", "drain", "row"):
        assert getattr(whole, name).tolist() == getattr(cut, name).tolist()


@given(thread, st.integers(1, 7))
def test_long_runs_are_those_of_one_state_and_slice_in_blocks_of_any_size(
    told: list[tuple[int, int, int]], size: int
) -> None:
    states = states_of(told, unit=10_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("whichlayer.analysis.intervals.BLOCK", size)
        first, end = _long_runs(states)
    expected, low = [], 0
    for i in range(1, len(told) + 1):
        if i == len(told) or told[i][1:] != told[low][1:]:
            last = int(states.start_ns[min(i, len(told) - 1)])
            if last - int(states.start_ns[low]) >= LEAST_NS:
                expected.append((low, i))
            low = i
    assert list(zip(first.tolist(), end.tolist(), strict=True)) == expected


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 9), st.integers(0, 2)), max_size=25))
def test_neighbours_of_one_cause_become_one_part_named_by_its_longest(
    told: list[tuple[int, int, int]],
) -> None:
    told = sorted(told, key=lambda one: one[0])
    piece, length, cause = np.array(told, np.int64).reshape(-1, 3).T
    end = np.cumsum(length)
    culprit = np.arange(len(told), dtype=np.int32)
    parts = Parts(piece, end - length, end, cause.astype(np.int32), culprit).joined()
    expected: list[list[int]] = []
    for i, (one, lasts, code) in enumerate(told):
        if expected and expected[-1][:2] == [one, code]:
            if lasts > expected[-1][3]:
                expected[-1][2:4] = [i, lasts]
            expected[-1][4] = int(end[i])
        else:
            expected.append([one, code, i, lasts, int(end[i])])
    found = zip(parts.piece, parts.cause, parts.culprit, parts.end_ns, strict=True)
    assert [[*map(int, one)] for one in found] == [[*one[:3], one[4]] for one in expected]


def test_parts_that_take_the_place_of_one_stand_where_it_stood() -> None:
    zero = np.arange(3, dtype=np.int64)
    parts = Parts.of(zero, 10 * zero, 10 * zero + 10, 1, 5)
    found = parts.replaced({1: [Part(10, 14, 2, 7), Part(14, 20, 1, 5)]})
    assert found.piece.tolist() == [0, 1, 1, 2]
    assert found.start_ns.tolist() == [0, 10, 14, 20]
    assert found.cause.tolist() == [1, 2, 1, 1]
    assert found.culprit.tolist() == [5, 7, 5, 5]
