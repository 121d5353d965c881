"""Launches, delays and queue depth of each device as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whichlayer.analysis.launches.series import LaunchSeries
from whichlayer.analysis.launches.view import Delays, DeviceLaunches, launch_views
from whichlayer.analysis.report import json_values as values
from whichlayer.analysis.results import Analysis


def launch_rows(analysis: Analysis) -> Iterator[dict[str, Any]]:
    """One object per device."""
    for view in launch_views(analysis):
        yield _device(analysis, view)


def _device(analysis: Analysis, view: DeviceLaunches) -> dict[str, Any]:
    graphs = view.graphs
    return {
        "device": analysis.devices[view.device].number,
        "start_us": values.microseconds(view.low_ns),
        "end_us": values.microseconds(view.high_ns),
        "launches": view.launches,
        "activities": view.activities,
        "unlinked_activities": view.unlinked,
        "activities_per_launch": values.number(view.activities / view.launches)
        if view.launches
        else None,
        "graph_launches": None
        if graphs is None
        else {
            "launches": graphs.launches,
            "activities_least": graphs.fewest,
            "activities_median": graphs.median,
            "activities_most": graphs.most,
        },
        "delay": _delays(view.delays),
        "empty_queue_launches": view.into_empty,
        "empty_queue_delay_us": values.microseconds(view.empty_latency_ns),
        "kinds": [
            {
                "call": values.words(kind.name),
                "launches": kind.launches,
                "activities": kind.activities,
                "delay": _delays(kind.delays),
            }
            for kind in view.kinds
        ],
        "steps": [
            {"step": step.number, "launches": step.launches, "activities": step.activities}
            for step in view.steps
        ],
        "queue": {
            "depth_median": view.depth_median,
            "depth_mean": values.number(view.depth_mean),
            "depth_most": view.depth_most,
            "empty_us": values.microseconds(view.empty_ns),
            "host_late_us": values.microseconds(view.starved_ns),
            "host_late_share": None
            if view.starved_ns is None
            else values.number(view.starved_ns / (view.high_ns - view.low_ns)),
        },
        "over_time": None if view.series is None else _series(view.series),
        "record": values.words(view.record),
    }


def _delays(delays: Delays) -> dict[str, Any]:
    return {
        "median_us": values.microseconds(delays.median_ns),
        "p90_us": values.microseconds(delays.p90_ns),
        "p99_us": values.microseconds(delays.p99_ns),
        "most_us": values.microseconds(delays.most_ns),
    }


def _series(series: LaunchSeries) -> dict[str, Any]:
    """Columns with one entry per bin; the edges have one more."""
    some = (series.launches > 0).tolist()
    width = (series.edges_ns[1:] - series.edges_ns[:-1]).tolist()
    return {
        "edges_us": [values.microseconds(edge) for edge in series.edges_ns.tolist()],
        "launches": series.launches.tolist(),
        "depth_mean": [
            values.number(area / length)
            for area, length in zip(series.depth_area.tolist(), width, strict=True)
        ],
        "depth_most": series.depth_most.tolist(),
        "delay_median_us": _known(series.delay_median_ns.tolist(), some),
        "delay_most_us": _known(series.delay_most_ns.tolist(), some),
    }


def _known(delays: list[int], some: list[bool]) -> list[Any]:
    pairs = zip(delays, some, strict=True)
    return [values.microseconds(delay) if known else None for delay, known in pairs]
