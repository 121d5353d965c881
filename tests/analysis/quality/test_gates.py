"""Each gate of trust in a recording: where it warns and where it must not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.program import Program
from whichlayer.analysis import Options, analyse, load


def codes(program: Program, folder: Path) -> set[str]:
    return {warning.code for warning in program.analysis(folder).warnings}


def sound() -> Program:
    """Two steps of two kernels each: nothing to warn of."""
    program = Program()
    for number in range(2):
        at = 1000 * number
        program.step(number, at, 990)
        program.kernel("a", at + 10, 400, (at, 5))
        program.kernel("b", at + 412, 400, (at + 6, 5))
    return program


def test_a_sound_recording_has_no_warning(tmp_path: Path) -> None:
    assert codes(sound(), tmp_path) == set()


def test_calls_of_the_host_are_no_launches(tmp_path: Path) -> None:
    program = Program()
    program.call("cudaLaunchHostFunc", 0, 5)
    (warning,) = program.analysis(tmp_path).warnings
    assert warning.code == "Q1" and "CPU-only" in warning.message


def test_launches_without_kernels_are_a_capture_problem(tmp_path: Path) -> None:
    program = Program()
    program.call("cudaLaunchKernel", 0, 5)
    warnings = program.analysis(tmp_path).warnings
    assert [w.code for w in warnings] == ["Q1"]
    assert "launches but no kernels" in warnings[0].message


def test_a_recording_cut_before_its_kernels_does_not_claim_to_be_cpu_only(tmp_path: Path) -> None:
    program = Program()
    program.operator("aten::add", 0, 10)
    program.kernel("a", 20, 10, (1, 5))
    path = program.write(tmp_path)
    text = path.read_text()
    path.write_text(text[: text.index('"kernel"') - 20])
    warnings = analyse(load(path)).warnings
    assert {w.code for w in warnings} == {"truncated", "Q1"}
    assert not any("CPU-only" in w.message for w in warnings)


@pytest.mark.parametrize(("unlinked", "told"), [(0, False), (1, True)])
def test_missing_launches_are_told(tmp_path: Path, unlinked: int, told: bool) -> None:
    program = sound()
    for i in range(unlinked):
        program.kernel("orphan", 1850 + 10 * i, 5)
    assert ("Q3" in codes(program, tmp_path)) is told


def test_a_kernel_before_its_launch_is_clock_skew_and_widens_the_floor(tmp_path: Path) -> None:
    program = sound()
    program.kernel("early", 1850, 50, (1856, 5))
    analysis = program.analysis(tmp_path)
    assert "Q4" in {w.code for w in analysis.warnings}
    assert analysis.floor_ns[0] == 2_000 + 6_000 + 1_000


@pytest.mark.parametrize(("overlap", "told"), [(2, False), (20, True)])
def test_overlap_on_one_stream_is_told_above_clock_noise(
    tmp_path: Path, overlap: int, told: bool
) -> None:
    program = sound()
    program.kernel("c", 1812 - overlap, 100, (1020, 5))
    assert ("Q5" in codes(program, tmp_path)) is told


def test_a_kernel_inside_another_of_its_stream_is_an_overlap_of_its_own_length(
    tmp_path: Path,
) -> None:
    program = sound()
    program.kernel("inside", 1500, 4, (1100, 5))
    assert "Q5" not in codes(program, tmp_path)
    program.kernel("longer inside", 1600, 6, (1110, 5))
    (warning,) = (w for w in program.analysis(tmp_path).warnings if w.code == "Q5")
    assert warning.count == 1 and "up to 6.0 µs" in warning.message


def test_kernels_of_a_graph_are_not_missing_their_launches(tmp_path: Path) -> None:
    program = sound()
    for i in range(5):
        node: dict[str, Any] = {"graph id": 3}
        program.kernel("node", 1850 + 10 * i, 5, **node)
    assert "Q3" not in codes(program, tmp_path)


@pytest.mark.parametrize(("length", "told"), [(20, False), (600, True)])
def test_the_profilers_own_work_is_told_above_its_share(
    tmp_path: Path, length: int, told: bool
) -> None:
    program = sound()
    program.slice("overhead", "Buffer Flush", 100, length, pid=-1, tid=0)
    assert ("Q7" in codes(program, tmp_path)) is told


@pytest.mark.parametrize(("first", "told"), [(1000, False), (5000, True)])
def test_a_long_first_step_is_warm_up(tmp_path: Path, first: int, told: bool) -> None:
    program = Program()
    at = 0
    for number, length in enumerate((first, 1000, 1000)):
        program.step(number, at, length)
        program.kernel("work", at + 10, length - 20, (at + 2, 5))
        at += length
    assert ("Q8" in codes(program, tmp_path)) is told


@pytest.mark.parametrize(("steps", "told"), [(0, False), (1, True), (2, False)])
def test_a_single_step_makes_verdicts_hints(tmp_path: Path, steps: int, told: bool) -> None:
    program = Program()
    for number in range(steps):
        program.step(number, 1000 * number, 990)
    for number in range(max(steps, 1)):
        program.kernel("work", 1000 * number + 10, 900, (1000 * number + 2, 5))
    assert ("Q12" in codes(program, tmp_path)) is told


def test_a_single_step_chosen_of_many_is_a_single_step(tmp_path: Path) -> None:
    warnings = sound().analysis(tmp_path, Options(steps=(1, 1))).warnings
    assert [w.code for w in warnings] == ["Q12"]


@pytest.mark.parametrize(("at", "told"), [(-500, True), (500, False)])
def test_work_before_the_first_step_is_told_and_not_counted(
    tmp_path: Path, at: int, told: bool
) -> None:
    program = Program()
    program.operator("aten::add", 100, 5)
    program.kernel("early", 1_000 + at, 200, (980 + at, 5))
    for number in range(2):
        program.step(number, 1_000 * (1 + number), 990)
        program.kernel("a", 1_000 * (1 + number) + 10, 400, (1_000 * (1 + number), 5))
    analysis = program.analysis(tmp_path)
    assert ("Q8" in {w.code for w in analysis.warnings}) is told
    assert analysis.window.start_ns == analysis.trace.steps[0].start_ns


def test_the_wait_of_the_profiler_after_the_last_step_is_no_finding(tmp_path: Path) -> None:
    before = sound().analysis(tmp_path)
    program = sound()
    program.call("cudaDeviceSynchronize", 1_991, 50_000)
    after = program.analysis(tmp_path)
    assert after.window.end_ns == before.window.end_ns == 1_990_000
    assert after.findings == before.findings and after.budget == before.budget


def test_the_wait_of_the_profiler_after_the_last_kernel_is_no_finding(tmp_path: Path) -> None:
    program = Program()
    program.kernel("a", 10, 400, (0, 5))
    program.kernel("b", 412, 400, (6, 5))
    program.call("cudaDeviceSynchronize", 20, 50_000)
    analysis = program.analysis(tmp_path)
    assert analysis.window.end_ns == analysis.devices[0].end_ns
    assert not analysis.findings


ROCM = {"name": "AMD Instinct MI300X", "totalGlobalMem": 206_000_000_000, "warpSize": 64,
        "numSms": 304, "computeMajor": 9, "computeMinor": 4}  # fmt: skip


@pytest.mark.parametrize(
    ("listed", "device", "said"),
    [
        ([{"id": 0} | ROCM], 0, ""),
        ([{"id": 0} | ROCM], 2, "all of those are alike"),
        ([{"id": 0} | ROCM, {"id": 1} | ROCM | {"numSms": 104}], 9, "those differ"),
        ([{"id": 0} | ROCM | {"name": ""}], 0, "has no name"),
        ([], 3, ""),
    ],
)
def test_a_device_that_the_file_does_not_describe_is_told(
    tmp_path: Path, listed: list[dict[str, object]], device: int, said: str
) -> None:
    program = Program(properties=list(listed))
    for number in range(2):
        at = 1000 * number
        program.step(number, at, 990)
        program.kernel("a", at + 10, 900, (at, 5), device=device)
    found = [w.message for w in program.analysis(tmp_path).warnings if w.code == "Q13"]
    assert len(found) == bool(said)
    assert all(said in message and "cuda:" not in message for message in found)
