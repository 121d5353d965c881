"""The comparison of reading and reopening tells both, and leaves no cache behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.make_trace import make_trace
from benchmarks.reopen import main
from whichlayer.analysis.cache.reuse import FEWEST_EVENTS


def test_reading_and_reopening_are_compared(
    tmp_path: Path, cache_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trace.json"
    assert make_trace(path, 16, layout="compact") >= FEWEST_EVENTS
    before = sorted(cache_home.rglob("*"))
    assert main([str(path), "--rounds", "1"]) == 0
    rows = [line.split(" | ")[1] for line in capsys.readouterr().out.splitlines()[-2:]]
    assert rows == ["read", "reopen"]
    assert sorted(cache_home.rglob("*")) == before


def test_a_trace_that_is_too_small_to_be_kept_is_named(tmp_path: Path) -> None:
    path = tmp_path / "small.json"
    make_trace(path, 1, layout="compact")
    with pytest.raises(RuntimeError, match="was not kept"):
        main([str(path), "--rounds", "1"])
