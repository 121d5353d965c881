"""The report on a folder of ranks."""

from __future__ import annotations

import json
from importlib import import_module
from importlib.resources import files as packaged
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from tests.support.job import files, write_job
from whichlayer.analysis import load
from whichlayer.analysis.communication.job import Job, analyse_job
from whichlayer.analysis.report import job_json, job_text
from whichlayer.tui import cli

FOLDER = packaged("whichlayer.analysis.report")
REPORT = json.loads((FOLDER / "report.schema.json").read_text())
SCHEMA = json.loads((FOLDER / "job.schema.json").read_text())
ARRIVALS = [[40.0] * 6, [41.0] * 6, [340.0] * 6]


def job_of(folder: Path) -> Job:
    return analyse_job(str(folder), files(folder), load)


def read(job: Job) -> dict[str, Any]:
    """The JSON report, after checking it against the schema."""
    report: dict[str, Any] = json.loads(job_json.render(job))
    known = Registry().with_resources([(REPORT["$id"], Resource.from_contents(REPORT))])
    Draft202012Validator(SCHEMA, registry=known).validate(report)
    return report


def test_json_names_the_straggler_and_its_cause(tmp_path: Path) -> None:
    report = read(job_of(write_job(tmp_path, ARRIVALS)))
    assert report["job"]["comparison"]["stragglers"] == ["rank 2"]
    assert [rank["rank"] for rank in report["ranks"]] == [0, 1, 2]
    late = report["ranks"][2]["lateness"]
    assert late["behind_us"] == 5 * 299
    assert late["cause"]["rule"] == "cpu-operator"
    (finding,) = report["job"]["findings"]
    assert (finding["rule"], finding["time_us"]) == ("straggler", late["cost_to_others_us"])


def test_layers_of_the_job_are_the_sum_of_its_ranks(tmp_path: Path) -> None:
    report = read(job_of(write_job(tmp_path, ARRIVALS)))
    total = report["job"]["layers"]
    ranks = [rank["layers"] for rank in report["ranks"]]
    assert round(sum(rank["total_us"] for rank in ranks), 3) == total["total_us"]
    assert round(sum(total["layers"].values()) + total["unjudged_us"], 3) == total["total_us"]


def test_text_tells_ranks_straggler_and_collectives_in_100_columns(tmp_path: Path) -> None:
    text = job_text.render(job_of(write_job(tmp_path, ARRIVALS)))
    assert "rank 2 comes late to the collectives" in text
    assert "--link-bandwidth" in text
    assert all(len(line) <= 100 for line in text.splitlines())
    for heading in ("VERDICT", "RANKS", "FINDINGS", "COLLECTIVES", "COMPARED"):
        assert any(line.startswith(heading) for line in text.splitlines()), heading


@pytest.mark.parametrize("name", ["markdown", "html"])
def test_pages_tell_the_findings_before_anything_that_has_to_be_opened(
    name: str, tmp_path: Path
) -> None:
    render = import_module(f"whichlayer.analysis.report.job_{name}").render
    page = render(job_of(write_job(tmp_path, ARRIVALS)))
    before, fold, rest = page.partition("<details")
    assert "All ranks." in before and "rank 2 comes late to the collectives" in before
    assert fold and "COLLECTIVES" in rest and "RANKS" in page
    assert "<script" not in page and "http://" not in page and "https://" not in page


@pytest.mark.parametrize("name", ["markdown", "html"])
def test_pages_of_recordings_that_are_no_job_say_why(name: str, tmp_path: Path) -> None:
    write_job(tmp_path, ARRIVALS)
    document = json.loads((tmp_path / "rank0.pt.trace.json").read_text())
    document.pop("distributedInfo")
    (tmp_path / "<b>alone\x1b[31m.json").write_text(json.dumps(document))
    page = import_module(f"whichlayer.analysis.report.job_{name}").render(job_of(tmp_path))
    assert "does not tell its rank" in page and "\x1b" not in page
    assert name == "markdown" or "<b>alone" not in page


def test_recordings_that_are_no_job_have_no_verdict_together(tmp_path: Path) -> None:
    write_job(tmp_path, ARRIVALS)
    document = json.loads((tmp_path / "rank0.pt.trace.json").read_text())
    document.pop("distributedInfo")
    (tmp_path / "alone\x1b[31m.json").write_text(json.dumps(document))
    job = job_of(tmp_path)
    report = read(job)
    assert report["job"]["verdict"] is None
    assert "does not tell its rank" in report["job"]["why"]
    text = job_text.render(job)
    assert "NOT COMPARED" in text
    assert "VERDICT" not in text
    assert "\x1b" not in text


