"""Reports on recordings that others made, held to figures that were computed independently."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.support.recordings import analysed
from whichlayer.analysis.report import render
from whichlayer.analysis.report.text_layout import COLUMNS, columns_of

#: What lies beside the recordings.
UNREAD = {".md"}
#: Fields of which the schema knows every word.
WORDS = {"kind", "cause", "layer", "bound", "confidence", "rule"}
FIGURES = ("span", "busy", "idle", "compute", "exposed_comm", "exposed_copy")


def recordings() -> list[str]:
    """Paths of the recordings, relative to their folder; empty where there is none."""
    folder = os.environ.get("WHICHLAYER_TRACES")
    if not folder:
        return []
    found = (path for path in Path(folder).rglob("*") if path.is_file())
    return sorted(
        str(path.relative_to(folder))
        for path in found
        if path.suffix not in UNREAD and path.name != "expected.json"
    )


@cache
def expected() -> dict[str, Any]:
    folder = Path(os.environ["WHICHLAYER_TRACES"])
    figures = json.loads((folder / "expected.json").read_text(), parse_float=Decimal)
    assert isinstance(figures, dict)
    return figures


def one_of_each_form(report: dict[str, Any]) -> dict[str, Any]:
    """A report whose long tables keep one row of each form: the schema tells no others apart."""
    for table in ("gaps", "kernels"):
        report[table] = list({form(row): row for row in report[table]}.values())
    for finding in report["findings"]:
        regions = {form(region): region for region in finding["regions"]}
        finding["regions"] = list(regions.values())
    return report


def form(value: Any, key: str = "") -> Any:
    """What a schema can see of a value: types, fields, signs, emptiness, known words."""
    if isinstance(value, dict):
        return tuple((name, form(part, name)) for name, part in value.items())
    if isinstance(value, list):
        return ("list", frozenset(form(part) for part in value))
    if isinstance(value, str):
        return value if key in WORDS else ("text", not value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (type(value), value < 0, value == 0, value > 1)
    return type(value)


@cache
def validator() -> Draft202012Validator:
    schema = json.loads((files("whichlayer.analysis.report") / "report.schema.json").read_text())
    return Draft202012Validator(schema)


@pytest.mark.parametrize("name", recordings() or [pytest.param("", marks=pytest.mark.skip)])
def test_report_is_valid_adds_up_and_tells_the_figures_computed_elsewhere(
    traces: Path, name: str
) -> None:
    analysis = analysed(traces / name)
    written = render(analysis, "json")
    validator().validate(one_of_each_form(json.loads(written)))
    report = json.loads(written, parse_float=Decimal)
    _assert_adds_up(report)
    if name in expected():
        _assert_devices(report["devices"], expected()[name].get("devices", {}))
    _assert_plain(render(analysis, "text").decode())


def _assert_adds_up(report: dict[str, Any]) -> None:
    window = report["window"]
    devices = len(report["devices"])
    assert report["total_us"] == (window["end_us"] - window["start_us"]) * devices
    for part in (report, *report["layers_by_device"], *report["layers_by_step"]):
        assert sum(part["layers"].values()) + part["unjudged_us"] == part["total_us"]
    assert sum(gap["end_us"] - gap["start_us"] for gap in report["gaps"]) == sum(
        report["budget"]["gaps"].values()
    )


def _assert_devices(devices: list[dict[str, Any]], figures: dict[str, Any]) -> None:
    assert {str(device["index"]) for device in devices} == set(figures)
    for device in devices:
        told = figures[str(device["index"])]
        assert device["activities"] == told["activities"]
        for figure in FIGURES:
            assert abs(device[f"{figure}_us"] - told[f"{figure}_us"]) <= 1, figure


def _assert_plain(text: str) -> None:
    assert text.startswith("VERDICT  ")
    for line in text.splitlines():
        assert columns_of(line) <= COLUMNS
        assert line.isprintable()
