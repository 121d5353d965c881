"""Marks of steps that are recorded twice, or at a time that cannot be true."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.steps.test_step_figures import assert_adds_up, table_of
from tests.support.program import AUTOGRAD, PID, Program

FAR_US = 1_000_000_000.0


def five_steps() -> Program:
    program = Program()
    for number in range(5):
        at = 100_000.0 * number
        program.step(number, at, 99_000)
        program.operator("aten::mm", at + 1, 50)
        program.kernel("work", at + 20, 90_000, (at + 10, 5))
    return program


@pytest.mark.parametrize("at", [FAR_US, -FAR_US])
def test_a_lone_mark_far_from_all_work_sets_no_window(tmp_path: Path, at: float) -> None:
    program = five_steps()
    for event in program.events:
        event["ts"] += 2 * FAR_US
    program.step(9, at + 2 * FAR_US, 99_000)
    analysis = program.analysis(tmp_path)
    assert len(analysis.window.steps) == 5
    assert analysis.window.end_ns - analysis.window.start_ns == 499_000_000
    assert any(w.code == "Q6" and "1 event lies far" in w.message for w in analysis.warnings)


def test_a_step_far_away_in_which_something_ran_is_a_step(tmp_path: Path) -> None:
    program = five_steps()
    program.step(5, FAR_US, 99_000)
    program.operator("aten::mm", FAR_US + 1, 50)
    program.kernel("work", FAR_US + 20, 90_000, (FAR_US + 10, 5))
    assert len(program.analysis(tmp_path).window.steps) == 6


def test_a_mark_after_a_pause_is_a_step(tmp_path: Path) -> None:
    program = five_steps()
    program.step(5, 3_000_000, 99_000)  # six lengths of the rest: validation may run on the CPU
    assert len(program.analysis(tmp_path).window.steps) == 6


@pytest.mark.parametrize("how", ["twice", "nested", "thread", "process", "gpu"])
def test_a_step_that_is_marked_twice_counts_once(tmp_path: Path, how: str) -> None:
    plain = five_steps().analysis(tmp_path)
    program = five_steps()
    extra = {"twice": {}, "nested": {}, "thread": {"tid": AUTOGRAD}, "process": {"pid": PID + 1},
             "gpu": {"pid": 0, "tid": 7}}[how]  # fmt: skip
    category = "gpu_user_annotation" if how == "gpu" else "user_annotation"
    inside = 10 if how == "nested" else 0
    for number in range(5):
        at = 100_000.0 * number + inside
        program.slice(category, f"ProfilerStep#{number}", at, 99_000 - 2 * inside, **extra)
    analysis = program.analysis(tmp_path)
    assert [step.number for step in analysis.window.steps] == list(range(5))
    ours, theirs = table_of(analysis), table_of(plain)
    assert ours.statistics == theirs.statistics
    for row, usual in zip(ours.rows, theirs.rows, strict=True):
        assert_adds_up(row)
        assert (row.total_ns, row.kernels, row.launches) == (
            usual.total_ns,
            usual.kernels,
            usual.launches,
        )


def test_numbers_that_begin_again_are_other_steps(tmp_path: Path) -> None:
    program = five_steps()
    program.step(0, 500_000, 99_000)
    program.kernel("work", 500_020, 90_000, (500_010, 5))
    assert len(program.analysis(tmp_path).window.steps) == 6
