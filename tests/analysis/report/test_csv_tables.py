"""Tables for spreadsheets beside that of the kernels: what JSON says, row by row."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.job import files, write_job
from whichlayer.analysis import analyse, load
from whichlayer.analysis.communication.job import analyse_job
from whichlayer.analysis.report import csv_tables, job_csv, job_json, render
from whichlayer.analysis.report.csv_tables import TABLES, write_rows
from whichlayer.analysis.results import Analysis
from whichlayer.tui import cli
from whichlayer.tui.samples import sample_path

MakeAnalysis = Callable[..., Analysis]
ARRIVALS = [[40.0] * 6, [41.0] * 6, [340.0] * 6]


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


@pytest.mark.parametrize("table", ["gaps", "findings"])
def test_rows_are_those_of_the_json_report(table: str, make_analysis: MakeAnalysis) -> None:
    analysis = make_analysis()
    told = json.loads(render(analysis, "json"), parse_float=str)[table]
    rows = read(TABLES[table](analysis))
    assert len(rows) == len(told) > 0
    for row, one in zip(rows, told, strict=True):
        rule = "cause" if table == "gaps" else "rule"
        assert (row[rule], row["layer"]) == (one[rule], one["layer"])
        times = [name for name in row if name.endswith("_us")]
        assert times and all(row[name] == (one[name] or "") for name in times)
        assert row["where.line"] == str(one["where"]["line"] or "")
        assert row["evidence"].count(" | ") == max(len(one["evidence"]) - 1, 0)


def test_steps_have_a_row_each_with_exact_times() -> None:
    analysis = analyse(load(sample_path("host_sync")))
    assert analysis.steps is not None
    rows = read(TABLES["steps"](analysis))
    assert [row["number"] for row in rows] == [str(one.step.number) for one in analysis.steps.rows]
    first = analysis.steps.rows[0].step
    assert rows[0]["start_us"] == f"{first.start_ns // 1000}.{first.start_ns % 1000:03d}"


def test_any_text_stays_a_text_and_any_number_a_number() -> None:
    rows: list[dict[str, Any]] = [
        {"a": "=1+1", "b": {"c": -2.5, "d": None}, "lines": ["x", "y"], "yes": True},
        {"a": "two\r\nlines", "e": 3},
    ]
    text = write_rows(rows, ("a",))
    assert text.split("\r\n")[0] == "a,b.c,b.d,lines,yes,e"
    first, second = read(text)
    assert (first["a"], first["b.c"], first["lines"], first["yes"]) == (
        "'=1+1",
        "-2.5",
        "x | y",
        "yes",
    )
    assert "\r\n" not in second["a"] and (second["e"], second["b.c"]) == ("3", "")


def test_a_folder_has_a_row_for_each_gpu_of_each_rank(tmp_path: Path) -> None:
    job = analyse_job(str(tmp_path), files(write_job(tmp_path, ARRIVALS)), load)
    rows = read(job_csv.render(job))
    told = json.loads(job_json.render(job), parse_float=str)["ranks"]
    assert [row["rank"] for row in rows] == ["0", "1", "2"]
    for row, rank in zip(rows, told, strict=True):
        assert row["layers.total_us"] == rank["layers"]["total_us"]
        assert row["layers.pytorch_us"] == rank["layers"]["layers"]["pytorch"]
        assert row["device.busy_us"] == rank["devices"][0]["busy_us"]
        assert row["lateness.behind_us"] == rank["lateness"]["behind_us"]
        assert row["verdict.side"] == rank["verdict"]["side"]
    assert rows[2]["lateness.cause"] == "cpu-operator"


def test_a_table_without_rows_keeps_its_headings() -> None:
    assert write_rows([], ("number", "start_us")) == "number,start_us\r\n"


def test_an_empty_table_begins_with_the_headings_of_a_full_one() -> None:
    full = analyse(load(sample_path("host_sync")))
    empty = replace(full, findings=(), steps=None)
    for table in ("findings", "steps"):
        headings = TABLES[table](empty).rstrip().split(",")
        assert TABLES[table](full).split(",")[: len(headings)] == headings
    assert TABLES["gaps"](full).startswith(f"{','.join(csv_tables._GAPS)},")


def test_a_rank_that_cannot_be_read_keeps_its_row(tmp_path: Path) -> None:
    write_job(tmp_path, ARRIVALS)
    (tmp_path / "rank7.pt.trace.json").write_text("{nothing")
    rows = read(job_csv.render(analyse_job(str(tmp_path), files(tmp_path), load)))
    assert len(rows) == 4 and rows[3]["rank"] == "7" and rows[3]["error"]
    assert rows[3]["device.busy_us"] == ""


def test_findings_of_a_folder_say_whose_they_are(tmp_path: Path) -> None:
    job = analyse_job(str(tmp_path), files(write_job(tmp_path, ARRIVALS)), load)
    rows = read(job_csv.TABLES["findings"](job))
    assert (rows[0]["rank"], rows[0]["rule"]) == ("", "straggler")
    assert {row["rank"] for row in rows[1:]} == {"0", "1", "2"}
    assert read(job_csv.TABLES["collectives"](job))


@pytest.mark.parametrize("where", ["trace", "folder"])
def test_the_command_line_writes_the_table_that_is_named(
    where: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = str(sample_path("host_sync") if where == "trace" else write_job(tmp_path, ARRIVALS))
    assert cli.main(["report", path, "--format", "csv", "--table", "findings"]) == 0
    assert b"rule,layer,title" in capsysbinary.readouterr().out
    assert cli.main(["report", path, "--format", "csv"]) == 0
    assert capsysbinary.readouterr().out
    for wrong in (["--format", "csv", "--table", "cells"], ["--table", "findings"]):
        assert cli.main(["report", path, *wrong]) == 2
        assert capsysbinary.readouterr().err.count(b"\n") == 1
