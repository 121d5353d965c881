"""The two ways to find who encloses whom agree, and a plain search agrees with both."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from whichlayer.analysis import load
from whichlayer.analysis.gaps import stretches
from whichlayer.analysis.gaps.host import Doing, Marks
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import LaneKind

NAMES = (
    ("cpu_op", "aten::add"),
    ("cpu_op", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
    ("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
    ("user_annotation", "forward"),
    ("user_annotation", "ProfilerStep#3"),
    ("python_function", "train.py(3): step"),
    ("cuda_runtime", "cudaLaunchKernel"),
    ("cuda_runtime", "cudaDeviceSynchronize"),
    ("cuda_runtime", "cudaMalloc"),
)


def recorded(slices: list[tuple[int, int, int]]) -> Trace:
    """One thread with slices of (start, length, index of name)."""
    events: list[dict[str, Any]] = []
    for start, length, which in slices:
        category, name = NAMES[which]
        events.append(
            {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": start}
            | {"dur": length, "args": {}}
        )
    with TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
        return load(path)


def nested(low: int, high: int, depth: int) -> st.SearchStrategy[list[tuple[int, int, int]]]:
    """Slices within ``[low, high]`` that nest."""
    if high <= low or depth == 0:
        return st.just([])

    def around(cut: tuple[int, int, int]) -> st.SearchStrategy[list[tuple[int, int, int]]]:
        one, two, which = cut
        start, end = min(one, two), max(one, two)
        return st.tuples(nested(start, end, depth - 1), nested(end, high, depth)).map(
            lambda parts: [(start, end - start, which), *parts[0], *parts[1]]
        )

    point = st.integers(low, high)
    cuts = st.tuples(point, point, st.integers(0, len(NAMES) - 1))
    return st.one_of(st.just([]), cuts.flatmap(around))


CROSSING = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 30), st.integers(0, len(NAMES) - 1)), max_size=14
)


@settings(max_examples=60)
@given(nested(0, 60, 4))
def test_nesting_slices_give_the_same_by_parents_and_by_stack(
    slices: list[tuple[int, int, int]],
) -> None:
    trace = recorded([*slices, (0, 80, 4)])
    by_parents = stretches._by_parents(trace, 0, len(trace))
    by_stack = stretches._by_stack(trace, 0, len(trace))
    assert by_parents is not None
    assert by_parents.time.tolist() == by_stack.time.tolist()
    assert by_parents.innermost.tolist() == by_stack.innermost.tolist()
    assert by_parents.outer.tolist() == by_stack.outer.tolist()


@settings(max_examples=60)
@given(CROSSING)
def test_the_innermost_slice_of_a_cut_runs_there(slices: list[tuple[int, int, int]]) -> None:
    trace = recorded([*slices, (0, 100, 4)])
    nesting = stretches._by_parents(trace, 0, len(trace)) or stretches._by_stack(
        trace, 0, len(trace)
    )
    for time in {*trace.start_ns.tolist(), *trace.end_ns.tolist()}:
        row = int(nesting.innermost[np.searchsorted(nesting.time, time, "right") - 1])
        runs = (trace.start_ns <= time) & (time < trace.end_ns)
        assert runs[row] if row >= 0 else not runs.any()
    assert (
        nesting.level[nesting.outer >= 0] > nesting.level[nesting.outer][nesting.outer >= 0]
    ).all()


def test_crossing_slices_are_told_and_walked() -> None:
    trace = recorded([(0, 10, 3), (5, 10, 8)])
    assert stretches._by_parents(trace, 0, len(trace)) is None
    lanes = [i for i, lane in enumerate(trace.lanes) if lane.kind == LaneKind.CPU_THREAD]
    states = stretches.host_states(trace, Marks(trace, {}), lanes[0])
    assert states.start_ns.tolist() == [0, 5_000, 15_000]
    assert states.state[0] == Doing.ANNOTATED
    assert states.state[2] == Doing.NOTHING
    assert np.array_equal(states.state, states.drain)
