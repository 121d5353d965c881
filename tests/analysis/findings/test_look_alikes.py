"""A finding says what this recording cannot tell from its cause, and what its gain rests on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.program import Program
from whichlayer.analysis import Analysis
from whichlayer.analysis.results import Finding

WORKERS = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"


def finding(analysis: Analysis, rule: str) -> Finding:
    return next(one for one in analysis.findings if one.rule == rule)


def says(found: Finding, words: str) -> bool:
    return any(words in line for line in found.evidence)


def late(operators: bool) -> Program:
    program = Program()
    for number in range(80):
        at = 60.0 * number
        if operators:
            program.operator("aten::mul", at - 20, 40)
        program.kernel("mul", at + 16, 10, (at + 8, 5))
    return program


def test_dispatch_of_calls_alone_is_trusted_less_and_says_what_else_it_may_be(
    tmp_path: Path,
) -> None:
    told = finding(late(operators=True).analysis(tmp_path), "launch-bound")
    alone = finding(late(operators=False).analysis(tmp_path), "launch-bound")
    assert (told.confidence, alone.confidence) == ("medium", "low")
    assert says(alone, "an optimizer's loop, a graph break or a compile")
    assert not says(told, "optimizer's loop")


@pytest.mark.parametrize(("step", "says_so"), [(False, True), (True, False)])
def test_dispatch_of_a_training_says_that_an_unnamed_optimizer_is_in_it(
    tmp_path: Path, step: bool, says_so: bool
) -> None:
    program = late(operators=True)
    program.operator("autograd::engine::evaluate_function: MulBackward0", 4700, 30)
    if step:
        program.annotation("Optimizer.step#SGD.step", 4740, 30)
    assert says(finding(program.analysis(tmp_path), "launch-bound"), "optimizer's loop") == says_so


@pytest.mark.parametrize(("collections", "says_so"), [(False, True), (True, False)])
def test_python_says_that_a_collection_would_look_the_same_where_none_is_recorded(
    tmp_path: Path, collections: bool, says_so: bool
) -> None:
    program = Program()
    program.kernel("first", 10, 20, (0, 5))
    program.frame("train.py(12): tokenize", 40, 5000)
    if collections:
        program.frame("Python GC", 6000, 10)
    program.kernel("second", 5060, 4000, (5050, 5))
    told = finding(program.analysis(tmp_path), "python-overhead")
    assert told.where.file == "train.py"
    assert says(told, "a pause of the collector looks the same") == says_so


@pytest.mark.parametrize(("workers", "says_so"), [(True, True), (False, False)])
def test_a_gain_that_needs_faster_workers_says_so(
    tmp_path: Path, workers: bool, says_so: bool
) -> None:
    program = Program()
    program.kernel("first", 10, 20, (0, 5))
    if workers:
        program.annotation(WORKERS, 40, 100)
    program.operator("aten::sort", 150, 5000)
    program.kernel("second", 5210, 4000, (5200, 5))
    told = finding(program.analysis(tmp_path), "cpu-operator")
    assert told.recoverable_ns
    assert says(told, "worker processes keep up") == says_so
