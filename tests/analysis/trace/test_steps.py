"""Which annotations are the steps of a recording."""

from __future__ import annotations

import numpy as np

from whichlayer.analysis.trace.columns import Step, StepSource
from whichlayer.analysis.trace.kinds import SliceKind
from whichlayer.analysis.trace.steps import find_steps

Row = tuple[str, SliceKind, int, int]


def steps(rows: list[Row], unusable: tuple[int, ...] = ()) -> tuple[Step, ...]:
    """Steps of rows of (name, kind, lane, start)."""
    strings = sorted({row[0] for row in rows})
    start = np.array([row[3] for row in rows], np.int64)
    usable = np.ones(len(rows), bool)
    usable[list(unusable)] = False
    return find_steps(
        strings,
        np.array([strings.index(row[0]) for row in rows], np.int32),
        np.array([row[1] for row in rows], np.uint8),
        np.array([row[2] for row in rows], np.int32),
        start,
        start + 5,
        usable,
    )


def test_steps_are_taken_from_the_lane_that_marks_most() -> None:
    note = SliceKind.ANNOTATION
    rows: list[Row] = [
        ("ProfilerStep#8", note, 0, 0),
        ("ProfilerStep#8", note, 1, 1),
        ("ProfilerStep#10", note, 1, 7),
        ("ProfilerStep#9", note, 1, 9),
        ("ProfilerStep#9", SliceKind.GPU_ANNOTATION, 2, 9),
    ]
    assert steps(rows) == (
        Step(8, "ProfilerStep#8", 1, 1, 6, 1),
        Step(10, "ProfilerStep#10", 2, 7, 12, 1),
        Step(9, "ProfilerStep#9", 3, 9, 14, 1),
    )
    assert [step.number for step in steps(rows, unusable=(2,))] == [8, 9]


def test_names_that_only_begin_like_steps_are_none() -> None:
    names = ["ProfilerStep#", "ProfilerStep#1x", "xProfilerStep#1", "ProfilerStep*", "step 1"]
    huge = "ProfilerStep#" + "9" * 5000
    rows: list[Row] = [(name, SliceKind.ANNOTATION, 0, 0) for name in [*names, huge]]
    assert steps(rows) == ()
    assert steps([]) == ()


def test_steps_of_the_gpu_alone_last_from_their_first_work_to_their_last_on_any_stream() -> None:
    gpu = SliceKind.GPU_ANNOTATION
    rows: list[Row] = [
        ("ProfilerStep#1", gpu, 0, 10),
        ("ProfilerStep#2", gpu, 0, 20),
        ("ProfilerStep#1", gpu, 1, 13),
    ]
    found = steps(rows)
    assert [(s.number, s.start_ns, s.end_ns) for s in found] == [(1, 10, 18), (2, 20, 25)]
    assert {s.source for s in found} == {StepSource.GPU_ANNOTATION}
    assert not any(s.on_host for s in found)
