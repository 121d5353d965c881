from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.errors import Severity, TraceWarning
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report import format_names, render
from whichlayer.analysis.report.text_layout import (
    COLUMNS,
    Column,
    bar,
    columns_of,
    fit,
    fit_path,
    table,
    wrap,
)
from whichlayer.analysis.report.units import count_text, rate_text, share_text, time_text
from whichlayer.analysis.results import Analysis, Where
from whichlayer.analysis.trace.columns import Lane
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind

MakeAnalysis = Callable[..., Analysis]
HOSTILE = "x" * 300 + "\x1b[31m 層" * 60 + "\u0301\n\t[b]bold[/b] \udc80"


def read(analysis: Analysis) -> str:
    return render(analysis, "text").decode()


def assert_plain_and_narrow(text: str) -> None:
    for line in text.splitlines():
        assert columns_of(line) <= COLUMNS, line
        assert line == line.rstrip()
        assert line.isprintable(), line


def test_formats_are_found_by_file_name() -> None:
    assert {"json", "text"} <= set(format_names())


def test_an_unknown_format_is_refused(make_analysis: MakeAnalysis) -> None:
    with pytest.raises(KeyError):
        render(make_analysis(), "__init__")


def test_the_verdict_comes_first(make_analysis: MakeAnalysis) -> None:
    assert read(make_analysis()).startswith("VERDICT  40.0 % of the window is lost above CUDA.\n")


def test_a_trace_from_a_pipe_is_called_standard_input_and_a_file_by_its_path(
    make_analysis: MakeAnalysis,
) -> None:
    made = make_analysis()
    for path, shown in [("-", "standard input"), ("./-", "./-")]:
        text = read(replace(made, trace=replace(made.trace, path=path)))
        assert f"\ntrace    {shown} (" in text


def test_every_layer_has_a_row_and_the_shares_of_the_window(make_analysis: MakeAnalysis) -> None:
    lines = read(make_analysis()).splitlines()
    by_name = {line[5:33].strip(): line for line in lines if line.startswith("  ")}
    assert {layer.text.name for layer in Layer} <= set(by_name)
    assert "40.0 %" in by_name["PyTorch / runtime"]
    assert "20.0 %" in by_name["No owner"]  # at the roof, spacing and edge
    assert "20.0 %" in by_name["Unjudged kernels"]


def test_layers_are_named_for_the_vendor_of_the_gpu(make_analysis: MakeAnalysis) -> None:
    analysis = make_analysis()
    amd = replace(analysis, devices=(replace(analysis.devices[0], vendor="amd"),))
    assert "PyTorch ↔ HIP/ROCm boundary" in read(amd)


def test_a_finding_tells_owner_evidence_fix_and_place(make_analysis: MakeAnalysis) -> None:
    report = read(make_analysis())
    for part in (
        "[R] dataloader-wait: the loader keeps the GPU waiting (400.0 µs lost, 40.0 %",
        "owner  PyTorch / runtime: DataLoader, pinned memory",
        "why    the loader call lasts 400 µs",
        "num_workers is 0",
        "fix    num_workers > 0",
        "where  train.py:42, in nn.Module: Net_0",
    ):
        assert part in report


def test_findings_beyond_the_first_few_are_one_line_each(make_analysis: MakeAnalysis) -> None:
    analysis = make_analysis()
    report = read(replace(analysis, findings=analysis.findings * 12))
    assert report.count("[R] dataloader-wait") == 12
    assert report.count("where  train.py:42") == 8


def test_no_findings_is_said(make_analysis: MakeAnalysis) -> None:
    assert "FINDINGS  none" in read(make_analysis(findings=()))


def test_kernels_are_sorted_by_time_and_unjudged_ones_have_a_dash(
    make_analysis: MakeAnalysis,
) -> None:
    analysis = make_analysis()
    first, second = analysis.kernels
    report = read(replace(analysis, kernels=(first, replace(second, total_ns=900_000))))
    rows = report.split("KERNELS")[1].splitlines()
    assert rows[2].split()[0] == "unjudged" and rows[2].endswith("–")
    assert rows[3].endswith("150.0 µs C")


