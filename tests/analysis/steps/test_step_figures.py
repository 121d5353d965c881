"""Each step's figures: they add up, agree with the budget, and hold on whatever was recorded."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.support.program import AUTOGRAD, Program
from tests.support.random_program import random_program
from whichlayer.analysis import Analysis, Options, analyse
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.steps.model import Phase, StepFigures, StepTable


def table_of(analysis: Analysis) -> StepTable:
    assert analysis.steps is not None
    return analysis.steps


def assert_adds_up(row: StepFigures) -> None:
    assert row.busy_ns + row.idle_ns == row.total_ns
    assert row.compute_ns + row.exposed_comm_ns + row.exposed_copy_ns == row.busy_ns
    assert row.owner_ns <= row.lost_ns
    for sums, total in ((row.host_phases, row.host_ns), (row.device_phases, row.total_ns)):
        if sums is not None:
            assert set(sums) == set(Phase)
            assert sum(sums.values()) == total
            assert min(sums.values()) >= 0
    if row.whole:
        assert row.total_ns == sum(end - start for start, end in row.spans)


def training(program: Program, steps: int, slow: int = -1, marked: bool = True) -> None:
    """Steps of 1000 µs: a loader call, forward, backward on its own thread, the optimiser."""
    at = 0.0
    for number in range(steps):
        load = 1500.0 if number == slow else 100.0
        length = load + 900
        if marked:
            program.step(number + 3, at, length)
        program.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at, load)
        at += load
        program.operator("aten::linear", at, 200)
        program.kernel("gemm_forward", at + 50, 100, (at + 10, 5))
        program.operator(
            "autograd::engine::evaluate_function: AddmmBackward0", at + 250, 300, AUTOGRAD
        )
        program.kernel("gemm_backward", at + 300, 200, (at + 260, 5), thread=AUTOGRAD)
        program.annotation("Optimizer.step#SGD.step", at + 600, 200)
        program.kernel("multi_tensor_apply", at + 700, 50, (at + 650, 5))
        at += 900


def test_figures_of_random_recordings_add_up_and_agree_with_the_budget(tmp_path: Path) -> None:
    sources: Counter[str] = Counter()
    for seed in range(60):
        trace = random_program(seed).trace(tmp_path)
        span = (0, trace.duration_ns // 2) if seed % 5 == 4 and trace.duration_ns > 3 else None
        analysis = analyse(trace, Options(span_ns=span))
        steps = table_of(analysis)
        for row in steps.rows:
            assert_adds_up(row)
        sources[str(steps.found.source)] += bool(steps.rows)
        if analysis.window.steps:
            assert [row.step for row in steps.rows] == list(analysis.window.steps)
            for row, budget in zip(steps.rows, analysis.budget_by_step, strict=True):
                assert row.total_ns == budget.total_ns - budget.edge_ns
                lost = sum(budget.lost_to(layer) for layer in Layer if layer != Layer.NONE)
                assert row.lost_ns == lost
    assert {"profiler", "gpu-annotation", "vllm", "sglang"} <= {k for k, n in sources.items() if n}


def test_a_step_is_split_into_what_its_threads_did(tmp_path: Path) -> None:
    program = Program()
    training(program, 3)
    row = table_of(program.analysis(tmp_path)).rows[1]
    assert row.host_phases == {
        Phase.INPUT: 100_000, Phase.FORWARD: 250_000, Phase.BACKWARD: 300_000,
        Phase.OPTIMIZER: 200_000, Phase.OTHER: 150_000,
    }  # fmt: skip
    # On the device from the last kernel of the step before to its own last, by what was launched.
    assert row.device_phases == {
        Phase.INPUT: 0, Phase.FORWARD: 400_000, Phase.BACKWARD: 350_000,
        Phase.OPTIMIZER: 250_000, Phase.OTHER: 0,
    }  # fmt: skip
    assert (row.kernels, row.launches, row.duration_ns) == (3, 3, 1_000_000)


def test_without_anything_that_tells_phases_they_are_null_and_say_what_to_record(
    tmp_path: Path,
) -> None:
    program = Program()
    for number in range(3):
        program.step(number, number * 100, 100)
        program.kernel("k", number * 100 + 20, 50, (number * 100 + 10, 5))
    steps = table_of(program.analysis(tmp_path))
    assert all(row.host_phases is None and row.device_phases is None for row in steps.rows)
    assert "record_function" in steps.phases_record


def test_activation_checkpointing_is_part_of_the_backward_pass(tmp_path: Path) -> None:
    program = Program()
    program.step(1, 0, 1000)
    program.frame("nn.Module: Linear_0", 0, 400)
    program.operator("autograd::engine::evaluate_function: CheckpointBackward", 500, 400, AUTOGRAD)
    program.frame("nn.Module: Linear_0", 550, 200, AUTOGRAD)
    program.kernel("k", 600, 50, (560, 5), thread=AUTOGRAD)
    (row,) = table_of(program.analysis(tmp_path)).rows
    assert row.host_phases is not None
    assert (row.host_phases[Phase.FORWARD], row.host_phases[Phase.BACKWARD]) == (400_000, 400_000)


def test_functions_tell_phases_by_their_names_on_the_thread_of_the_steps_alone(
    tmp_path: Path,
) -> None:
    program = Program()
    program.step(1, 0, 1000)
    program.frame("pipelines/base.py(1173): _ensure_tensor_on_device", 0, 300)
    program.frame("pipelines/base.py(1266): forward", 400, 500)
    program.frame("loader.py(9): preprocess", 400, 500, AUTOGRAD)  # meanwhile, in another thread
    program.kernel("k", 600, 50, (560, 5))
    (row,) = table_of(program.analysis(tmp_path)).rows
    assert row.host_phases is not None
    assert row.host_phases[Phase.INPUT] == 300_000
    assert row.host_phases[Phase.FORWARD] == 500_000


def test_the_long_step_is_told_with_the_cause_that_grew(tmp_path: Path) -> None:
    program = Program()
    training(program, 8, slow=5)
    steps = table_of(program.analysis(tmp_path))
    assert steps.statistics is not None
    assert steps.statistics.median_ns == 1_000_000
    (outlier,) = steps.outliers
    assert steps.rows[outlier.index].step.number == 8
    assert outlier.over_ns == 1_400_000
    assert [(one.kind, one.name) for one in outlier.growths] == [("cause", "dataloader-wait")]
    assert outlier.growths[0].grown_ns == pytest.approx(1_400_000, rel=0.1)


def test_a_long_first_step_is_warm_up_and_left_out_of_the_statistics(tmp_path: Path) -> None:
    program = Program()
    training(program, 5, slow=0)
    steps = table_of(program.analysis(tmp_path))
    assert [row.warm_up for row in steps.rows] == [True, False, False, False, False]
    assert steps.statistics is not None
    assert (steps.statistics.steps, steps.statistics.longest_ns) == (4, 1_000_000)
    assert steps.outliers[0].index == 0


def test_equal_steps_have_no_outlier(tmp_path: Path) -> None:
    program = Program()
    training(program, 6)
    steps = table_of(program.analysis(tmp_path))
    assert steps.outliers == ()
    assert not any(row.warm_up for row in steps.rows)


def test_steps_of_a_recording_without_a_gpu_last_as_long_as_on_their_thread(
    tmp_path: Path,
) -> None:
    program = Program()
    for number in range(3):
        program.step(number, number * 100, 90)
        program.operator("aten::mm", number * 100, 50)
    steps = table_of(program.analysis(tmp_path))
    assert [row.duration_ns for row in steps.rows] == [90_000] * 3
    assert steps.rows[0].spans == ()
