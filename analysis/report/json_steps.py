"""Steps as JSON fields: where they come from, each by itself, and what is over all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whichlayer.analysis.report import json_values as values
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.steps.model import Outlier, Phase, Statistics, StepFigures, StepTable


def step_fields(analysis: Analysis) -> dict[str, Any] | None:
    """The steps of the window; None only for an analysis that was made without them."""
    table = analysis.steps
    if table is None:
        return None
    found = table.found
    return {
        "source": None if found.source is None else found.source.value,
        "inferred": found.inferred,
        "how": values.words(found.how),
        "record": values.words(found.record),
        "recorded": len(found.steps),
        "rows": values.rows(_row(row) for row in table.rows),
        "statistics": None if table.statistics is None else _statistics(table.statistics),
        "outliers": values.rows(_outlier(table, one) for one in table.outliers),
        "phases_record": values.words(table.phases_record),
    }


def _row(row: StepFigures) -> dict[str, Any]:
    return {
        "number": values.integer(row.step.number),
        "name": values.words(row.step.name),
        "start_us": values.microseconds(row.step.start_ns),
        "end_us": values.microseconds(row.step.end_ns),
        "whole": row.whole,
        "warm_up": row.warm_up,
        "duration_us": values.microseconds(row.duration_ns),
        "host_us": values.microseconds(row.host_ns),
        "spans": [
            {"start_us": values.microseconds(start), "end_us": values.microseconds(end)}
            for start, end in row.spans
        ],
        **_on_devices(row),
        "launches": row.launches,
        "host_phases": _phases(row.host_phases),
        "device_phases": _phases(row.device_phases),
    }


def _on_devices(row: StepFigures) -> dict[str, Any]:
    """What the devices did, null without any."""
    times = {
        "total_us": row.total_ns,
        "busy_us": row.busy_ns,
        "idle_us": row.idle_ns,
        "compute_us": row.compute_ns,
        "exposed_comm_us": row.exposed_comm_ns,
        "exposed_copy_us": row.exposed_copy_ns,
        "lost_us": row.lost_ns,
    }
    known = bool(row.spans)
    return {
        **{name: values.microseconds(ns if known else None) for name, ns in times.items()},
        "owner": None if row.owner is None else row.owner.id,
        "owner_us": None if row.owner is None else values.microseconds(row.owner_ns),
        "kernels": row.kernels if known else None,
    }


def _phases(sums: Mapping[Phase, int] | None) -> dict[str, Any] | None:
    if sums is None:
        return None
    return {f"{phase.id}_us": values.microseconds(ns) for phase, ns in sums.items()}


def _statistics(over: Statistics) -> dict[str, Any]:
    return {
        "steps": over.steps,
        "median_us": values.microseconds(over.median_ns),
        "p10_us": values.microseconds(over.p10_ns),
        "p90_us": values.microseconds(over.p90_ns),
        "shortest_us": values.microseconds(over.shortest_ns),
        "longest_us": values.microseconds(over.longest_ns),
    }


def _outlier(table: StepTable, outlier: Outlier) -> dict[str, Any]:
    row = table.rows[outlier.index]
    return {
        "number": values.integer(row.step.number),
        "duration_us": values.microseconds(row.duration_ns),
        "over_us": values.microseconds(outlier.over_ns),
        "warm_up": row.warm_up,
        "grown": [
            {
                "kind": one.kind,
                "name": values.words(one.name),
                "usual_us": values.microseconds(one.usual_ns),
                "taken_us": values.microseconds(one.taken_ns),
            }
            for one in outlier.growths
        ],
    }
