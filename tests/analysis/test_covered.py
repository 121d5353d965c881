from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from jsonschema import Draft202012Validator

from tests.support.program import Program
from whichlayer.analysis import Analysis, Options
from whichlayer.analysis.covered import Covered, covered_causes
from whichlayer.analysis.report import render

KERNEL = "ampere_sgemm_128x128_tn"
LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
COPY = "Memcpy HtoD (Pinned -> Device)"


def entry(analysis: Analysis, rule: str) -> Covered | None:
    return next((one for one in covered_causes(analysis) if one.rule == rule), None)


def test_a_loader_call_under_a_busy_device_is_covered_and_no_gap(tmp_path: Path) -> None:
    program = Program()
    program.kernel(KERNEL, 10.0, 500.0, (0.0, 3.0))
    program.annotation(LOADER, 20.0, 300.0)
    program.kernel(KERNEL, 510.0, 100.0, (330.0, 3.0))
    analysis = program.analysis(tmp_path)
    one = entry(analysis, "dataloader-wait")
    assert one is not None
    assert (one.time_ns, one.charged_ns) == (300_000, 0)
    assert (one.events, one.covered_events, one.busy_ns) == (1, 1, 300_000)
    assert (one.start_ns, one.end_ns) == (20_000, 320_000)
    assert all(finding.rule != "dataloader-wait" for finding in analysis.findings)


def test_the_part_that_kept_the_device_waiting_is_charged_and_the_call_cost_something(
    tmp_path: Path,
) -> None:
    program = Program()
    program.kernel(KERNEL, 10.0, 200.0, (0.0, 3.0))
    program.annotation(LOADER, 100.0, 1000.0)
    program.kernel(KERNEL, 1120.0, 100.0, (1110.0, 3.0))
    one = entry(program.analysis(tmp_path), "dataloader-wait")
    assert one is not None
    assert (one.time_ns, one.charged_ns) == (110_000, 890_000)
    assert (one.events, one.covered_events) == (1, 0)


def test_a_copy_beside_a_kernel_is_covered_and_one_alone_is_not(tmp_path: Path) -> None:
    program = Program()
    program.kernel(KERNEL, 0.0, 500.0, (0.0, 3.0))
    program.copy(COPY, 100.0, 50.0, (50.0, 3.0), stream=20)
    program.copy(COPY, 500.0, 80.0, (60.0, 3.0), stream=20)
    program.kernel(KERNEL, 580.0, 100.0, (70.0, 3.0))
    one = entry(program.analysis(tmp_path), "h2d-exposed")
    assert one is not None and one.device == 0
    assert (one.time_ns, one.charged_ns) == (50_000, 80_000)
    assert (one.events, one.covered_events) == (2, 1)


def test_what_nobody_can_explain_covers_nothing(tmp_path: Path) -> None:
    program = Program()
    program.kernel(KERNEL, 0.0, 100.0, (0.0, 3.0))
    program.call("cudaDeviceSynchronize", 10.0, 990.0)
    program.kernel(KERNEL, 1010.0, 100.0)  # its launch is not recorded
    one = entry(program.analysis(tmp_path), "host-sync")
    assert one is not None
    assert one.time_ns == 90_000


def test_it_is_told_only_when_asked_for_and_in_the_schema(tmp_path: Path) -> None:
    program = Program()
    program.kernel(KERNEL, 10.0, 500.0, (0.0, 3.0))
    program.annotation(LOADER, 20.0, 300.0)
    program.kernel(KERNEL, 510.0, 100.0, (330.0, 3.0))
    quiet = program.analysis(tmp_path)
    asked = replace(quiet, options=Options(covered=True))
    assert b'"covered"' not in render(quiet, "json")
    assert b"COVERED" not in render(quiet, "text")
    report = json.loads(render(asked, "json"))
    schema = json.loads((files("whichlayer.analysis.report") / "report.schema.json").read_text())
    Draft202012Validator(schema).validate(report)
    assert [row["cause"] for row in report["covered"]] == ["dataloader-wait"]
    assert report["covered"][0]["time_us"] == 300
    assert "COVERED" in render(asked, "text").decode()
    assert report["findings"] == json.loads(render(quiet, "json"))["findings"]
