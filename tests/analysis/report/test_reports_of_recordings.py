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

from whichlayer.analysis import analyse, load
from whichlayer.analysis.report import render
from whichlayer.analysis.report.text_layout import COLUMNS, columns_of

#: Formats that no reader here is for yet.
UNREAD = {".sqlite", ".md"}
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


@cache
def validator() -> Draft202012Validator:
    schema = json.loads((files("whichlayer.analysis.report") / "report.schema.json").read_text())
    return Draft202012Validator(schema)


@pytest.mark.parametrize("name", recordings() or [pytest.param("", marks=pytest.mark.skip)])
def test_report_is_valid_adds_up_and_tells_the_figures_computed_elsewhere(
    traces: Path, name: str
) -> None:
    analysis = analyse(load(traces / name))
    written = render(analysis, "json")
    validator().validate(json.loads(written))
    report = json.loads(written, parse_float=Decimal)
    _assert_adds_up(report)
    _assert_devices(report["devices"], expected().get(name, {}).get("devices", {}))
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
