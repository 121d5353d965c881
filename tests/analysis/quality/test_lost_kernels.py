"""Kernels lost while recording (Q2): which launches count, and what the doubt does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.program import AUTOGRAD, Program
from whichlayer.analysis import analyse, load
from whichlayer.analysis.errors import Severity, TraceWarning
from whichlayer.analysis.quality.lost_launches import _unmatched


def busy_steps(kernels: int = 30) -> Program:
    """Two steps whose host is late at every kernel: half of the window is idle."""
    program = Program()
    for number in range(2):
        at = 10_000 * number
        program.step(number, at, 9_990)
        for i in range(kernels):
            begin = at + 20 + 9_900 // kernels * i
            program.operator("aten::add", begin - 10, 100)
            program.kernel("a", begin, 120, (begin - 5, 4))
    return program


def lost(program: Program, folder: Path) -> list[TraceWarning]:
    return [w for w in program.analysis(folder).warnings if w.code == "Q2"]


def test_a_step_that_lost_kernels_is_told_with_its_share(tmp_path: Path) -> None:
    program = busy_steps()
    program.call("cudaLaunchKernel", 10_100, 5)
    (warning,) = lost(program, tmp_path)
    assert warning.severity == Severity.DOUBT and warning.count == 1
    assert "1 of 31 in ProfilerStep#1 (3.2 %, threshold 2 %)" in warning.message


def test_up_to_two_percent_of_a_step_says_nothing(tmp_path: Path) -> None:
    program = busy_steps(50)
    program.call("cudaLaunchKernel", 10_100, 5)
    assert lost(program, tmp_path) == []  # 1 of 51


def test_idle_time_is_marked_unreliable(tmp_path: Path) -> None:
    sound = busy_steps().analysis(tmp_path)
    program = busy_steps()
    program.call("cudaLaunchKernel", 10_100, 5)
    analysis = program.analysis(tmp_path)
    assert sound.verdict.caveat == "" and "idle figures are unreliable" in analysis.verdict.caveat
    assert analysis.verdict.side == sound.verdict.side == "above-cuda"
    for before, after in zip(sound.findings, analysis.findings, strict=True):
        assert (before.confidence, after.confidence) == ("high", "low"), before.rule
        assert any("idle figures are unreliable [Q2]" in line for line in after.evidence)


def test_a_file_that_is_cut_off_is_not_to_be_recorded_otherwise(tmp_path: Path) -> None:
    path = busy_steps().write(tmp_path)
    text = path.read_text()
    path.write_text(text[: text.rindex('"kernel"') - 20])
    (warning,) = (w for w in analyse(load(path)).warnings if w.code == "Q2")
    assert "missing from the file" in warning.message and "schedule" not in warning.message


@pytest.mark.parametrize("thread", [4242, AUTOGRAD])
def test_launches_into_a_captured_graph_have_no_kernels_of_their_own(
    tmp_path: Path, thread: int
) -> None:
    program = busy_steps()
    program.call("cudaStreamBeginCapture", 15_000, 5)
    for i in range(5):
        program.call("cudaLaunchKernel", 15_010 + 10 * i, 5, thread=thread)
    program.call("cudaStreamEndCapture", 15_100, 5)
    assert lost(program, tmp_path) == []
    program.call("cudaLaunchKernel", 15_110, 5, thread=thread)
    assert len(lost(program, tmp_path)) == 1


def test_a_capture_that_began_before_the_recording_is_one_too(tmp_path: Path) -> None:
    program = busy_steps()
    program.call("cudaLaunchKernel", 10, 5)
    program.call("cudaStreamEndCapture", 40, 5)
    assert lost(program, tmp_path) == []


def test_a_driver_call_inside_a_runtime_call_is_the_same_launch(tmp_path: Path) -> None:
    program = busy_steps()
    for i in range(5):
        program.call("cudaLaunchKernelExC", 15_000 + 20 * i, 10)
        program.kernel("b", 15_200 + 20 * i, 5, (15_002 + 20 * i, 4), call="cuLaunchKernelEx")
    assert lost(program, tmp_path) == []


@pytest.mark.parametrize("call", ["cudaMemsetAsync", "cudaLaunchHostFunc", "cudaEventRecord"])
def test_calls_that_need_no_kernel_say_nothing(tmp_path: Path, call: str) -> None:
    program = busy_steps()
    for i in range(5):
        program.call(call, 15_000 + 20 * i, 10)
    assert lost(program, tmp_path) == []


def test_kernels_that_are_there_unjoined_are_not_lost(tmp_path: Path) -> None:
    program = busy_steps()
    program.call("cudaLaunchKernel", 15_000, 10)
    program.kernel("orphan", 15_020, 5)
    assert lost(program, tmp_path) == []
    program.call("cudaLaunchKernel", 15_100, 10)
    assert len(lost(program, tmp_path)) == 1  # the orphan ran before this one


@pytest.mark.parametrize(("launch", "told"), [(5_000, True), (9_500, False)])
def test_without_steps_only_losses_before_the_end_count(
    tmp_path: Path, launch: int, told: bool
) -> None:
    program = Program()
    for i in range(30):
        program.kernel("a", 300 * i + 20, 280, (300 * i, 4))
    program.call("cudaLaunchKernel", launch, 4)
    assert bool(lost(program, tmp_path)) is told


def replays(sizes: list[int], ids: bool, *, names: str = "abcdefghij") -> Program:
    """A program that replays a graph once in each step; its kernels by size."""
    program = Program()
    for number, size in enumerate(sizes):
        at = 2_000 * number
        program.step(number, at, 1_990)
        correlation = program.call("cudaGraphLaunch", at + 5, 10)
        extra: dict[str, Any] = {"graph id": 7} if ids else {}
        for i in range(size):
            name = names[i % len(names)]
            begin = at + 20 + 100 * i
            program.kernel(name, begin, 99, correlation=correlation, **extra)
    return program


@pytest.mark.parametrize("ids", [True, False])
@pytest.mark.parametrize(("poorest", "told"), [(10, False), (8, False), (7, True)])
def test_replays_of_a_graph_that_differ_are_told(
    tmp_path: Path, poorest: int, told: bool, ids: bool
) -> None:
    found = lost(replays([10, poorest, 10], ids), tmp_path)
    assert bool(found) is told
    assert all("30 % apart, threshold 20 %" in w.message for w in found)


def test_another_mix_of_kernels_is_another_graph(tmp_path: Path) -> None:
    program = replays([10, 10], ids=False)
    correlation = program.call("cudaGraphLaunch", 4_005, 10)
    program.step(2, 4_000, 1_990)
    program.kernel("z", 4_020, 900, correlation=correlation)
    assert lost(program, tmp_path) == []


@given(
    st.lists(st.integers(0, 20), max_size=8).map(sorted),
    st.lists(st.integers(0, 20), max_size=8).map(sorted),
)
def test_as_few_launches_as_possible_stay_without_a_kernel(
    launches: list[int], orphans: list[int]
) -> None:
    left = list(orphans)
    missing = 0
    for launch in reversed(launches):
        later = [orphan for orphan in left if orphan >= launch]
        if later:
            left.remove(max(later))
        else:
            missing += 1
    found = _unmatched(np.array(launches, np.int64), np.array(orphans, np.int64))
    assert int(found.sum()) == missing
