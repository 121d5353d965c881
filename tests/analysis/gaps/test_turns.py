"""Of calls alone, a thread that waits for another one of its process is told by their turns."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.program import AUTOGRAD, MAIN, Program, gap_time
from whichlayer.analysis.gaps.host import launching_lanes
from whichlayer.analysis.gaps.turns import taking_turns

CALLS = 12


def by_turns(rounds: int, calls: int) -> Program:
    """Two threads launch by turns, 40 µs apart; from one to the other it takes 80 µs."""
    program = Program()
    at = 0.0
    for _ in range(rounds):
        for thread in (MAIN, AUTOGRAD):
            for _ in range(calls):
                program.kernel("work", at + 10, 20, (at, 5), thread=thread)
                at += 40
            at += 40
    return program


def side_by_side() -> Program:
    """Two threads launch whenever they like, the first one in bursts 600 µs apart."""
    program = Program()
    for number in range(40):
        at = 40.0 * number
        program.kernel("other", at + 10, 20, (at, 5), thread=AUTOGRAD)
        if number % 16 == 0:
            program.kernel("mine", at + 21, 9, (at + 20, 5))
    return program


def test_a_thread_that_takes_turns_waited_for_the_other(tmp_path: Path) -> None:
    told = gap_time(by_turns(4, CALLS).analysis(tmp_path))
    assert told.get("unattributed", 0) == 0
    assert told["launch-bound"] > 4 * 2 * 50


def test_a_silence_of_both_is_still_not_known(tmp_path: Path) -> None:
    program = by_turns(4, CALLS)
    program.kernel("late", 10_010, 20, (10_000, 5))
    told = gap_time(program.analysis(tmp_path))
    assert told["unattributed"] == pytest.approx(10_000 - 4 * 2 * (CALLS + 1) * 40, abs=80)


@pytest.mark.parametrize(("made", "turns"), [(by_turns(4, CALLS), True), (side_by_side(), False)])
def test_threads_that_work_side_by_side_take_no_turns(
    tmp_path: Path, made: Program, turns: bool
) -> None:
    trace = made.trace(tmp_path)
    one, other = launching_lanes(trace)
    assert taking_turns(trace, one, other) == taking_turns(trace, other, one) == turns
