"""Windows are analysed beside the screen, whatever they hold."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from textual.message import Message

from tests.tui.live.live_screen import shot
from tests.tui.recording import build_analysis, build_trace
from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.options import Options
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.live.analyst import Analyst, ShotAnalysed

Told = queue.SimpleQueue[Message]


def reads(path: str) -> Trace:
    if "torn" in path:
        raise TraceError("the file ends\nearly")
    if "gone" in path:
        raise FileNotFoundError(2, "No such file or directory", path)
    if "odd" in path:
        raise ZeroDivisionError("of all things")
    return build_trace()


def analyses(trace: Trace, options: Options) -> Analysis:
    return build_analysis(trace)


@pytest.fixture
def told() -> Told:
    return queue.SimpleQueue()


@pytest.fixture
def analyst(told: Told) -> Iterator[Analyst]:
    analyst = Analyst(Options(), told.put, reads, analyses)
    yield analyst
    analyst.stop()


def results(told: Told, count: int) -> list[ShotAnalysed]:
    found: list[ShotAnalysed] = []
    while len(found) < count:
        message = told.get(timeout=60)
        if isinstance(message, ShotAnalysed):
            found.append(message)
    return found


def test_windows_are_analysed_in_the_order_that_is_wanted(analyst: Analyst, told: Told) -> None:
    analyst.want([shot(3), shot(1), shot(2)])
    analyst.start()
    found = results(told, 3)
    assert [one.shot.id for one in found] == [3, 1, 2]
    assert all(one.judged is not None and one.judged.side == "above-cuda" for one in found)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("torn", "the file ends early"),
        ("gone", "No such file or directory"),
        ("odd", "a defect of whichlayer: ZeroDivisionError: of all things"),
    ],
)
def test_one_that_cannot_be_read_says_why_and_the_next_is_analysed(
    analyst: Analyst, told: Told, name: str, error: str
) -> None:
    analyst.want([shot(1, name), shot(2)])
    analyst.start()
    bad, good = results(told, 2)
    assert (bad.error, bad.document) == (error, None)
    assert good.error == "" and good.document is not None


def test_a_real_window_is_ready_for_the_screen(told: Told) -> None:
    path = Path(__file__).parents[3] / "sample_traces" / "live" / "fixed.json.gz"
    analyst = Analyst(Options(), told.put)
    analyst.want([replace(shot(1), path=path)])
    analyst.start()
    (one,) = results(told, 1)
    assert one.judged is not None and one.judged.side == "healthy" and one.judged.busy_share
    assert one.document is not None and one.document.analysis is not None
    analyst.stop()
