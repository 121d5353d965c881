"""Queries on a small recording, and the same answers as a plain loop gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whichlayer.analysis import load
from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.search.matcher import Matcher, Stopped
from whichlayer.analysis.search.query import parse_query
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind


def slice_of(
    name: str, category: str, start: int, length: int, thread: int, **arguments: Any
) -> dict[str, Any]:
    return {"ph": "X", "name": name, "cat": category, "ts": start, "dur": length,
            "pid": 0 if category == "kernel" else 1, "tid": thread, "args": arguments}  # fmt: skip


EVENTS = [
    slice_of("aten::mm", "cpu_op", 10, 40, 1, **{"Input Dims": [[64, 128], [128, 8]],
             "Input type": ["float", "float"], "External id": 3}),
    slice_of("cudaLaunchKernel", "cuda_runtime", 20, 5, 1, correlation=7, cbid=211),
    slice_of("void cutlass::Kernel<A>(Params)", "kernel", 60, 200, 7, correlation=7, device=0,
             stream=7, grid=[1, 2, 3]),
    slice_of("aten::add", "cpu_op", 100, 10, 1, **{"Input Dims": [[4], []], "note": "Über slow"}),
    slice_of("train.py(12): step", "python_function", 5, 300, 1),
    slice_of("warm\nup \x1b[31m", "user_annotation", 6, 290, 1),
    slice_of("Memcpy HtoD (Pageable -> Device)", "gpu_memcpy", 300, 50, 7, device=0, stream=7),
]  # fmt: skip


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    path = tmp_path_factory.mktemp("search") / "run.json"
    path.write_text(json.dumps({"traceEvents": EVENTS}))
    return load(str(path))


def found(trace: Trace, text: str) -> list[str]:
    hits = Matcher(trace).find(parse_query(text))
    return [trace.name(row) for row in hits.rows.tolist()]


CUTLASS = "void cutlass::Kernel<A>(Params)"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("AtEn", []),
        ("aten", ["aten::mm", "aten::add"]),
        ("aten -mm", ["aten::add"]),
        ("op:", ["aten::mm", "aten::add"]),
        ("kernel:cutlass", [CUTLASS]),
        ("python:train", ["train.py(12): step"]),
        ("note:warm", ["warm\nup \x1b[31m"]),
        ('"warm up"', ["warm\nup \x1b[31m"]),
        ("call:", ["cudaLaunchKernel"]),
        ("copy:", ["Memcpy HtoD (Pageable -> Device)"]),
        (r"/^aten::(mm|add)$/", ["aten::mm", "aten::add"]),
        ("dur>=200us kernel:", [CUTLASS]),
        ("dur<6", ["cudaLaunchKernel"]),
        ("-dur<290us", ["train.py(12): step", "warm\nup \x1b[31m"]),
        ('lane:"gpu0 s7"', [CUTLASS, "Memcpy HtoD (Pageable -> Device)"]),
        ("lane:s7 -copy:", [CUTLASS]),
        ("family:copy", ["Memcpy HtoD (Pageable -> Device)"]),
        ("shape:64x128 op:", ["aten::mm"]),
        ("shape:64,128 kernel:", [CUTLASS]),
        ("shape:float op:", ["aten::mm"]),
        ("arg:211", ["cudaLaunchKernel"]),
        ("arg:über", ["aten::add"]),
        ("arg:/grid: .1, 2/", [CUTLASS]),
        ("nothing has this name", []),
        ("", []),
    ],
)
def test_a_query_finds_in_order_of_time(recording: Trace, text: str, names: list[str]) -> None:
    assert found(recording, text) == names


def test_short_names_of_kernels_are_found_too(recording: Trace) -> None:
    names = Matcher(recording).names
    pair = int(names.pair[Matcher(recording).find(parse_query("kernel:")).rows[0]])
    assert names.name(pair) == CUTLASS
    assert names.short(pair) != CUTLASS
    assert found(recording, f'"{names.short(pair)}"') == [CUTLASS]


def test_hits_know_their_neighbours_and_groups(recording: Trace) -> None:
    hits = Matcher(recording).find(parse_query("/./"))
    assert len(hits) == len(EVENTS)
    assert (np.diff(hits.start_ns) >= 0).all()
    assert sum(group.count for group in hits.groups) == len(hits)
    assert sum(group.total_ns for group in hits.groups) == hits.total_ns
    for group in hits.groups:
        row = int(hits.rows[group.first])
        assert recording.kind[row] == group.kind
    start = int(hits.start_ns[3])
    assert hits.at_or_after(start) == 3
    assert hits.beside(start, True) == 4
    assert hits.beside(start, False) == 2
    assert hits.beside(int(hits.start_ns[0]), False) == -1
    assert hits.beside(int(hits.start_ns[-1]), True) == len(hits)


def test_a_search_that_nobody_waits_for_ends(recording: Trace) -> None:
    def stop(share: float) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        Matcher(recording).find(parse_query("arg:x"), stop)


def test_a_changed_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"traceEvents": EVENTS}))
    trace = load(str(path))
    path.write_text(json.dumps({"traceEvents": EVENTS[:2]}))
    with pytest.raises(TraceError, match="has changed"):
        Matcher(trace).find(parse_query("arg:211"))


WORDS = st.sampled_from(["aten", "mm", "a", "e", "Kernel", "up", "zzz"])


@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=3), st.integers(0, 300), st.booleans())
def test_it_finds_what_a_plain_loop_finds(words: list[str], us: int, negated: bool) -> None:
    trace = _plain_trace()
    text = " ".join(f"{'-' if negated and i else ''}{word}" for i, word in enumerate(words))
    hits = Matcher(trace).find(parse_query(f"{text} dur>={us}us"))
    names = Matcher(trace).names
    expected = []
    for row in range(len(trace)):
        full = names.texts[int(names.pair[row])]
        long_enough = trace.end_ns[row] - trace.start_ns[row] >= us * 1000
        holds = [
            (word in (full.lower() if word.islower() else full)) != (negated and i > 0)
            for i, word in enumerate(words)
        ]
        if trace.kind[row] != SliceKind.PROFILER and long_enough and all(holds):
            expected.append(row)
    assert sorted(hits.rows.tolist()) == expected
    assert np.flatnonzero(hits.mask).tolist() == expected


_KNOWN: list[Trace] = []


def _plain_trace() -> Trace:
    if not _KNOWN:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run.json"
            path.write_text(json.dumps({"traceEvents": EVENTS}))
            _KNOWN.append(load(str(path)))
    return _KNOWN[0]
