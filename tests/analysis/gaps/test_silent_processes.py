"""Where a process recorded calls alone, a long silence between two launches is not dispatch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.program import Program, gap_time

KERNEL_US = 20.0


def launches(pause: float) -> Program:
    """A loop of launches of which nothing else is recorded."""
    program = Program()
    for number in range(60):
        at = number * (pause + 4)
        program.kernel("my_kernel", at + 6, KERNEL_US, (at, 4))
    return program


@pytest.mark.parametrize("pause", [150.0, 500.0, 900.0])
def test_a_regular_silence_of_calls_alone_is_not_known(tmp_path: Path, pause: float) -> None:
    analysis = launches(pause).analysis(tmp_path)
    assert gap_time(analysis).get("launch-bound", 0) == 0
    finding = next(one for one in analysis.findings if one.rule == "unattributed")
    assert "ProfilerActivity.CPU" in finding.fix
    assert any("nothing is recorded on that thread" in line for line in finding.evidence)


def test_launches_as_close_as_dispatch_are_dispatch_without_operators_too(tmp_path: Path) -> None:
    analysis = launches(60.0).analysis(tmp_path)
    assert gap_time(analysis).get("unattributed", 0) == 0
    assert gap_time(analysis).get("launch-bound", 0) > 0


@pytest.mark.parametrize("tells", ["operator", "frame"])
def test_a_process_that_recorded_more_keeps_its_own_usual_pause(tmp_path: Path, tells: str) -> None:
    program = launches(500.0)
    if tells == "operator":
        program.operator("aten::add", -50, 20)
    else:
        program.frame("torch/nn/modules/module.py(1500): _call_impl", -50, 20)
    assert gap_time(program.analysis(tmp_path))["launch-bound"] > 0


def test_what_is_a_little_longer_than_most_silences_is_dispatch(tmp_path: Path) -> None:
    """Operators that make no call lie between two that do; among long silences nothing is known."""
    program = Program()
    at = 0.0
    for number in range(60):
        at += 154 if number % 4 == 0 else 34
        program.kernel("my_kernel", at + 6, KERNEL_US, (at, 4))
    program.kernel("late", at + 306, KERNEL_US, (at + 304, 4))
    told = gap_time(program.analysis(tmp_path))
    assert told["unattributed"] == pytest.approx(300 - KERNEL_US, abs=20)
    assert told["launch-bound"] > 14 * 120
