"""Which annotations of serving engines are steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.program import Program
from whichlayer.analysis.steps.find import steps_of
from whichlayer.analysis.trace.columns import Step, StepSource

VLLM = (
    "execute_context_1(888_788544)_generation_0(0)",
    "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)",
    "execute_new_2_cached_6",
    "execute_model",
    "execute_diffusion_1_256x256",
)
SGLANG = ("step[DECODE bs=32]", "step[EXTEND bs=1 toks=512]")
OTHERS = ("execute_query", "execute_models", "execute", "execute_context", "step[", "steps[a")


def steps(folder: Path, notes: list[tuple[str, float, float]]) -> tuple[Step, ...]:
    """Steps of annotations of (name, start, length)."""
    program = Program()
    for note in notes:
        program.annotation(*note)
    return steps_of(program.trace(folder)).steps


@pytest.mark.parametrize("name", [*VLLM, *SGLANG])
def test_serving_engines_mark_steps_by_their_own_names(tmp_path: Path, name: str) -> None:
    source = StepSource.SGLANG if name in SGLANG else StepSource.VLLM
    assert [step.source for step in steps(tmp_path, [(name, 0, 5)])] == [source]


@pytest.mark.parametrize("name", OTHERS)
def test_other_names_that_begin_so_are_no_steps(tmp_path: Path, name: str) -> None:
    assert steps(tmp_path, [(name, 0, 5)]) == ()


def test_of_marks_in_one_another_the_outermost_is_the_step(tmp_path: Path) -> None:
    outer, inner = "execute_32_context_0(0)_generation_32(9)", "step[DECODE bs=32]"
    found = steps(tmp_path, [(outer, 0, 5), (inner, 1, 3), (outer, 10, 5), (inner, 11, 3)])
    assert [(step.number, step.start_ns) for step in found] == [(1, 0), (2, 10_000)]
    assert {step.source for step in found} == {StepSource.SGLANG}


def test_steps_of_the_profiler_come_before_those_of_an_engine(tmp_path: Path) -> None:
    found = steps(tmp_path, [("ProfilerStep#3", 0, 5), ("execute_model", 1, 3)])
    assert [step.source for step in found] == [StepSource.PROFILER]
