"""The timing of the screen finds what it waits for, and says where nothing came."""

from __future__ import annotations

import re
import sys
from math import isnan
from pathlib import Path

import pytest

from benchmarks.screen import Case, answer_row, main, row
from benchmarks.terminal import Terminal

SAMPLE = Path(__file__).parents[2] / "sample_traces" / "healthy.json.gz"


def test_the_first_picture_and_the_rest_are_timed_beside_an_empty_application(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([str(SAMPLE), "--rounds", "1", "--keys", "--columns", "80", "--lines", "24"]) == 0
    lines = capsys.readouterr().out.splitlines()
    empty, ours = (
        line.split("|") for line in lines if line.startswith(("| an empty", "| healthy"))
    )
    picture, events, timeline, verdict = (float(cell.split()[0]) for cell in ours[2:6])
    assert 0 < picture <= events <= timeline <= verdict
    assert float(empty[2].split()[0]) > 0 and empty[3].strip() == ""
    assert lines[-1].startswith("healthy.json.gz")


def test_what_never_comes_is_no_time() -> None:
    with Terminal([sys.executable, "-c", "print('there')"], 80, 24) as terminal:
        assert terminal.wait_for(re.compile(b"there"), 20) >= terminal.begun
        assert isnan(terminal.wait_for(re.compile(b"more"), 20))
        assert terminal.written >= len("there")


def test_a_mark_counts_once_it_is_asked_for_anew() -> None:
    code = "print('mark', flush=True); input(); print('mark')"
    with Terminal([sys.executable, "-c", code], 80, 24) as terminal:
        first = terminal.wait_for(re.compile(b"mark"), 20)
        assert isnan(terminal.wait_for(re.compile(b"mark"), 0.0, fresh=True))
        terminal.send(b"\n")
        assert terminal.wait_for(re.compile(b"mark"), 20, fresh=True) > first


def test_rows_have_medians_and_differences_of_each_round() -> None:
    empty = Case("empty", [], (), {"picture": [1.0, 2.0, 3.0]}, [0.5])
    ours = Case("ours", [], (), {"picture": [1.1, 2.3, 3.2], "events": [2.0, 2.5, 3.5]}, [0.6])
    assert row(ours, empty) == (
        "| ours | 2.30 (1.10-3.20) | 2.50 (2.00-3.50) |  |  | 0.20 (0.10-0.30) |  | 0.60 (0.60-0.60) |"
    )
    ours.answers = [0.02] * 19 + [0.3]
    assert answer_row(ours) == "ours: 20 keys, median 20 ms, 95 % within 300 ms, longest 300 ms"
