"""The comparison of readers runs what there is and says what it left out."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.cores import main as compare_cores
from benchmarks.load import main
from benchmarks.make_trace import compress, make_trace
from benchmarks.measure import run
from benchmarks.report import main as time_reports


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.json"
    make_trace(path, 1, layout="compact")
    return path


def test_readers_are_compared_on_the_plain_and_the_packed_file(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compress(trace)
    assert main([str(trace), "--rounds", "1"]) == 0
    written = capsys.readouterr().out
    rows = [line.split(" | ")[1] for line in written.splitlines() if line.startswith("| 2 MB")]
    assert rows == ["whichlayer", "whichlayer .gz", "json"]
    assert "left out" in written


def test_a_peer_that_fails_is_named_with_its_reason(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = str(trace.parent / "no-such-python")
    assert main([str(trace), "--rounds", "1", "--hta-python", missing, "--only", "hta"]) == 0
    row = [line for line in capsys.readouterr().out.splitlines() if "| hta |" in line]
    assert len(row) == 1
    assert "no-such-python" in row[0]


def test_cost_is_the_last_line_of_what_a_command_prints() -> None:
    line = '{"cpu_s": 1.5, "wall_s": 2.0, "peak_bytes": 3}'
    cost = run([sys.executable, "-c", f"print('busy'); print('{line}', end='done')"])
    assert (cost.cpu_s, cost.wall_s, cost.peak_bytes) == (1.5, 2.0, 3)


def test_a_command_without_a_cost_is_an_error_with_what_it_wrote() -> None:
    with pytest.raises(RuntimeError, match="no memory"):
        run([sys.executable, "-c", "raise SystemExit('no memory')"])
    with pytest.raises(RuntimeError, match="exit status 0"):
        run([sys.executable, "-c", "pass"])


def test_reports_are_timed_with_the_start_of_the_program(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert time_reports([str(trace), "--rounds", "1"]) == 0
    row = capsys.readouterr().out.splitlines()[-1]
    assert row.startswith("| trace.json, 2 MB | ")
    assert float(row.split(" | ")[2]) > 0


def test_a_report_that_fails_is_an_error_and_no_time(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="exit status"):
        time_reports([str(tmp_path / "missing.json")])


def test_numbers_of_cores_are_compared_in_turn(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare_cores([str(trace), "--rounds", "2", "--cores", "1", "2"]) == 0
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if "MB |" in line]
    assert [row[1] for row in rows] == ["1", "2"]
    assert all(float(row[4].split()[0]) > 20 for row in rows)
