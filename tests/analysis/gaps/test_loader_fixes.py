"""Where the loader's thread pins the batch all the time, more workers are no fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.program import MAIN, Program

LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
PIN_LOOP = "torch/utils/data/_utils/pin_memory.py(30): do_one_step"


def fix_of(program: Program, folder: Path) -> str:
    findings = program.analysis(folder).findings
    return next(found.fix for found in findings if found.rule == "dataloader-wait")


def loaded(inner: str, length: float, *, operator: bool) -> Program:
    """A loop that waits for its loader, whose thread is in its own loop meanwhile."""
    program = Program()
    for n in range(3):
        begin = 10_000 * n
        program.step(n, begin, 9990)
        program.annotation(LOADER, begin + 1, 6000)
        program.frame(PIN_LOOP, begin + 5, 5900, thread=MAIN + 2)
        if operator:
            program.operator(inner, begin + 10, length, MAIN + 2)
        else:
            program.frame(inner, begin + 10, length, MAIN + 2)
        program.kernel("forward", begin + 6020, 3000, (begin + 6010, 5))
    return program


def test_pinning_that_fills_the_wait_is_what_to_change(tmp_path: Path) -> None:
    fix = fix_of(loaded("aten::pin_memory", 5800, operator=True), tmp_path)
    assert "pinning the batch takes the time" in fix
    assert "more workers," not in fix and "pin_memory=True" not in fix


@pytest.mark.parametrize(
    ("inner", "length", "operator"),
    [
        ("queue.py(171): get", 5800, False),
        ("aten::pin_memory", 300, True),
        ("<built-in function loads>", 5800, False),
    ],
)
def test_a_thread_that_waits_for_the_workers_leaves_their_fix(
    tmp_path: Path, inner: str, length: float, operator: bool
) -> None:
    assert "more workers" in fix_of(loaded(inner, length, operator=operator), tmp_path)
