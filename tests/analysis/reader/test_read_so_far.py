"""What was read so far can be seen at any time, and looking changes nothing."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.chrome_text import LAYOUTS, write_file
from whichlayer.analysis.reader.framing import Limits
from whichlayer.analysis.reader.progress import Progress, Report
from whichlayer.analysis.reader.read_chrome_json import read_chrome_json
from whichlayer.analysis.reader.source import TraceSource
from whichlayer.analysis.trace.columns import Trace

#: So little text at a time that most events are a chunk of their own.
CHUNK = 64
SMALL = Limits(chunk=CHUNK, patience=1 << 12, event=1 << 14)

#: Made of few values, so that events meet: same lanes, same ids, pairs across chunks.
EVENTS = st.fixed_dictionaries(
    {
        "ph": st.sampled_from(["X", "X", "X", "B", "E", "b", "e", "i", "C", "s", "f", "M"]),
        "ts": st.integers(0, 60) | st.just("n/a"),
        "pid": st.sampled_from([0, 1, "one"]),
        "tid": st.sampled_from([7, 8, "stream 7"]),
        "name": st.sampled_from(["a", "b", "thread_name", "ProfilerStep#1", "[memory]", ""]),
        "cat": st.sampled_from(["cpu_op", "kernel", "cuda_runtime", "ac2g", "", "python_function"]),
    },
    optional={
        "dur": st.integers(-3, 40) | st.just("none"),
        "id": st.integers(0, 3) | st.just("x"),
        "args": st.fixed_dictionaries(
            {},
            optional={
                "name": st.just("worker"),
                "correlation": st.integers(0, 5),
                "stream": st.integers(6, 8),
                "device": st.integers(0, 1),
                "Total Allocated": st.integers(0, 9),
                "External id": st.integers(0, 5),
            },
        ),
    },
)


def read(path: Path, snapshots: list[Trace] | None) -> Trace:
    """The trace in a file; with a list, what was seen of it after every chunk."""

    def look(progress: Progress) -> None:
        assert progress.snapshot is not None
        if snapshots is not None:
            snapshots.append(progress.snapshot())

    return read_in_chunks(path, look)


def read_in_chunks(path: Path, report: Report) -> Trace:
    """The trace in a file, read event by event."""
    with patch("whichlayer.analysis.reader.document._STEP", CHUNK), TraceSource(str(path)) as file:
        return read_chrome_json(file, report, SMALL)


def values(trace: Trace) -> dict[str, Any]:
    """Everything a trace says, as plain values that can be compared."""

    def plain(value: object) -> object:
        if isinstance(value, np.ndarray):
            return value.dtype.name, [repr(one) for one in value.tolist()]
        if is_dataclass(value) and not isinstance(value, type):
            return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
        return [plain(one) for one in value] if isinstance(value, list | tuple) else value

    said = {f.name: plain(getattr(trace, f.name)) for f in fields(trace) if f.name[0] != "_"}
    return said | {
        "details": [trace.detail(row) for row in range(len(trace))],
        "arguments": [trace.args(row) for row in range(len(trace))],
    }


@given(st.lists(EVENTS, min_size=1, max_size=24), st.sampled_from(sorted(LAYOUTS)))
def test_looking_at_every_chunk_changes_nothing_of_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, events: list[dict[str, Any]], layout: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "looked-at.json"
    path.write_text(write_file(events, LAYOUTS[layout]), encoding="utf-8")
    seen: list[Trace] = []
    assert values(read(path, seen)) == values(read(path, None))
    assert [trace.events for trace in seen] == sorted({trace.events for trace in seen})


@given(st.lists(EVENTS, min_size=1, max_size=16))
def test_a_snapshot_is_what_a_file_that_ends_there_holds(
    tmp_path_factory: pytest.TempPathFactory, events: list[dict[str, Any]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "whole.json"
    path.write_text(write_file(events, LAYOUTS["bare"]), encoding="utf-8")
    seen: list[Trace] = []
    read(path, seen)
    for trace in seen:
        begun = tmp_path_factory.getbasetemp() / "begun.json"
        begun.write_text(write_file(events[: trace.events], LAYOUTS["bare"]), encoding="utf-8")
        last: list[Trace] = []
        read(begun, last)
        assert in_words(trace) == in_words(last[-1])


def in_words(trace: Trace) -> dict[str, Any]:
    """What a trace says, without the path and the numbers of strings, which chunks decide."""
    said = values(trace)
    for name in ("path", "strings", "name_id", "category_id", "steps", "instants", "flows"):
        said.pop(name)
    return said | {
        "names": [trace.name(row) for row in range(len(trace))],
        "categories": [trace.strings[number] for number in trace.category_id],
        "steps": [step.name for step in trace.steps],
        "instants": [trace.strings[number] for number in trace.instants.name_id],
        "flows": [trace.strings[number] for number in trace.flows.category_id],
    }


def test_a_snapshot_stays_as_it_is_while_reading_goes_on(tmp_path: Path) -> None:
    events = [
        {"ph": "X", "ts": 9 - n, "dur": 5, "pid": 1, "tid": n % 3, "name": f"n{n}", "cat": "cpu_op"}
        for n in range(9)
    ]
    path = tmp_path / "trace.json"
    path.write_text(write_file(events, LAYOUTS["compact"]), encoding="utf-8")
    said: list[dict[str, Any]] = []
    seen: list[Trace] = []

    def look(progress: Progress) -> None:
        assert progress.snapshot is not None
        seen.append(progress.snapshot())
        said.append(values(seen[-1]))

    read_in_chunks(path, look)
    assert len(seen) > 2 and seen[0].origin_ns > seen[-1].origin_ns
    assert [values(trace) for trace in seen] == said
