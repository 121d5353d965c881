"""The first line says what the verdict is mostly about."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.tui.recording import build_analysis, build_trace
from tests.tui.screen import screen_of, text_of
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.main_cause import main_cause, said_in

KNOWN = build_analysis(build_trace())


def test_the_finding_that_takes_the_most_time_is_the_cause() -> None:
    long, short = main_cause(KNOWN)
    largest = max(KNOWN.findings, key=lambda one: one.time_ns)
    assert short == f"mostly {largest.rule}" and long == f"{short}: {largest.title}"
    other = replace(largest, time_ns=1)
    assert main_cause(replace(KNOWN, findings=(other,)))[1] == f"largest: {largest.rule}"
    for verdict in (replace(KNOWN.verdict, side="unclear"), replace(KNOWN.verdict, withheld="x")):
        assert main_cause(replace(KNOWN, verdict=verdict)) == ("", "")
    assert main_cause(replace(KNOWN, findings=())) == ("", "")


@given(st.integers(0, 200), st.lists(st.text("ab .%", min_size=1, max_size=60), min_size=1))
def test_it_never_takes_more_room_than_there_is(room: int, texts: list[str]) -> None:
    assert cell_len(said_in(room, texts, KNOWN)) <= max(room, 0)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
async def test_cause_and_owner_stay_in_small_terminals(
    size: tuple[int, int], trace: Trace, analysis: Analysis
) -> None:
    hint = replace(analysis.verdict, caveat="from a single step, a hint")
    async with screen_of(trace, replace(analysis, verdict=hint), size) as (app, _):
        line = text_of(app, "verdict")[0]
        assert (
            "ABOVE CUDA?" in line
            and "mostly dataloader-wait" in line.lower()
            and " R  40.0 %" in line
        )
        assert ("?: from a single step" in line) == (size[0] == 200)
