"""The window and the figures of steps that something else than the profiler marks."""

from __future__ import annotations

from pathlib import Path

from tests.analysis.steps.test_step_figures import assert_adds_up, table_of
from tests.support.program import Program


def test_the_window_of_a_gpu_only_recording_is_its_marked_steps(tmp_path: Path) -> None:
    program = Program()
    program.kernel("before", 0, 50)
    for number in range(3):
        at = 100.0 + 100 * number
        program.slice("gpu_user_annotation", f"ProfilerStep#{number}", at, 80, pid=0, tid=7)
        program.kernel("a", at, 30)
        program.kernel("b", at + 50, 30)
    program.kernel("after", 500, 50)
    analysis = program.analysis(tmp_path)
    window = analysis.window
    assert (window.start_ns, window.end_ns) == (100_000, 380_000)
    assert window.reason == "3 steps marked on the GPU"
    rows = table_of(analysis).rows
    assert [row.spans for row in rows] == [
        ((100_000, 180_000),), ((180_000, 280_000),), ((280_000, 380_000),),
    ]  # fmt: skip
    assert [(row.kernels, row.launches, row.host_ns) for row in rows] == [(2, None, None)] * 3
    for row in rows:
        assert_adds_up(row)


def test_work_between_two_marks_of_an_engine_is_time_of_the_next_step(tmp_path: Path) -> None:
    program = Program()
    for number in range(3):
        at = 1000.0 * number
        program.annotation("execute_new_0_cached_8", at, 400)
        program.kernel("model", at + 100, 300, (at + 50, 5))
        program.kernel("sample", at + 500, 100, (at + 450, 5))
    analysis = program.analysis(tmp_path)
    assert analysis.window.reason == "first to last GPU activity"
    rows = table_of(analysis).rows
    assert [row.spans for row in rows] == [
        ((100_000, 400_000),), ((400_000, 1_400_000),), ((1_400_000, 2_400_000),),
    ]  # fmt: skip
    assert [row.kernels for row in rows] == [1, 1, 1]
    assert [row.compute_ns for row in rows] == [300_000, 400_000, 400_000]
