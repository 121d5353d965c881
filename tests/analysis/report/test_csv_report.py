"""The kernel table for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from whichlayer.analysis import analyse, load
from whichlayer.analysis.report import format_names, render
from whichlayer.analysis.report.csv_report import COLUMNS
from whichlayer.analysis.results import Analysis, KernelGroup
from whichlayer.tui.samples import sample_path

MakeAnalysis = Callable[..., Analysis]

GOLDEN = Path(__file__).with_name("golden_kernels.csv")


def rows(analysis: Analysis) -> list[dict[str, str]]:
    text = render(analysis, "csv").decode()
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyse(load(sample_path("memory_bound_slow")))


def with_first(analysis: Analysis, **changes: object) -> Analysis:
    first: KernelGroup = replace(analysis.kernels[0], **changes)  # type: ignore[arg-type]
    return replace(analysis, kernels=(first, *analysis.kernels[1:]))


def test_kernels_are_the_golden_ones(
    make_analysis: MakeAnalysis, request: pytest.FixtureRequest
) -> None:
    written = render(make_analysis(), "csv")
    if request.config.getoption("--update-golden"):
        GOLDEN.write_bytes(written)
    assert written == GOLDEN.read_bytes()


def test_every_group_is_a_row_under_one_heading_each(analysis: Analysis) -> None:
    assert "csv" in format_names()
    found = rows(analysis)
    assert len(found) == len(analysis.kernels)
    assert list(found[0]) == [heading for heading, _ in COLUMNS]
    assert all(None not in row for row in found)


def test_lines_end_as_rfc_4180_says(analysis: Analysis) -> None:
    text = render(analysis, "csv")
    assert text.count(b"\r\n") == len(analysis.kernels) + 1
    assert text.count(b"\n") == text.count(b"\r") == text.count(b"\r\n")


@pytest.mark.parametrize(
    "name",
    ["=1+1", "+cmd|'/c calc'!A0", "-2+3", "@SUM(A1)", "\t=1", " =1", "|x", "＝1", "%0A=1",
     '=HYPERLINK("http://x","y")'],
)  # fmt: skip
def test_no_name_becomes_a_formula(analysis: Analysis, name: str) -> None:
    row = rows(with_first(analysis, name=name, operator=name, shapes=name, why=name))[0]
    for heading in ("name", "operator", "shapes", "why"):
        assert row[heading].startswith("'")


@pytest.mark.parametrize("name", ['a,"b"', "a\r\nb", "a\x1b[31mb", "void f<int, float>(x)"])
def test_any_name_stays_one_field_on_one_line(analysis: Analysis, name: str) -> None:
    found = rows(with_first(analysis, name=name))
    assert len(found) == len(analysis.kernels)
    assert found[0]["name"].isprintable()


def test_what_is_not_known_is_empty(analysis: Analysis) -> None:
    row = rows(
        with_first(
            analysis, bytes=None, gbps=None, flops=None, tflops=float("nan"), roof_fraction=None,
            precision=None, tensor_cores=None, occupancy=None, bandwidth_fraction=None,
        )
    )[0]  # fmt: skip
    for heading, value in row.items():
        if heading.startswith(("bytes", "bandwidth", "flops", "rate", "of ", "arith", "prec",
                               "tensor", "recorded occ")) and heading != "of dense rate (%)":  # fmt: skip
            assert value == "", heading


def test_times_are_exact_and_figures_finite(analysis: Analysis) -> None:
    row = rows(with_first(analysis, total_ns=1_234_567_891, gbps=float("inf")))[0]
    assert row["total time (us)"] == "1234567.891"
    assert row["bandwidth (GB/s)"] == ""