def test_unreadable_rank_is_an_entry_with_its_error(tmp_path: Path) -> None:
    write_job(tmp_path, ARRIVALS)
    (tmp_path / "rank9.json").write_text("no trace")
    report = read(job_of(tmp_path))
    assert report["ranks"][3]["rank"] == 9
    assert "not a trace" in report["ranks"][3]["error"]
    assert report["ranks"][3]["window"] is None


def test_command_reports_on_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    write_job(folder, ARRIVALS)
    output = tmp_path / "report.json"
    arguments = ["report", str(folder), "--no-cache", "--format", "json", "-o", str(output)]
    assert cli.main(arguments) == cli.FINE
    assert json.loads(output.read_text())["job"]["comparison"]["matched"] == 6


def test_rank_chooses_one_trace_of_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    write_job(folder, ARRIVALS)
    output = tmp_path / "report.json"
    arguments = ["report", str(folder), "--no-cache", "--format", "json", "-o", str(output)]
    assert cli.main([*arguments, "--rank", "1"]) == cli.FINE
    assert json.loads(output.read_text())["trace"]["rank"] == 1
    assert cli.main([*arguments, "--rank", "5"]) == cli.WRONG_INPUT


def test_steps_that_no_rank_has_are_refused(tmp_path: Path) -> None:
    write_job(tmp_path, ARRIVALS, first_step=10)
    assert cli.main(["report", str(tmp_path), "--no-cache", "--steps", "3"]) == cli.WRONG_INPUT


def test_the_verdict_of_a_job_has_the_caution_of_its_ranks(tmp_path: Path) -> None:
    job = job_of(write_job(tmp_path, [one[:1] for one in ARRIVALS], first_step=10))
    alone = {rank.verdict.caveat for rank in job.ranks if rank.verdict is not None}
    (caution,) = alone
    assert caution.startswith("Caution: ")
    assert read(job)["job"]["verdict"]["caveat"] == caution
    assert caution[:60] in job_text.render(job)


def test_text_says_why_fewer_collectives_count_than_were_found(tmp_path: Path) -> None:
    job = job_of(write_job(tmp_path, ARRIVALS))
    assert job.comparison is not None
    found = sum(len(one) for one in job.comparison.matching.matched)
    counted = max(one.collectives for one in job.comparison.lateness.ranks)
    assert counted < found
    assert "the first of each group does not count" in job_text.render(job)


def test_recordings_of_no_job_are_listed_by_name(tmp_path: Path) -> None:
    write_job(tmp_path, ARRIVALS)
    document = json.loads((tmp_path / "rank0.pt.trace.json").read_text())
    document.pop("distributedInfo")
    for name in ("rank.json", "a.json"):
        (tmp_path / name).write_text(json.dumps(document))
    lines = job_text.render(job_of(tmp_path)).splitlines()
    first = lines.index("RECORDINGS  by name") + 2
    names = [line.split()[0] for line in lines[first : first + 5]]
    assert names == sorted(names) and names[0] == "a.json"


@pytest.mark.parametrize("format_name", ["text", "json"])
def test_what_cost_nothing_is_asked_of_one_trace_only(
    tmp_path: Path, format_name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_job(tmp_path, ARRIVALS)
    arguments = ["report", str(tmp_path), "--no-cache", "--covered", "--format", format_name]
    assert cli.main(arguments) == cli.WRONG_INPUT
    (line,) = capsys.readouterr().err.splitlines()
    assert "--covered" in line and "--rank" in line
    output = tmp_path / "out" / "report"
    output.parent.mkdir()
    assert cli.main([*arguments, "--rank", "1", "-o", str(output)]) == cli.FINE


def test_without_a_terminal_the_screen_of_a_folder_names_its_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_job(tmp_path, ARRIVALS)
    assert cli.main([str(tmp_path)]) == cli.WRONG_INPUT
    (line,) = capsys.readouterr().err.splitlines()
    assert "needs a terminal" in line and f"whichlayer report {tmp_path}" in line
    assert cli.main(["report", str(tmp_path), "--rank", "7"]) == cli.WRONG_INPUT
    assert "no trace of that rank" in capsys.readouterr().err
