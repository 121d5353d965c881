"""Findings are ranked by what removing them gains, and say what that figure means."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.support.program import Program
from tests.support.replaying import base_replay
from whichlayer.analysis.findings.worth import gained
from whichlayer.analysis.gaps.blocking import blocking_copies
from whichlayer.analysis.gaps.catalogue import cause_code
from whichlayer.analysis.gaps.composite import Drivers
from whichlayer.analysis.gaps.host import Doing, Marks
from whichlayer.analysis.replay.engine import replay
from whichlayer.analysis.replay.host_time import HostTime
from whichlayer.analysis.replay.next_wait import next_wait
from whichlayer.analysis.replay.removal import nothing

LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def test_a_finding_that_gains_little_alone_says_so(tmp_path: Path) -> None:
    program = Program()
    program.kernel("compute", 10, 1000, (0, 5))
    # The collective ends while the host still loads: without it nothing comes earlier.
    program.kernel("ncclAllReduce", 1012, 1500, (6, 5), stream=20)
    program.annotation(LOADER, 20, 3000)
    program.kernel("after", 3036, 500, (3026, 5))
    analysis = program.analysis(tmp_path)
    findings = {finding.rule: finding for finding in analysis.findings}
    comm = findings["exposed-comm"]
    assert comm.recoverable_ns == 0
    assert any("dataloader-wait (" in line and "comes next" in line for line in comm.evidence)
    assert any("upper bound" in line for line in comm.evidence)
    loader = findings["dataloader-wait"]
    assert not any("comes next" in line for line in loader.evidence)
    assert (comm.confidence, loader.confidence) == ("low", "medium")


def test_a_little_gain_is_never_called_none(tmp_path: Path) -> None:
    program = Program()
    program.kernel("compute", 10, 1000, (0, 5))
    program.kernel("after", 3036, 500, (3026, 5))
    finding = replace(program.analysis(tmp_path).findings[0], rule="fp32-matmul")
    assert gained(16_230_000, finding) == "only 16.23 ms"
    assert gained(16_230_000, replace(finding, rule="launch-bound")) == "at most 16.23 ms"
    assert gained(0, finding) == "nothing"


def test_where_work_is_faster_but_launched_late_dispatch_comes_next(tmp_path: Path) -> None:
    program = Program()
    for i in range(60):  # of 20 µs each kernel runs for 16, and is launched as soon as can be
        program.operator("aten::add", 20 * i, 18)
        program.kernel("add", 20 * i + 16, 16, (20 * i + 8, 5))
    trace = program.analysis(tmp_path).trace
    schedule = base_replay(trace).schedule  # type: ignore[union-attr]
    whole = nothing(schedule)
    faster = replace(whole, duration_ns=whole.duration_ns // 4)
    marks = Marks(trace, blocking_copies(trace))
    window = 0, int(schedule.work.end_ns.max())
    host = HostTime(trace, Drivers(trace, marks), schedule, window)
    runs = replay(schedule, 0, whole), replay(schedule, 0, faster)
    assert int(runs[0].end_ns[-1] - runs[1].end_ns[-1]) < 20_000
    loader = cause_code("dataloader-wait")
    assert next_wait(schedule, host, *runs, [loader]) == Doing.DISPATCH


def loop_under_a_long_kernel(later_us: int) -> Program:
    """An optimizer's loop that the device hides nearly all of, and Python that it then does not."""
    program = Program()
    program.kernel("compute", 10, 1000, (0, 5))
    program.annotation("Optimizer.step#Adam.step", 6, 1404)
    program.frame("torch/optim/adam.py(392): _single_tensor_adam", 7, 1400)
    for i in range(56):
        launched = 10 + 25 * i
        program.operator("aten::mul_", launched - 2, 20)
        program.kernel("mul", max(launched + 8, 1012 + 3 * i), 2, (launched, 5))
    program.frame("train.py(7): log", 1412, 400)
    program.kernel("after", 1830, later_us, (1822, 5))
    return program


def test_what_takes_little_and_gains_much_is_a_finding(tmp_path: Path) -> None:
    analysis = loop_under_a_long_kernel(3500).analysis(tmp_path)
    loop = next(one for one in analysis.findings if one.rule == "optimizer-loop")
    assert 0.01 <= loop.share < 0.05
    assert (loop.recoverable_ns or 0) >= 0.05 * analysis.budget.total_ns


def test_what_takes_and_gains_little_is_none(tmp_path: Path) -> None:
    analysis = loop_under_a_long_kernel(12_000).analysis(tmp_path)
    assert "optimizer-loop" in analysis.gaps.rule_ids
    assert not [one for one in analysis.findings if one.rule == "optimizer-loop"]


def test_the_first_finding_is_the_one_that_gains_most_not_the_longest(tmp_path: Path) -> None:
    program = Program()
    program.kernel("compute", 10, 1000, (0, 5))
    program.kernel("ncclAllReduce", 1012, 1500, (6, 5), stream=20)
    program.annotation(LOADER, 20, 3000)
    program.kernel("after", 3036, 500, (3026, 5))
    analysis = program.analysis(tmp_path)
    assert [finding.rule for finding in analysis.findings][:2] == [
        "dataloader-wait",
        "exposed-comm",
    ]
    assert analysis.findings[0].time_ns < analysis.findings[1].time_ns


def mixed() -> Program:
    """Loading, and slow dispatch that hides behind it or behind the device."""
    program = Program()
    program.kernel("compute", 10, 1000, (0, 5))
    program.kernel("ncclAllReduce", 1012, 1500, (6, 5), stream=20)
    program.annotation(LOADER, 20, 3000)
    program.kernel("after", 3036, 500, (3026, 5))
    return program


def test_all_together_gain_no_less_than_the_best_alone(tmp_path: Path) -> None:
    analysis = mixed().analysis(tmp_path)
    single = [one.recoverable_ns for one in analysis.findings if one.recoverable_ns is not None]
    assert len(single) >= 2
    assert analysis.together_ns is not None
    assert analysis.together_ns > max(single)
    assert analysis.together_ns <= analysis.budget.total_ns


def test_one_finding_alone_has_no_sum(tmp_path: Path) -> None:
    program = Program()
    program.kernel("compute", 10, 1000, (0, 5))
    program.annotation(LOADER, 20, 3000)
    program.kernel("after", 3036, 500, (3026, 5))
    assert program.analysis(tmp_path).together_ns is None


def test_what_nobody_can_act_on_comes_after_what_takes_as_much(tmp_path: Path) -> None:
    program = mixed()
    program.kernel("later", 4640, 500, (4630, 5))  # nothing is recorded before its launch
    findings = {one.rule: one for one in program.analysis(tmp_path).findings}
    comm, unknown = findings["exposed-comm"], findings["unattributed"]
    assert (comm.recoverable_ns or 0) < unknown.time_ns < comm.time_ns
    assert list(findings).index("exposed-comm") < list(findings).index("unattributed")
