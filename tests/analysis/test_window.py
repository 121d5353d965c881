"""Which stretch of a recording is analysed where a span is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.program import Program
from whichlayer.analysis import Options, analyse
from whichlayer.analysis.trace.columns import Trace


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    """A recording of 1 ms."""
    program = Program()
    program.operator("aten::mm", 0, 1000)
    program.kernel("gemm", 200, 600, (100, 5))
    return program.trace(tmp_path)


def test_a_span_within_the_recording_is_the_window(trace: Trace) -> None:
    window = analyse(trace, Options(span_ns=(100_000, 900_000))).window
    assert (window.start_ns, window.end_ns, window.reason) == (
        100_000, 900_000, "the span asked for",
    )  # fmt: skip


def test_a_span_that_goes_on_behind_the_recording_ends_with_it(trace: Trace) -> None:
    window = analyse(trace, Options(span_ns=(100_000, 900_000_000))).window
    assert (window.start_ns, window.end_ns) == (100_000, 1_000_000)
    assert window.reason == "the span asked for, as far as it was recorded"


@pytest.mark.parametrize("span", [(1_000_000, 2_000_000), (5_000_000, 6_000_000), (500, 500)])
def test_a_span_without_anything_recorded_is_refused(trace: Trace, span: tuple[int, int]) -> None:
    with pytest.raises(
        ValueError, match=r"holds nothing of the recording, which ends at 1000\.000"
    ):
        analyse(trace, Options(span_ns=span))
