"""The reports on the samples, word for word.

After a change that is meant: ``pytest tests/analysis/report/test_golden_reports.py
--update-golden``, and read the difference before it is committed.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from whichlayer.analysis import analyse, load
from whichlayer.analysis.report import render
from whichlayer.tui.samples import sample_names, sample_path

GOLDEN = Path(__file__).parent / "golden"
ROWS = 4
"""Rows of a long table that a golden file keeps; how many there are is kept too."""


def reports(name: str, folder: Path) -> dict[str, str]:
    """Text and shortened JSON of a sample, as files in the folder of the samples would be."""
    shutil.copy(sample_path(name), folder)
    analysis = analyse(load(sample_path(name).name))
    return {
        f"{name}.txt": render(analysis, "text").decode(),
        f"{name}.json": shortened(json.loads(render(analysis, "json"))),
    }


def shortened(report: dict[str, Any]) -> str:
    """A report with the first rows of its long tables, in the layout that is easy to compare."""
    for table in ("gaps", "kernels"):
        report[table] = {"count": len(report[table]), "first": report[table][:ROWS]}
    steps = report["steps"]["rows"]
    report["steps"]["rows"] = {"count": len(steps), "first": steps[:1]}
    for device in report["launches"]:
        device["over_time"] = {name: len(column) for name, column in device["over_time"].items()}
    for finding in report["findings"]:
        finding["regions"] = {"count": len(finding["regions"]), "first": finding["regions"][:ROWS]}
    return json.dumps(report, indent=1, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("name", sample_names())
def test_report_on_a_sample_is_the_golden_one(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    written = reports(name, tmp_path)
    if request.config.getoption("--update-golden"):
        GOLDEN.mkdir(exist_ok=True)
        for file, text in written.items():
            (GOLDEN / file).write_text(text, encoding="utf-8")
    for file, text in written.items():
        assert text == (GOLDEN / file).read_text(encoding="utf-8"), file


def test_every_golden_file_is_of_a_sample() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(sample_names())
