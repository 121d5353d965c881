"""Naming stretches by spans changes what is inside them and nothing else."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.gaps.host import HostStates
from whichlayer.analysis.gaps.relabel import at_times, disjoint, relabelled

SPANS = st.lists(st.tuples(st.integers(0, 90), st.integers(0, 90), st.integers(-1, 5)), max_size=8)


@st.composite
def threads(draw: st.DrawFn) -> HostStates:
    start = sorted(draw(st.sets(st.integers(0, 100), min_size=1, max_size=12)))
    state = draw(st.lists(st.integers(-3, 3), min_size=len(start), max_size=len(start)))
    row = np.arange(len(start), dtype=np.int32) + 100
    codes = np.array(state, np.int32)
    return HostStates(np.array(start, np.int64), codes, codes.copy(), row)


@given(SPANS)
def test_spans_are_in_order_never_overlap_and_cover_the_same_instants(
    spans: list[tuple[int, int, int]],
) -> None:
    made = disjoint(spans)
    assert (made.end_ns > made.start_ns).all()
    assert (made.start_ns[1:] >= made.end_ns[:-1]).all()
    covered = {t for s, e, _ in spans for t in range(s, e)}
    pairs = zip(made.start_ns.tolist(), made.end_ns.tolist(), strict=True)
    assert {t for s, e in pairs for t in range(s, e)} == covered


@given(threads(), SPANS, st.sets(st.integers(-3, 3)))
def test_only_chosen_states_inside_a_span_change(
    states: HostStates, spans: list[tuple[int, int, int]], among: set[int]
) -> None:
    made = disjoint(spans)
    after = relabelled(states, made, 9, among)
    assert (np.diff(after.start_ns) > 0).all()
    time = np.arange(101)
    old, _, old_row = at_times(states, time)
    new, drain, row = at_times(after, time)
    inside = np.zeros(101, bool)
    for s, e in zip(made.start_ns.tolist(), made.end_ns.tolist(), strict=True):
        inside[s:e] = True
    changes = inside & np.isin(old, list(among))
    assert (new[changes] == 9).all() and (drain[changes] == 9).all()
    assert (new[~changes] == old[~changes]).all()
    assert (row[~changes] == old_row[~changes]).all()
