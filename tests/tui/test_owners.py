from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.recording import STEPS, build_analysis, build_trace
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Kernels, Segments, State
from whichlayer.tui.measure import union_ns
from whichlayer.tui.owners import EDGE, LOSS, REST_MARKS, Owners, columns_of
from whichlayer.tui.summary import longest_call, rank_kernels, summarise

ANALYSIS = build_analysis(build_trace())
OWNERS = Owners(ANALYSIS.segments[0], ANALYSIS.activities)
END = STEPS * 1_000_000


@st.composite
def cut_up_devices(draw: st.DrawFn) -> tuple[Segments, Kernels]:
    """Segments of any kind, where a kernel may own several and lose part of them."""
    lengths = draw(st.lists(st.integers(0, 10**10), min_size=1, max_size=25))
    states = draw(st.lists(st.sampled_from(State), min_size=len(lengths), max_size=len(lengths)))
    layers = draw(st.lists(st.sampled_from(Layer), min_size=len(lengths), max_size=len(lengths)))
    kernels = draw(st.integers(1, 4))
    refs = draw(st.lists(st.integers(0, kernels - 1), min_size=len(lengths), max_size=len(lengths)))
    owned = np.zeros(kernels, np.int64)
    for length, state, ref in zip(lengths, states, refs, strict=True):
        if state <= State.UNJUDGED:
            owned[ref] += length
    loss = np.array([draw(st.integers(0, int(o))) for o in owned], np.int64)
    edges = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    busy = [ref if state <= State.UNJUDGED else -1 for ref, state in zip(refs, states, strict=True)]
    segments = Segments(
        edges[:-1], edges[1:], np.array(states, np.uint8), np.array(layers, np.uint8),
        np.array(busy, np.int32),
    )  # fmt: skip
    none = np.zeros(kernels, np.int32)
    flat = np.zeros(kernels, np.uint8)
    table = Kernels(
        none, none, owned, owned, flat, none, owned, loss, flat.astype(np.bool_), flat, none
    )
    return segments, table


@given(cut_up_devices(), st.data())
def test_the_parts_of_any_stretch_add_up_to_it(
    cut: tuple[Segments, Kernels], data: st.DataObject
) -> None:
    owners = Owners(*cut)
    end = int(cut[0].end_ns[-1])
    marks = sorted(data.draw(st.lists(st.integers(0, end), min_size=2, max_size=8)))
    low, high = np.array(marks[:-1], np.int64), np.array(marks[1:], np.int64)
    times = owners.between(low, high)
    assert (times >= 0).all()
    assert times.sum(axis=0).tolist() == (high - low).tolist()


@given(cut_up_devices())
def test_the_losses_of_a_whole_device_are_those_of_its_kernels(
    cut: tuple[Segments, Kernels],
) -> None:
    segments, kernels = cut
    whole = Owners(*cut).between(np.zeros(1, np.int64), segments.end_ns[-1:])
    slow = (segments.state == State.SLOW) & (segments.end_ns > segments.start_ns)
    only_slow = [
        int(kernels.loss_ns[ref])
        for ref in set(segments.ref[slow].tolist())
        if not ((segments.ref == ref) & ~slow & (segments.end_ns > segments.start_ns)).any()
    ]
    assert int(whole[LOSS].sum()) >= sum(only_slow)


def test_a_summary_of_the_window_is_the_budget() -> None:
    summary = summarise(OWNERS, 0, END)
    budget = ANALYSIS.budget
    assert summary.total_ns == budget.total_ns
    assert summary.at_roof_ns == budget.at_roof_ns
    assert summary.spacing_ns == budget.spacing_ns
    assert all(summary.lost_to(layer) == budget.lost_to(layer) for layer in Layer)


def test_time_beyond_the_device_is_outside() -> None:
    summary = summarise(OWNERS, -500_000, END + 250_000)
    assert summary.outside_ns == 750_000
    parts = [summary.lost_to(layer) for layer in Layer]
    rest = (summary.at_roof_ns, summary.spacing_ns, summary.unjudged_ns, summary.outside_ns)
    assert sum(parts) + sum(rest) == summary.total_ns


def test_a_column_is_named_after_who_loses_most_of_it() -> None:
    edges = np.array([0, 250_000, 400_000, 590_000, 700_000, 850_000, 950_000, 1_000_000])
    columns = columns_of(OWNERS, edges[:-1], edges[1:])
    owners = [Layer(int(code)) for code in columns.layer]
    assert owners == [
        Layer.RUNTIME, Layer.RUNTIME, Layer.NONE, Layer.PYTORCH, Layer.CUDA, Layer.RUNTIME,
        Layer.NONE,
    ]  # fmt: skip
    assert columns.strong.tolist() == [True, False, False, True, False, True, False]


def test_time_that_no_layer_loses_is_told_apart_idle_at_the_roof_or_not_judged() -> None:
    states = (State.SPACING, State.AT_ROOF, State.UNJUDGED, State.GAP)
    segments = Segments(
        np.array([0, 100, 200, 300]), np.array([100, 200, 300, 400]),
        np.array(states, np.uint8), np.full(4, Layer.NONE, np.uint8), np.full(4, -1, np.int32),
    )  # fmt: skip
    edges = np.array([0, 100, 200, 300, 400])
    columns = columns_of(Owners(segments, ANALYSIS.activities), edges[:-1], edges[1:])
    assert [REST_MARKS[code] for code in columns.rest.tolist()] == ["·", "=", "–", "·"]


def test_columns_outside_the_window_are_not_known() -> None:
    edge = Segments(
        np.array([0, 100]), np.array([100, 200]), np.array([State.EDGE, State.SPACING], np.uint8),
        np.full(2, Layer.NONE, np.uint8), np.full(2, -1, np.int32),
    )  # fmt: skip
    owners = Owners(edge, ANALYSIS.activities)
    columns = columns_of(owners, np.array([0, 100]), np.array([100, 200]))
    assert columns.known.tolist() == [False, True]
    assert owners.between(np.array([0]), np.array([200]))[EDGE, 0] == 100


def test_kernels_of_the_window_are_ranked_by_time() -> None:
    assert [row.group.short_name for row in rank_kernels(ANALYSIS, None)] == [
        "sgemm 128x64", "add", "AllReduce",
    ]  # fmt: skip


@given(st.integers(0, END), st.integers(0, END))
def test_kernel_times_of_a_selection_are_the_busy_time_in_it(one: int, other: int) -> None:
    low, high = min(one, other), max(one, other) + 1
    ranked = rank_kernels(ANALYSIS, (low, high))
    activities = ANALYSIS.activities
    busy = union_ns(activities.start_ns, activities.end_ns, low, high)
    assert sum(row.time_ns for row in ranked) == busy
    assert all(row.calls > 0 for row in ranked)


def test_the_longest_call_is_looked_for_in_the_selection() -> None:
    group = ANALYSIS.kernels[0]
    first = longest_call(ANALYSIS, group, None)
    assert ANALYSIS.trace.start_ns[first] == 300_000
    second = longest_call(ANALYSIS, group, (1_000_000, 2_000_000))
    assert ANALYSIS.trace.start_ns[second] == 1_300_000
    assert longest_call(ANALYSIS, group, (0, 10)) == -1
