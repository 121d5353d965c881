"""Pauses between operators: whose Python runs in them, and when a pause is no dispatch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.program import Program, gap_time

EVERY = 740.0


def paused(length: float, during: Callable[[Program, float], None]) -> Program:
    """A loop that pauses so long between each operator's launch and the next."""
    program = Program()
    for number in range(40):
        at = EVERY * number
        during(program, at)
        program.operator("aten::mul", at + length, 20)
        program.kernel("mul", at + length + 12, 15, (at + length + 8, 5))
    return program


def nothing(program: Program, at: float) -> None:
    """No stacks were recorded."""


def users(program: Program, at: float) -> None:
    program.frame("model.py(33): postprocess", at + 5, 690)
    program.frame("<built-in method sorted>", at + 200, 100)


def torchs(program: Program, at: float) -> None:
    program.frame("torch/nn/modules/module.py(1500): _call_impl", at + 5, 690)


def users_in_crumbs(program: Program, at: float) -> None:
    program.frame("train.py(9): loop", at, EVERY - 1)
    for number in range(30):
        program.frame("<built-in method append>", at + 5 + 20 * number, 10)


def users_briefly(program: Program, at: float) -> None:
    torchs(program, at)
    program.frame("model.py(40): hook", at + 300, 80)


@pytest.mark.parametrize(
    ("during", "cause"),
    [
        (users, "python-overhead"),
        (users_in_crumbs, "python-overhead"),
        (torchs, "launch-bound"),
        (users_briefly, "launch-bound"),
    ],
)
def test_recorded_python_of_the_user_is_never_an_ordinary_pause(
    tmp_path: Path, during: Callable[[Program, float], None], cause: str
) -> None:
    told = gap_time(paused(700, during).analysis(tmp_path))
    assert told[cause] > 0.6 * sum(told.values())
    assert told.get({"python-overhead": "launch-bound"}.get(cause, "python-overhead"), 0) < 1500


def test_a_pause_that_comes_often_is_not_made_usual_by_that(tmp_path: Path) -> None:
    """One in five is long: without stacks nobody knows why, and it is not dispatch."""
    program = Program()
    at = 0.0
    for number in range(100):
        at += 700 if number % 5 == 0 else 30
        program.operator("aten::mul", at, 20)
        program.kernel("mul", at + 12, 15, (at + 8, 5))
        at += 20
    told = gap_time(program.analysis(tmp_path))
    assert told["unattributed"] > 0.7 * 19 * 650


def test_operators_that_launch_nothing_for_long_are_not_dispatch(tmp_path: Path) -> None:
    program = Program()
    program.operator("aten::mul", 0, 20)
    program.kernel("mul", 12, 15, (8, 5))
    for number in range(200):
        program.operator("aten::empty_strided", 100 * number + 100, 5)
    program.operator("aten::mul", 20_200, 20)
    program.kernel("mul", 20_212, 15, (20_208, 5))
    told = gap_time(program.analysis(tmp_path))
    assert told["unattributed"] > 18_000 and told.get("launch-bound", 0) < 2000


@pytest.mark.parametrize(("every_step", "cause"), [(False, "warm-up"), (True, "module-load")])
def test_loading_in_the_first_step_alone_is_warm_up(
    tmp_path: Path, every_step: bool, cause: str
) -> None:
    program = Program()
    for number in range(4):
        at = 9000 * number
        program.step(number, at, 8990)
        if number == 0 or every_step:
            program.call("cuModuleLoadData", at + 10, 4000)
        program.kernel("work", at + 4040, 3000, (at + 4030, 5))
    told = gap_time(program.analysis(tmp_path))
    assert told[cause] >= 3900
    assert {"warm-up", "module-load"} - {cause} - told.keys()


def test_making_a_graph_is_capture(tmp_path: Path) -> None:
    program = Program()
    program.kernel("work", 10, 20, (0, 5))
    program.call("hipGraphInstantiateWithFlags", 100, 820)
    program.kernel("work", 1000, 20, (990, 5))
    assert gap_time(program.analysis(tmp_path))["graph-capture"] == 820
