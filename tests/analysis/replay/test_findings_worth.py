"""Findings are ranked by what removing them gains, and say what that figure means."""

from __future__ import annotations

from pathlib import Path

from tests.support.program import Program

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
    assert any("gains less than it takes" in line for line in comm.evidence)
    assert any("upper bound" in line for line in comm.evidence)
    assert not any("gains less" in line for line in findings["dataloader-wait"].evidence)


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
