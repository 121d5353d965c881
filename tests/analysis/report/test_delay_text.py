"""What a launch delay was is told of the delay in hand, not of delays in general."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from whichlayer.analysis import analyse, load
from whichlayer.analysis.report.delay_text import judged_delay
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.kinds import SliceKind

SAMPLES = Path(__file__).parents[3] / "sample_traces"
AHEAD, OVERHEAD = "costs nothing", "launch overhead"


@pytest.fixture(scope="module")
def decode() -> Analysis:
    return analyse(load(str(SAMPLES / "launch_bound_decode.json.gz")))


def _kernels(analysis: Analysis) -> tuple[np.ndarray, np.ndarray]:
    """Rows of kernels in the window whose launch is known, and their delays in ns."""
    trace, window = analysis.trace, analysis.window
    rows = np.flatnonzero((trace.kind == SliceKind.KERNEL) & (trace.launch >= 0))
    launched = trace.start_ns[trace.launch[rows]]
    inside = (launched >= window.start_ns) & (trace.start_ns[rows] <= window.end_ns)
    rows, launched = rows[inside], launched[inside]
    return rows, trace.start_ns[rows] - launched


def _worked_before(analysis: Analysis, row: int) -> bool:
    """Whether the GPU ran anything between the launch of some work and its start."""
    trace, activities = analysis.trace, analysis.activities
    low, high = trace.start_ns[trace.launch[row]], trace.start_ns[row]
    return bool(((activities.start_ns < high) & (activities.end_ns > low)).any())


def test_a_delay_into_an_empty_queue_is_overhead_never_good_news(decode: Analysis) -> None:
    rows, delays = _kernels(decode)
    alone = [int(row) for row in rows[np.argsort(delays)] if not _worked_before(decode, int(row))]
    assert len(alone) > 20
    told = [judged_delay(decode, row, 0) for row in alone[:20]]
    assert all(OVERHEAD in text and "GPU worked 0" in text for text in told)
    assert not any(AHEAD in text for text in told)


def test_work_behind_earlier_work_waited_its_turn(decode: Analysis) -> None:
    sample = analyse(load(str(SAMPLES / "healthy.json.gz")))
    rows, delays = _kernels(sample)
    text = judged_delay(sample, int(rows[int(delays.argmax())]), 9)
    assert AHEAD in text
    assert OVERHEAD not in text


def test_a_slow_call_is_told_by_its_cause(decode: Analysis) -> None:
    rows, delays = _kernels(decode)
    text = judged_delay(decode, int(rows[int(delays.argmax())]), 0)
    assert "module-load" in text
    assert AHEAD not in text


def test_what_has_no_recorded_launch_has_no_delay(decode: Analysis) -> None:
    host = int(np.flatnonzero(decode.trace.kind == SliceKind.CPU_OP)[0])
    assert judged_delay(decode, host, None) == ""


def test_the_parts_of_every_delay_add_up(decode: Analysis) -> None:
    rows, _ = _kernels(decode)
    for row in rows[::37].tolist():
        text = judged_delay(decode, row, 0)
        assert text.endswith(".")
        assert ("was idle 0." in text) or ("launch spacing" in text) or ("Idle by cause" in text)
