"""A finding names the place that holds most of its time, with evidence from there."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.support.program import Program
from whichlayer.analysis.findings.places import main_place
from whichlayer.analysis.results import Finding

LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def finding_of(program: Program, folder: Path, rule: str) -> Finding:
    return next(one for one in program.analysis(folder).findings if one.rule == rule)


def test_many_short_pieces_of_one_operator_outweigh_the_longest_one(tmp_path: Path) -> None:
    program = Program()
    program.kernel("first", 10, 10, (0, 5))
    program.operator("aten::relu", 30, 300)
    program.call("hipFree", 40, 270)
    program.kernel("relu", 340, 10, (320, 5))
    for n in range(6):
        start = 400 + 200 * n
        program.operator("aten::convolution_backward", start, 150)
        program.call("hipFree", start + 5, 130)
        program.kernel("conv", start + 160, 30, (start + 140, 5))
    finding = finding_of(program, tmp_path, "allocator")
    assert finding.where.operator == "aten::convolution_backward"
    assert any("aten::convolution_backward" in line for line in finding.evidence)
    assert not any("relu" in line for line in finding.evidence)


def test_the_members_of_a_place_hold_its_time(tmp_path: Path) -> None:
    program = Program()
    program.operator("aten::a", 0, 10)
    program.operator("aten::b", 20, 10)
    program.operator("aten::b", 40, 10)
    trace = program.trace(tmp_path)
    rows = np.flatnonzero(trace.start_ns >= 0).astype(np.int64)
    place = main_place(trace, rows, np.array([50, 30, 40], np.int64)[: len(rows)])
    assert place.where.operator == "aten::b"
    assert place.time_ns == 70
    assert place.members.tolist() == [1, 2]


def stalls(lengths: list[int]) -> Program:
    """Steps that each wait for the loader."""
    program, start = Program(), 0
    for number, length in enumerate(lengths):
        program.step(number, start, length + 400)
        program.annotation(LOADER, start + 5, length)
        program.kernel("work", start + length + 30, 300, (start + length + 15, 5))
        start += length + 400
    return program


def test_a_finding_of_which_one_step_holds_most_says_so(tmp_path: Path) -> None:
    finding = finding_of(stalls([100, 100, 2000, 100, 100]), tmp_path, "dataloader-wait")
    told = [line for line in finding.evidence if "1 of 5 steps holds" in line]
    assert len(told) == 1
    assert told[0].endswith("step 2")


def test_a_finding_that_all_steps_share_does_not_name_one(tmp_path: Path) -> None:
    finding = finding_of(stalls([500] * 5), tmp_path, "dataloader-wait")
    assert not any("steps holds" in line for line in finding.evidence)
