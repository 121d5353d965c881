"""The trace, its devices and its steps as JSON fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.live.recording_key import find_recording_cost
from whichlayer.analysis.quality import most_severe_first, severity_of
from whichlayer.analysis.ranks import find_rank, find_world_size
from whichlayer.analysis.report import json_values as values
from whichlayer.analysis.report.recorded import find_recorded
from whichlayer.analysis.results import Analysis, Device
from whichlayer.analysis.trace.columns import Step


def trace_fields(analysis: Analysis) -> dict[str, Any]:
    """What the recording is, whatever part of it is analysed."""
    trace = analysis.trace
    cost = find_recording_cost(trace.header)
    return {
        "path": values.words(trace.path),
        "producer": values.words(trace.producer),
        "rank": values.integer(find_rank(trace.header)),
        "world_size": values.integer(find_world_size(trace.header)),
        "steps": step_rows(trace.steps),
        "events": trace.events,
        "duration_us": values.microseconds(trace.duration_ns),
        "start_unix_ns": None
        if trace.base_ns is None
        else values.integer(trace.base_ns + trace.origin_ns),
        "part": None
        if trace.part is None
        else {
            "start_us": values.microseconds(trace.part.low_ns),
            "end_us": values.microseconds(trace.part.high_ns),
        },
        "recorded": find_recorded(trace).as_dict(),
        "recording_cost": None if cost is None else cost.as_dict(),
        "warnings": values.rows(_warning(warning) for warning in every_warning(analysis)),
        "devices": values.rows(device_rows(analysis)),
    }


def every_warning(analysis: Analysis) -> list[TraceWarning]:
    """What reading and analysing warned of, each once, most severe first."""
    return most_severe_first((*analysis.trace.warnings, *analysis.warnings))


def device_rows(analysis: Analysis) -> Iterator[dict[str, Any]]:
    """Every GPU with activity, over the whole recording."""
    for device in analysis.devices:
        yield _device(device)


def step_rows(steps: Iterable[Step]) -> list[Mapping[str, Any]]:
    """Recorded steps, as marked on the CPU."""
    return [
        {
            "number": values.integer(step.number),
            "name": values.words(step.name),
            "start_us": values.microseconds(step.start_ns),
            "end_us": values.microseconds(step.end_ns),
        }
        for step in steps
    ]


def _device(device: Device) -> dict[str, Any]:
    return {
        "index": device.number,
        "name": values.words(device.name),
        "model": None if device.model is None else values.words(device.model),
        "model_note": values.words(device.model_note),
        "vendor": values.words(device.vendor),
        "start_us": values.microseconds(device.start_ns),
        "end_us": values.microseconds(device.end_ns),
        "span_us": values.microseconds(device.end_ns - device.start_ns),
        "busy_us": values.microseconds(device.busy_ns),
        "idle_us": values.microseconds(device.idle_ns),
        "compute_us": values.microseconds(device.compute_ns),
        "exposed_comm_us": values.microseconds(device.exposed_comm_ns),
        "exposed_copy_us": values.microseconds(device.exposed_copy_ns),
        "activities": device.activities,
    }


def _warning(warning: TraceWarning) -> dict[str, Any]:
    return {
        "code": values.words(warning.code),
        "severity": severity_of(warning).id,
        "message": values.words(warning.message),
        "count": warning.count,
        "byte_offset": None if warning.byte_offset < 0 else warning.byte_offset,
    }
