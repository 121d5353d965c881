"""Coverage and throughput in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from whichlayer.analysis.kernels.coverage import Coverage, Missing
from whichlayer.analysis.kernels.throughput import Throughput
from whichlayer.analysis.report import text_coverage
from whichlayer.analysis.report.text_coverage import (
    coverage_lines,
    flops_text,
    throughput_lines,
    throughput_text,
)
from whichlayer.analysis.results import Analysis

MakeAnalysis = Callable[..., Analysis]

KNOWN = Throughput(
    steps=5, step_ns=50_880_000, flops_per_step=1_360_000_000_000, tflops=26.8, precision="tf32",
    peak_tflops=156.0, mfu=0.1718, covered_share=1.0,
)  # fmt: skip


def lines_of(monkeypatch: pytest.MonkeyPatch, analysis: Analysis, found: Coverage) -> list[str]:
    monkeypatch.setattr(text_coverage, "coverage_of", lambda _: found)
    return coverage_lines(analysis)


def test_a_figure_has_its_peak_its_steps_and_its_coverage() -> None:
    assert throughput_text(KNOWN) == (
        "1.36 TFLOP a step of 50.88 ms: 26.8 TFLOP/s, MFU 17.2 % of 156 tf32 dense "
        "(5 steps; flops known for all of matrix work)"
    )


def test_what_is_not_known_has_its_reason() -> None:
    bare = replace(KNOWN, mfu=None, peak_tflops=None, reason="no tf32 peak is known")
    assert "26.8 TFLOP/s; MFU not known: no tf32 peak is known (5 steps" in throughput_text(bare)
    assert throughput_text(Throughput(reason="no steps")) == "not known: no steps"


def test_nearly_all_never_reads_as_all() -> None:
    text = throughput_text(replace(KNOWN, covered_share=0.99996))
    assert ">99.9 % of matrix work" in text


def test_reasons_have_their_time_and_a_few_operators(
    make_analysis: MakeAnalysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = (
        Missing("no model of this operator", 2_000_000, 1_000_000, ("a", "b", "c")),
        *(Missing(f"reason {number}", 1_000, 0, ()) for number in range(9)),
    )
    lines = lines_of(
        monkeypatch, make_analysis(), Coverage(10_000_000, 8_000_000, 4_000_000, 3_000_000, missing)
    )
    assert lines[0] == (
        "COVERAGE  bytes known for 80.0 % of 10.00 ms kernel time, flops for 75.0 % of 4.000 ms "
        "matrix work"
    )
    assert lines[1] == "    2.000 ms  no model of this operator (a, b and 1 more)"
    assert len(lines) == 5


def test_without_kernels_nothing_is_said(
    make_analysis: MakeAnalysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lines_of(monkeypatch, make_analysis(), Coverage(0, 0, 0, 0, ())) == []
    assert throughput_lines(replace(make_analysis(), kernels=())) == []


def test_counts_of_operations_are_short() -> None:
    counts = [None, 12, 163_840, 8_192_059_392, 264_455_457_832_960, 5 * 10**15]
    assert [flops_text(count) for count in counts] == [
        "–", "12 FLOP", "163840 FLOP", "8.19 GFLOP", "264 TFLOP", "5.00 PFLOP",
    ]  # fmt: skip
