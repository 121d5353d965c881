"""A slice of the host with an absurd end stretches the timeline, and is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from whichlayer.analysis import analyse, load
from whichlayer.analysis.errors import Severity, TraceWarning


def event(category: str, start: float, length: float, **keys: Any) -> dict[str, Any]:
    where = {"pid": 0, "tid": 7} if category == "kernel" else {"pid": 1, "tid": 1}
    told = {"ph": "X", "cat": category, "name": category, **where, "ts": start, "dur": length}
    return told | keys


def late(folder: Path, *more: dict[str, Any]) -> list[TraceWarning]:
    events = []
    for step in range(20):
        launch = {"args": {"correlation": step}}
        events.append(event("cuda_runtime", 1000 * step, 5, **launch))
        events.append(event("kernel", 1000 * step + 10, 500, **launch))
    path = folder / "trace.json"
    path.write_text(json.dumps({"traceEvents": [*events, *more]}))
    return [one for one in analyse(load(path)).warnings if one.code == "Q6"]


@pytest.mark.parametrize("category", ["cpu_op", "python_function", "cuda_runtime"])
def test_a_slice_of_the_host_that_ends_far_behind_is_a_note(tmp_path: Path, category: str) -> None:
    (warning,) = late(tmp_path, event(category, 500, 300e6, name="odd"))
    assert (warning.severity, warning.count) == (Severity.NOTE, 1)
    assert "odd at 0.001 s, 300.000 s long" in warning.message
    assert warning.byte_offset > 0


def test_slices_around_the_work_are_not_told(tmp_path: Path) -> None:
    assert not late(tmp_path, event("python_function", 0, 100e3, name="main"))


def test_many_such_slices_are_the_program(tmp_path: Path) -> None:
    slices = [event("python_function", 0, 300e6 - number, name="main") for number in range(3)]
    assert not late(tmp_path, *slices)