def test_shapes_of_one_kernel_are_one_row_with_mean_rates(make_analysis: MakeAnalysis) -> None:
    analysis = make_analysis()
    first, _ = analysis.kernels
    other = replace(first, total_ns=100_000, gbps=510.0, share=0.1, layer=Layer.NONE, lost_ns=0)
    report = read(replace(analysis, kernels=(first, other)))
    (row,) = (line for line in report.splitlines() if line.startswith("  vectorized"))
    assert row.split()[1:] == [
        "4",
        "400.0",
        "µs",
        "40.0",
        "%",
        "810",
        "–",
        "45.0",
        "%",
        "150.0",
        "µs",
        "C",
    ]


def kernels_of(analysis: Analysis) -> list[str]:
    """The lines about kernels, without their heading."""
    return read(analysis).split("KERNELS")[1].split("\n\n")[0].splitlines()[1:]


def test_nothing_lost_has_no_owner(make_analysis: MakeAnalysis) -> None:
    analysis = make_analysis()
    first, second = analysis.kernels
    healthy = replace(first, lost_ns=0, layer=Layer.UNKNOWN)
    row = kernels_of(replace(analysis, kernels=(healthy, second)))[1]
    assert row.startswith("  vectorized") and row.endswith(" 0")


def test_a_doubtful_figure_does_not_sway_the_share_of_judged_calls(
    make_analysis: MakeAnalysis,
) -> None:
    analysis = make_analysis()
    first, _ = analysis.kernels
    doubtful = replace(first, roof_fraction=4.0, lost_ns=0, why="not judged: in cache")
    row = kernels_of(replace(analysis, kernels=(first, doubtful)))[1]
    assert row.split()[8:10] == ["45.0", "%"]


def test_flags_are_letters_with_footnotes(make_analysis: MakeAnalysis) -> None:
    analysis = make_analysis()
    first, second = analysis.kernels
    flagged = (
        replace(first, flags=("winograd-or-fft", "a new one")),
        replace(second, flags=("a new one",)),
        replace(second, flags=("overlapped",), short_name="vectorized_elementwise", total_ns=1),
    )
    activities = replace(analysis.activities, group=np.array([0, 0, 1], np.int32))
    lines = kernels_of(replace(analysis, kernels=flagged, activities=activities))
    assert lines[1].startswith("  vectorized") and lines[1].endswith("C  ab")
    assert lines[2].startswith("  unjudged") and lines[2].endswith("–  b")
    assert lines[3].startswith("  a  winograd-or-fft: ") and "fewer products" in lines[3]
    assert lines[4] == "  b  a new one"
    assert "overlapped" not in "".join(lines)  # a billionth of the row's time


def test_reasons_for_dashes_are_told_with_their_time(make_analysis: MakeAnalysis) -> None:
    analysis = make_analysis()
    judged, group = analysis.kernels
    reasons = [
        ("not judged: no model of this operator", "aten::_foreach_add_", 18_200_000),
        ("not judged: no model of this operator", "aten::other", 1_000_000),
        ("not judged: no shapes recorded", "", 2_000_000),
        (
            "not judged: no shapes recorded; aten::sort as a whole, over its 4 kernels",
            "",
            1_100_000,
        ),
    ]
    groups = [
        replace(group, why=why, operator=operator, total_ns=ns) for why, operator, ns in reasons
    ]
    transfer = replace(group, why="a transfer: its cost is the gap it leaves", short_name="copy")
    lines = kernels_of(replace(analysis, kernels=(judged, *groups, transfer)))
    start = lines.index("  not judged: 22.30 ms")
    assert lines[start + 1 :] == [
        "    19.20 ms  no model of this operator (aten::_foreach_add_, aten::other)",
        "    3.100 ms  no shapes recorded",
    ]
    assert "  a  a transfer: its cost is the gap it leaves" in lines


