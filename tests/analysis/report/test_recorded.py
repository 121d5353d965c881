"""What a recording holds is told by what is in the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from whichlayer.analysis import Options, analyse, load
from whichlayer.analysis.report.recorded import find_recorded
from whichlayer.analysis.trace.columns import Trace


def trace_of(folder: Path, *operators: dict[str, Any], steps: int = 0) -> Trace:
    """A recording of operators with these arguments, after some steps."""
    slices: list[tuple[str, str, float, dict[str, Any]]] = [
        ("user_annotation", f"ProfilerStep#{n}", 100.0 * n, {}) for n in range(steps)
    ]
    slices += [("cpu_op", "aten::add", 5.0 + 10 * n, args) for n, args in enumerate(operators)]
    events = [
        {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": 5, "args": args}
        for cat, name, ts, args in slices
    ]
    path = folder / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return load(path)


@pytest.mark.parametrize(
    ("arguments", "stacks", "shapes"),
    [
        ({}, False, False),
        ({"Call stack": ""}, False, False),
        ({"Call stack": "train.py(4): main"}, True, False),
        ({"Input Dims": []}, False, False),
        ({"Input Dims": [[8, 8]]}, False, True),
        ({"Input dims": [[8, 8]]}, False, True),
    ],
)
def test_stacks_and_shapes_are_recorded_where_an_operator_has_some(
    tmp_path: Path, arguments: dict[str, Any], stacks: bool, shapes: bool
) -> None:
    recorded = find_recorded(trace_of(tmp_path, {}, arguments))
    assert (recorded.stacks, recorded.shapes) == (stacks, shapes)


@pytest.mark.parametrize(("steps", "told"), [(1, "1 recorded step"), (2, "2 recorded steps")])
def test_the_window_counts_steps_in_the_right_number(tmp_path: Path, steps: int, told: str) -> None:
    assert analyse(trace_of(tmp_path, {}, steps=steps)).window.reason == told


def test_a_single_step_that_was_asked_for_is_no_range(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, {}, steps=3)
    assert analyse(trace, Options(steps=(1, 1))).window.reason == "step 1"
    assert analyse(trace, Options(steps=(1, 2))).window.reason == "steps 1 to 2"
