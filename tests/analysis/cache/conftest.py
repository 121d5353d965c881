"""A cache folder for each test, in which traces of any size are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from whichlayer.analysis.cache import reuse


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache folder of a test; not there yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(reuse, "FEWEST_EVENTS", 0)
    return tmp_path / "home" / "whichlayer"


def kernel_events(count: int = 3) -> list[dict[str, Any]]:
    """Operators that each launch a kernel, with a frame around them, an arrow and a counter."""
    host: dict[str, Any] = {"pid": 1, "tid": 1}
    events: list[dict[str, Any]] = [
        {"ph": "X", "cat": "python_function", "name": "train.py(3): step", "ts": 90, "dur": 90, **host},
        {"ph": "C", "name": "memory", "pid": 1, "ts": 100, "args": {"used": 2.5}},
        {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "ts": 101.5, **host,
         "args": {"Total Allocated": 1024}},
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "ts": 95, "dur": 80, **host},
    ]  # fmt: skip
    for number in range(count):
        start = 100 + 20 * number
        gpu: dict[str, Any] = {"pid": 0, "tid": 7, "ts": start + 12}
        operator = {"External id": number, "Input Dims": [[2, number]]}
        device = {"correlation": number, "device": 0, "stream": 7}
        events += [
            {"ph": "X", "cat": "cpu_op", "name": "aten::add", "ts": start, "dur": 10, **host,
             "args": operator},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": start + 2,
             "dur": 3, **host, "args": {"correlation": number}},
            {"ph": "s", "id": number, "name": "ac2g", "cat": "ac2g", "ts": start + 2, **host},
            {"ph": "X", "cat": "kernel", "name": f"kernel<{number}>(é)", "dur": 6.5, **gpu,
             "args": device},
            {"ph": "f", "id": number, "name": "ac2g", "cat": "ac2g", "bp": "e", **gpu},
        ]  # fmt: skip
    return events


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A small trace that has something of everything."""
    file = tmp_path / "trace.json"
    header = {"schemaVersion": 1, "baseTimeNanoseconds": 1_700_000_000_000_000_000}
    file.write_text(json.dumps({**header, "traceEvents": kernel_events()}))
    return file


def entries_of(folder: Path) -> list[Path]:
    """The entries in a cache folder, by name."""
    return sorted(folder.glob("*.columns"))