def test_of_many_reasons_five_lines_are_left(make_analysis: MakeAnalysis) -> None:
    analysis = make_analysis()
    judged, group = analysis.kernels
    groups = [
        replace(group, why=f"not judged: reason {n}", operator="", total_ns=1_000_000 * (9 - n))
        for n in range(7)
    ]
    lines = kernels_of(replace(analysis, kernels=(judged, *groups)))
    start = lines.index("  not judged: 42.00 ms")
    assert len(lines[start + 1 :]) == 5
    assert lines[start + 1].split() == ["9.000", "ms", "reason", "0"]
    assert lines[-1].split(maxsplit=2) == ["12.00", "ms", "3 other reasons"]


def test_where_all_is_judged_no_reasons_are_given(make_analysis: MakeAnalysis) -> None:
    assert "not judged" not in read(make_analysis())


def without_gpu(analysis: Analysis, **trace: Any) -> Analysis:
    """The same of a recording without GPU activity."""
    trace = {"warnings": (), **trace}
    return replace(
        analysis, devices=(), kernels=(), findings=(), trace=replace(analysis.trace, **trace)
    )


def test_without_gpu_activity_the_report_says_what_is_recorded_instead(
    make_analysis: MakeAnalysis,
) -> None:
    lane = Lane(1, 5, LaneKind.CPU_THREAD, name="thread 5", process="python")
    report = read(
        without_gpu(
            make_analysis(),
            strings=("short", "long"),
            start_ns=np.array([0, 100_000], np.int64),
            end_ns=np.array([90_000, 900_000], np.int64),
            name_id=np.array([0, 1], np.int32),
            kind=np.zeros(2, np.uint8),
            stray=np.zeros(2, np.bool_),
            parent=np.full(2, -1, np.int32),
            lane_id=np.zeros(2, np.int32),
            detail_id=np.full(2, -1, np.int32),
            lanes=(lane,),
            lane_rows=np.array([0, 2], np.int64),
        )
    )
    for absent in ("LAYERS", "DEVICES", "KERNELS", "FINDINGS"):
        assert absent not in report
    assert "RECORDING  1 866 events, 1 lane with 2 slices, 900.0 µs from first" in report
    (row,) = (line for line in report.splitlines() if line.startswith("  python: thread 5"))
    assert row.split()[3:] == ["2", "900.0", "µs", "long"]


def test_an_empty_recording_says_that_it_holds_no_events(make_analysis: MakeAnalysis) -> None:
    report = read(without_gpu(make_analysis(), events=0))
    assert "RECORDING  no events\n" in report


@pytest.mark.parametrize(
    ("trace", "asked"),
    [
        ({}, True),
        ({"producer": "chrome"}, False),
        ({"producer": "xla"}, False),
        ({"warnings": (TraceWarning("truncated", "cut off"),)}, False),
        ({"warnings": (TraceWarning("Q1", "a trace of MTIA"),)}, False),
    ],
)
def test_recording_a_gpu_is_advised_only_where_that_was_what_lacked(
    make_analysis: MakeAnalysis, trace: dict[str, Any], asked: bool
) -> None:
    report = read(without_gpu(make_analysis(), **trace))
    assert ("ProfilerActivity.CUDA" in report) == asked
    assert ("RECORD NEXT TIME" in report) == asked


