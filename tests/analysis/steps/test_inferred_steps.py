"""Steps that nothing marks: what shows them, what must not, and what they leave alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.steps.test_step_figures import assert_adds_up, table_of, training
from tests.support.program import Program
from whichlayer.analysis import Options, analyse
from whichlayer.analysis.steps.find import steps_of
from whichlayer.analysis.steps.from_launches import by_period
from whichlayer.analysis.trace.columns import StepSource


def launches(program: Program, names: Sequence[str], at: float = 0.0, every: float = 10.0) -> float:
    """Kernels one after the other; ``copy`` is one to the host. Returns when the last ends."""
    for name in names:
        if name == "copy":
            program.copy("Memcpy DtoH (Device -> Pageable)", at + 3, 4, (at, 2))
        else:
            program.kernel(name, at + 3, 4, (at, 2))
        at += every
    return at


STEP = ["embed", *["attention", "mlp", "norm"] * 4, "head", "copy"]


def test_a_sequence_that_repeats_with_a_copy_in_it_is_steps(tmp_path: Path) -> None:
    program = Program()
    at = 0.0
    for _ in range(6):
        at = launches(program, STEP, at) + 100  # the pause between two steps
    trace = program.trace(tmp_path)
    found = steps_of(trace)
    assert found.source is StepSource.INFERRED
    assert found.inferred and found.record
    assert [step.number for step in found.steps] == [1, 2, 3, 4, 5, 6]
    period = round((10 * len(STEP) + 100) * 1000)
    assert [step.start_ns for step in found.steps] == [i * period for i in range(6)]


def test_layers_of_one_forward_pass_are_no_steps(tmp_path: Path) -> None:
    program = Program()
    launches(program, ["embed", *["q", "k", "v", "attention", "mlp", "norm"] * 12, "head", "copy"])
    found = steps_of(program.trace(tmp_path))
    assert found.steps == ()
    assert found.source is None
    assert found.record


def test_layers_that_wait_for_the_device_are_no_steps_where_whole_steps_are_there(
    tmp_path: Path,
) -> None:
    layer = ["gate", "copy", "expert", "norm"]
    program = Program()
    at = 0.0
    for _ in range(5):
        at = launches(program, ["embed", "mask", "rope", *layer * 8, "head", "sample"], at) + 50
    assert len(steps_of(program.trace(tmp_path)).steps) == 5


def test_a_log_line_in_one_step_of_many_hides_no_steps(tmp_path: Path) -> None:
    body = ["embed", *["attention", "mlp", "norm"] * 12, "head", "copy"]
    program = Program()
    at = 0.0
    for number in range(12):
        at = launches(program, [*body, "copy"] if number == 7 else body, at) + 100
    assert len(steps_of(program.trace(tmp_path)).steps) in (11, 12)


def test_one_kernel_in_a_loop_is_no_step(tmp_path: Path) -> None:
    program = Program()
    launches(program, ["gemm"] * 40)
    assert steps_of(program.trace(tmp_path)).steps == ()


def test_what_lies_inside_one_module_is_a_part_of_a_step(tmp_path: Path) -> None:
    program = Program()
    end = 0.0
    for _ in range(6):
        end = launches(program, STEP, end) + 100
    assert by_period(program.trace(tmp_path)) is not None
    program.frame("nn.Module: Model_0", -1, end + 2)
    assert by_period(program.trace(tmp_path)) is None


def test_layers_of_one_graph_launch_are_no_steps(tmp_path: Path) -> None:
    program = Program()
    program.call("cudaGraphLaunch", 0, 50, correlation=7)
    at = 100.0
    for _ in range(12):
        for name in ("attention", "mlp", "norm", "SGD", "reduce"):
            program.kernel(name, at, 8, correlation=7)
            at += 10
    assert steps_of(program.trace(tmp_path)).steps == ()


def test_optimiser_steps_end_the_steps_of_a_training_loop(tmp_path: Path) -> None:
    program = Program()
    training(program, 4, marked=False)
    found = steps_of(program.trace(tmp_path))
    assert "optimiser" in found.how
    assert [step.end_ns for step in found.steps] == [900_000 + i * 1_000_000 for i in range(4)]


def test_two_optimisers_that_take_turns_make_one_step(tmp_path: Path) -> None:
    program = Program()
    for number in range(8):
        at = number * 1000.0
        launches(program, ["discriminate"] * 4 if number % 2 else ["generate"] * 20, at)
        program.annotation("Optimizer.step#Adam.step", at + 900, 50)
    found = steps_of(program.trace(tmp_path))
    assert len(found.steps) == 4
    assert {step.end_ns - step.start_ns for step in found.steps[1:]} == {2_000_000}


def test_an_annotation_of_the_program_that_is_called_a_step_is_one(tmp_path: Path) -> None:
    program = Program()
    for number in range(3):
        program.annotation(f"train_step {number}", number * 100, 90)
        launches(program, ["a", "b"], number * 100 + 10)
    found = steps_of(program.trace(tmp_path))
    assert [step.start_ns for step in found.steps] == [0, 100_000, 200_000]
    assert "train_step" in found.how


def test_inferred_steps_leave_window_and_verdict_alone(tmp_path: Path) -> None:
    program = Program()
    training(program, 5, marked=False)
    analysis = program.analysis(tmp_path)
    assert analysis.window.reason == "first to last GPU activity"
    assert analysis.window.steps == ()
    assert analysis.trace.steps == ()
    rows = table_of(analysis).rows
    assert len(rows) == 5
    for row in rows:
        assert_adds_up(row)
    assert {one.confidence for one in analysis.findings} <= {"medium", "low"}


def test_inferred_steps_can_be_asked_for_and_say_so(tmp_path: Path) -> None:
    program = Program()
    training(program, 5, marked=False)
    analysis = analyse(program.trace(tmp_path), Options(steps=(2, 3)))
    assert analysis.window.reason == "inferred steps 2 to 3"
    assert [row.step.number for row in table_of(analysis).rows] == [2, 3]
    assert all(row.whole for row in table_of(analysis).rows)


@pytest.mark.parametrize("linked", [True, False])
def test_a_recording_of_nothing_but_the_gpu_shows_steps_as_well(
    tmp_path: Path, linked: bool
) -> None:
    program = Program()
    at = 0.0
    for _ in range(5):
        at = launches(program, STEP, at) + 200
    if not linked:
        program.events = [e for e in program.events if e["cat"] != "cuda_runtime"]
    analysis = program.analysis(tmp_path)
    rows = table_of(analysis).rows
    assert len(rows) == 5
    assert [row.kernels for row in rows] == [len(STEP)] * 5
    assert all((row.launches is not None) == linked for row in rows)
    for row in rows:
        assert_adds_up(row)


@given(
    st.lists(st.sampled_from("abcdefgh"), min_size=4, max_size=12),
    st.integers(4, 9),
    st.integers(0, 20),
)
def test_whatever_repeats_is_cut_into_equal_steps(
    tmp_path_factory: pytest.TempPathFactory, body: list[str], times: int, cut: int
) -> None:
    step = ["copy", *body]
    program = Program()
    launches(program, (step * times)[cut % len(step) :])
    trace = program.trace(tmp_path_factory.mktemp("repeats"))
    found = by_period(trace)
    if found is None:
        return
    lengths = np.array([one.end_ns - one.start_ns for one in found.steps])
    # The step itself or, where that is made of equal halves, one of them.
    assert (len(step) * 10_000) % int(np.median(lengths)) == 0
    assert all(a.end_ns == b.start_ns for a, b in zip(found.steps, found.steps[1:], strict=False))
