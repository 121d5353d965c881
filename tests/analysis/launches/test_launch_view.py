from __future__ import annotations

from pathlib import Path

from tests.support.program import Program
from whichlayer.analysis import Analysis
from whichlayer.analysis.launches.view import (
    RECORD_EARLIER,
    RECORD_LAUNCHES,
    DeviceLaunches,
    launch_views,
)
from whichlayer.analysis.report.text_launches import launch_lines

KERNEL = "ampere_sgemm_128x128_tn"


def view_of(analysis: Analysis) -> DeviceLaunches:
    (view,) = launch_views(analysis)
    return view


def test_delays_are_from_the_start_of_the_call_by_kind_of_call(tmp_path: Path) -> None:
    program = Program()
    for number, delay in enumerate((5.0, 6.0, 7.0, 50.0)):
        program.kernel(KERNEL, 100.0 * number + delay, 10.0, (100.0 * number, 3.0))
    program.copy("Memcpy HtoD (Pinned -> Device)", 420.0, 5.0, (400.0, 2.0))
    view = view_of(program.analysis(tmp_path))
    assert [(kind.name, kind.launches) for kind in view.kinds] == [
        ("cudaLaunchKernel", 4), ("cudaMemcpyAsync", 1),
    ]  # fmt: skip
    delays = view.kinds[0].delays
    assert (delays.median_ns, delays.p90_ns, delays.most_ns) == (6_000, 50_000, 50_000)
    assert view.kinds[1].delays.median_ns == 20_000
    assert view.into_empty == 5


def test_a_graph_launch_counts_once_until_its_last_kernel_has_ended(tmp_path: Path) -> None:
    program = Program()
    number = program.call("cudaGraphLaunch", 0.0, 4.0)
    for start in (10.0, 20.0, 30.0):
        program.kernel(KERNEL, start, 5.0, correlation=number)
    program.kernel(KERNEL, 40.0, 10.0, (30.0, 2.0))
    view = view_of(program.analysis(tmp_path))
    assert (view.launches, view.activities) == (2, 4)
    assert view.graphs is not None
    assert (view.graphs.launches, view.graphs.fewest, view.graphs.most) == (1, 3, 3)
    assert (view.depth_most, view.depth_median, view.empty_ns) == (2, 1, 0)


def test_launches_belong_to_the_step_that_made_them_however_late_they_run(tmp_path: Path) -> None:
    program = Program()
    for step in range(3):
        program.step(step, 100.0 * step, 90.0)
        for call in range(step + 1):
            at = 100.0 * step + 10.0 * call
            program.kernel(KERNEL, at + 150.0, 5.0, (at, 2.0))
    view = view_of(program.analysis(tmp_path))
    assert [(step.number, step.launches) for step in view.steps] == [(0, 1), (1, 2), (2, 3)]


def test_a_late_host_leaves_the_queue_empty_and_a_queued_kernel_does_not(tmp_path: Path) -> None:
    late, queued = Program(), Program()
    late.kernel(KERNEL, 0.0, 10.0, (0.0, 1.0))
    late.kernel(KERNEL, 100.0, 10.0, (95.0, 1.0))
    queued.kernel(KERNEL, 0.0, 10.0, (0.0, 1.0))
    queued.kernel(KERNEL, 100.0, 10.0, (5.0, 1.0))
    (tmp_path / "late").mkdir()
    (tmp_path / "queued").mkdir()
    assert view_of(late.analysis(tmp_path / "late")).starved_ns == 85_000
    assert view_of(queued.analysis(tmp_path / "queued")).starved_ns == 0


def test_without_launches_nothing_is_claimed_and_it_is_said_what_to_record(tmp_path: Path) -> None:
    program = Program()
    program.kernel(KERNEL, 0.0, 10.0)
    program.kernel(KERNEL, 100.0, 10.0)
    analysis = program.analysis(tmp_path)
    view = view_of(analysis)
    assert view.record == RECORD_LAUNCHES
    assert (view.depth_most, view.starved_ns, view.series) == (None, None, None)
    assert view.delays.median_ns is None
    assert launch_lines(analysis) == []


def test_work_whose_launch_is_missing_is_never_taken_for_an_empty_queue(tmp_path: Path) -> None:
    program = Program()
    program.kernel(KERNEL, 0.0, 10.0, (0.0, 1.0))
    program.kernel(KERNEL, 10.0, 80.0)
    program.kernel(KERNEL, 90.0, 10.0, (85.0, 1.0))
    analysis = program.analysis(tmp_path)
    view = view_of(analysis)
    assert (view.unlinked, view.record) == (1, RECORD_EARLIER)
    assert (view.empty_ns, view.starved_ns) == (75_000, 0)
    assert any("1 activities have no recorded launch" in line for line in launch_lines(analysis))