def test_launches_without_kernels_are_not_answered_by_recording_a_gpu(
    make_analysis: MakeAnalysis,
) -> None:
    launch = {
        "strings": ("cudaLaunchKernel",),
        "kind": np.array([SliceKind.RUNTIME], np.uint8),
        "lanes": (Lane(1, 5, LaneKind.CPU_THREAD),),
        "lane_rows": np.array([0, 1], np.int64),
        "stray": np.zeros(1, np.bool_),
        "start_ns": np.zeros(1, np.int64),
        "end_ns": np.ones(1, np.int64),
        "name_id": np.zeros(1, np.int32),
        "lane_id": np.zeros(1, np.int32),
        "parent": np.full(1, -1, np.int32),
        "detail_id": np.full(1, -1, np.int32),
    }
    advice = read(without_gpu(make_analysis(), **launch)).split("RECORD NEXT TIME")[1]
    assert "their kernels are not" in advice.split("from torch")[0]
    assert "without GPU activity" not in advice


def test_one_thing_to_record_is_asked_for_once_and_in_one_wording(
    make_analysis: MakeAnalysis,
) -> None:
    analysis = make_analysis()
    asks = "record with torch.profiler.profile(with_stack=True) to see the line"
    finding = replace(analysis.findings[0], where=Where(record=asks))
    advice = read(replace(analysis, findings=(finding,))).split("RECORD NEXT TIME")[1]
    assert advice.split("from torch")[0].count("with_stack") == 1
    assert asks not in advice


def test_warnings_and_what_to_record_are_told(make_analysis: MakeAnalysis) -> None:
    report = read(make_analysis())
    assert "the file is cut off (byte 4096) [truncated]" in report
    assert "record_shapes=True" in report and "with_stack=True" in report


def test_the_quality_of_the_recording_is_told_most_severe_first(
    make_analysis: MakeAnalysis,
) -> None:
    doubt = TraceWarning("Q2", "kernels were lost", severity=Severity.DOUBT)
    verdict = replace(make_analysis().verdict, caveat="Caution: idle figures are unreliable [Q2].")
    notes = (TraceWarning("Q5", "overlaps"), doubt)
    trace = replace(make_analysis().trace, warnings=())
    report = read(replace(make_analysis(), trace=trace, warnings=notes, verdict=verdict))
    listed = report.split("QUALITY OF THE RECORDING")[1].splitlines()
    assert listed[0].strip() == "('whichlayer rules Q2' explains Q2)"
    assert listed[1:3] == ["  ! kernels were lost [Q2]", "  - overlaps [Q5]"]
    assert report.splitlines()[1] == "         Caution: idle figures are unreliable [Q2]."
    assert "idle (?)" in report and "idle (?)" not in read(make_analysis())


def test_nothing_is_asked_for_that_would_tell_nothing_new(make_analysis: MakeAnalysis) -> None:
    analysis = make_analysis()
    judged = replace(
        analysis.budget, at_roof_ns=399_999, unjudged_ns=0, gap_ns={Layer.RUNTIME: 400_000}
    )
    advice = read(replace(analysis, budget=judged)).split("RECORD NEXT TIME")[1].split("from")[0]
    assert "record_shapes" not in advice and "with_stack" not in advice


def test_hostile_names_stay_plain_and_narrow_and_are_not_cut_from_findings(
    make_analysis: MakeAnalysis,
) -> None:
    analysis = make_analysis()
    finding = replace(
        analysis.findings[0], title=HOSTILE, evidence=(HOSTILE,), where=Where(file=HOSTILE)
    )
    report = read(
        replace(
            analysis,
            trace=replace(analysis.trace, path="/tmp/" + HOSTILE),
            devices=(replace(analysis.devices[0], model=HOSTILE, model_note=HOSTILE),),
            kernels=(replace(analysis.kernels[0], short_name=HOSTILE), analysis.kernels[1]),
            findings=(finding,),
            verdict=replace(analysis.verdict, text=HOSTILE),
        )
    )
    assert_plain_and_narrow(report)
    assert "[b]bold[/b]" in report


