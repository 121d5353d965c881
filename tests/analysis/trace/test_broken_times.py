"""Which times are proven wrong, and which are only far from all others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.program import Program
from whichlayer.analysis import analyse, load
from whichlayer.analysis.errors import Severity
from whichlayer.analysis.results import Analysis

MS = 1000
SECOND = 1_000_000
#: All of the others last so long, in microseconds.
SPAN = 40 * MS


def program(*, odd: dict[str, float] | None = None, at: int = 50, kernels: int = 100) -> Program:
    """Kernels every 0.4 ms on one stream; one of them has another time."""
    made = Program()
    for n in range(kernels):
        start, length, launch = 5 * SECOND + 400.0 * n, 50.0, 5 * SECOND + 400.0 * n - 20
        if n == at and odd is not None:
            start = odd.get("start", start)
            length = odd.get("length", length)
            launch = odd.get("launch", launch)
        made.kernel("odd" if n == at else "k", start, length, (launch, 5))
    return made


def told(made: Program, folder: Path) -> Analysis:
    return analyse(load(made.write(folder)))


@pytest.mark.parametrize(
    "odd",
    [
        {"start": 105 * SECOND},
        {"start": 0.0},
        {"start": SECOND},
        {"length": 100.0 * SECOND},
        {"launch": 0.0},
        {"launch": 90.0 * SECOND},
    ],
    ids=["late", "zero", "early", "long", "launch at zero", "launch late"],
)
def test_what_breaks_the_order_of_launches_by_far_is_left_out(
    tmp_path: Path, odd: dict[str, float]
) -> None:
    sound, analysis = told(program(), tmp_path), told(program(odd=odd), tmp_path)
    trace = analysis.trace
    (row,) = (n for n in range(len(trace)) if trace.stray[n])
    (warning,) = (one for one in analysis.warnings if one.code == "Q6")
    assert warning.count == 1
    text = Path(trace.path).read_bytes()
    start = text[warning.byte_offset :]
    assert start.startswith(b"{") and trace.name(row).encode() in start[: start.index(b"}")]
    assert analysis.verdict.side == sound.verdict.side
    length = sound.window.end_ns - sound.window.start_ns
    assert analysis.window.end_ns - analysis.window.start_ns == pytest.approx(length, rel=0.02)
    assert trace.duration_ns < 50 * MS * 1000


@pytest.mark.parametrize(
    "odd", [{"start": 105.0 * SECOND}, {"length": 100.0 * SECOND}], ids=["late", "long"]
)
def test_what_may_be_true_stays_and_makes_the_verdict_a_hint(
    tmp_path: Path, odd: dict[str, float]
) -> None:
    analysis = told(program(odd=odd, at=99), tmp_path)
    assert not analysis.trace.stray.any()
    (warning,) = (one for one in analysis.warnings if one.code == "Q6")
    assert warning.severity == Severity.DOUBT and warning.count == 1 and warning.byte_offset > 0
    assert "odd" in warning.message
    assert "[Q6]" in analysis.verdict.caveat


def test_idle_of_any_length_is_believed_where_the_launch_stands_beside(tmp_path: Path) -> None:
    far = 105.0 * SECOND
    analysis = told(program(odd={"start": far, "launch": far - 20}, at=99), tmp_path)
    assert not analysis.trace.stray.any()
    assert not [one for one in analysis.warnings if one.code == "Q6"]


def test_a_kernel_that_the_host_waited_for_is_believed(tmp_path: Path) -> None:
    made = program(odd={"length": 100.0 * SECOND}, at=99)
    made.call("cudaDeviceSynchronize", 5 * SECOND + SPAN + 100, 100 * SECOND)
    analysis = told(made, tmp_path)
    assert not [one for one in analysis.warnings if one.code == "Q6"]


def test_of_a_handful_of_kernels_nothing_is_said(tmp_path: Path) -> None:
    analysis = told(program(odd={"start": 105.0 * SECOND}, at=3, kernels=8), tmp_path)
    assert not analysis.trace.stray.any()
    assert not [one for one in analysis.warnings if one.code == "Q6"]
