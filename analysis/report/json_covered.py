"""What cost nothing as JSON rows: only for whoever asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whichlayer.analysis.covered import Covered, covered_causes
from whichlayer.analysis.report import json_values as values
from whichlayer.analysis.results import Analysis


def covered_fields(analysis: Analysis) -> dict[str, Any]:
    """The field ``covered``, where it was asked for."""
    if not analysis.options.covered:
        return {}
    return {"covered": values.rows(_rows(analysis))}


def _rows(analysis: Analysis) -> Iterator[dict[str, Any]]:
    for one in covered_causes(analysis):
        yield _row(analysis, one)


def _row(analysis: Analysis, one: Covered) -> dict[str, Any]:
    trace = analysis.trace
    lane = None if one.lane < 0 else trace.lanes[one.lane]
    return {
        "cause": one.rule,
        "layer": one.layer.id,
        "title": values.words(one.title),
        "time_us": values.microseconds(one.time_ns),
        "charged_us": values.microseconds(one.charged_ns),
        "events": one.events,
        "covered_events": one.covered_events,
        "device": None if one.device < 0 else analysis.devices[one.device].number,
        "thread": None if lane is None else values.words(lane.name or str(lane.tid)),
        "where": values.place(one.where),
        "longest": {
            "name": values.words(trace.name(one.row)),
            "start_us": values.microseconds(one.start_ns),
            "end_us": values.microseconds(one.end_ns),
        },
        "why": one.why,
    }
