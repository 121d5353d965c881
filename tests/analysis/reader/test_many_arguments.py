"""Reading the arguments of many slices at once gives what reading each gives."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.program import Program
from whichlayer.analysis import TraceError, load
from whichlayer.analysis.reader.full_args import RowArguments


def made(calls: int = 400) -> Program:
    program = Program()
    for i in range(calls):
        start = 100.0 * i
        program.kernel("gemm", start + 5, 20, (start, 2), Seq=i, note="x" * (i % 307))
        program.step(i, start, 99)
    return program


@pytest.mark.parametrize("packed", [False, True])
def test_many_arguments_are_those_of_each(packed: bool, tmp_path: Path) -> None:
    # Long enough to be read in several stretches.
    path = made(20_000).write(tmp_path)
    if packed:
        text = path.read_bytes()
        path = path.with_suffix(".json.gz")
        path.write_bytes(gzip.compress(text))
    trace = load(path)
    assert isinstance(trace._full_args, RowArguments)
    assert len(trace._full_args.source.spans) > 3
    rows = np.arange(len(trace), dtype=np.int32)[::331][::-1]
    assert trace.args_of(rows) == [trace.args(int(row)) for row in rows]
    assert sum("Seq" in known for known in trace.args_of(rows)) > 30
    assert trace.args_of(rows[:0]) == []


def test_many_arguments_of_a_part_are_those_of_each(tmp_path: Path) -> None:
    path = made().write(tmp_path)
    part = load(path, steps=(200, 210))
    rows = np.arange(len(part), dtype=np.int32)[::7]
    assert part.args_of(rows) == [part.args(int(row)) for row in rows]


def test_changed_file_is_refused(tmp_path: Path) -> None:
    path = made().write(tmp_path)
    trace = load(path)
    document = json.loads(path.read_text())
    document["traceEvents"].append(document["traceEvents"][0])
    path.write_text(json.dumps(document))
    with pytest.raises(TraceError, match="changed"):
        trace.args_of(np.array([0, 1], np.int32))