def test_hostile_reasons_flags_and_lanes_stay_plain_and_narrow(make_analysis: MakeAnalysis) -> None:
    analysis = make_analysis()
    group = replace(
        analysis.kernels[1], why="not judged: " + HOSTILE, operator=HOSTILE, flags=(HOSTILE,)
    )
    assert_plain_and_narrow(read(replace(analysis, kernels=(analysis.kernels[0], group))))
    lane = Lane(HOSTILE, HOSTILE, LaneKind.OTHER, name=HOSTILE, process=HOSTILE)
    held = without_gpu(
        analysis,
        strings=(HOSTILE,),
        lanes=(lane,),
        lane_rows=np.array([0, 1], np.int64),
        stray=np.ones(1, np.bool_),
        kind=np.zeros(1, np.uint8),
        start_ns=np.zeros(1, np.int64),
        end_ns=np.ones(1, np.int64),
        name_id=np.zeros(1, np.int32),
        lane_id=np.zeros(1, np.int32),
        parent=np.full(1, -1, np.int32),
        detail_id=np.full(1, -1, np.int32),
    )
    assert_plain_and_narrow(read(held))


INDENTS = st.text(max_size=20).map(lambda text: "".join(c for c in text if c.isprintable()))


@given(st.text(max_size=300), INDENTS, INDENTS)
def test_wrapped_lines_are_narrow_and_lose_nothing(text: str, first: str, rest: str) -> None:
    lines = wrap(text, first, rest)
    assert all(columns_of(line) <= COLUMNS for line in lines)
    assert lines[0].startswith(first.rstrip())
    kept = lines[0][len(first) :] + "".join(line[len(rest) :] for line in lines[1:])
    assert "".join(kept.split()) == "".join("".join(wrap(text)).split())


@given(st.text(max_size=60), st.integers(2, 40))
def test_a_fitted_text_is_never_wider_than_its_cell(text: str, width: int) -> None:
    assert columns_of(fit(text, width)) <= width
    assert columns_of(fit_path(text, width)) <= width


def test_a_path_is_cut_at_its_front() -> None:
    assert fit_path("/a/very/long/folder/run.json.gz", 16) == "…der/run.json.gz"


def test_a_table_cuts_what_is_too_wide_and_aligns_the_rest() -> None:
    columns = (Column("name", 6, right=False), Column("time", 5))
    assert table(columns, [("a long name", "1"), ("b", "23")], " ") == [
        " name     time",
        " a lon…      1",
        " b          23",
    ]


@pytest.mark.parametrize(
    ("share", "marks"), [(0, ""), (0.0001, "."), (0.5, "#####"), (1.7, "#" * 10), (-1, "")]
)
def test_a_bar_shows_every_share_above_zero_and_stays_in_its_cell(share: float, marks: str) -> None:
    assert bar(share, 10) == marks


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (None, "–"),
        (0, "0"),
        (1, "1 ns"),
        (999, "999 ns"),
        (1_000, "1.000 µs"),
        (12_345, "12.35 µs"),
        (123_456, "123.5 µs"),
        (999_999, "1000 µs"),
        (1_234_567, "1.235 ms"),
        (61_000_000_000, "61.00 s"),
        (10_000_000_000_000, "10000 s"),
        (-1_500, "-1.500 µs"),
    ],
)
def test_times_have_four_digits(ns: int | None, text: str) -> None:
    assert time_text(ns) == text


def test_a_share_that_is_there_never_reads_as_nothing() -> None:
    assert share_text(0.0000001) == "<0.1 %"
    assert share_text(0.0) == "0.0 %"
    assert share_text(float("nan")) == share_text(None) == share_text(1, 0) == "–"


def test_rates_have_three_digits() -> None:
    assert [rate_text(x) for x in (3350.4, 99.96, 12.34, 0.123, None, float("inf"))] == [
        "3350",
        "100",
        "12.3",
        "0.12",
        "–",
        "–",
    ]


def test_counts_group_digits_and_know_the_singular() -> None:
    assert count_text(1, "event") == "1 event"
    assert count_text(239_000, "event") == "239 000 events"
