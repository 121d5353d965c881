"""Gaps, kernels and findings as JSON rows: every one, not a top list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from whichlayer.analysis.gaps.explain import explain_gap
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report import json_values as values
from whichlayer.analysis.results import Analysis, Budget, Finding, GapKind, KernelGroup, Region


def gap_rows(analysis: Analysis) -> Iterator[dict[str, Any]]:
    """Every piece of a gap above the launch floor, by device and start."""
    gaps = analysis.gaps
    numbers = [device.number for device in analysis.devices]
    kinds = [kind.id for kind in GapKind]
    columns = zip(
        gaps.start_ns.tolist(),
        gaps.end_ns.tolist(),
        gaps.device.tolist(),
        gaps.kind.tolist(),
        gaps.layer.tolist(),
        strict=True,
    )
    for index, (start_ns, end_ns, device, kind, layer) in enumerate(columns):
        text = explain_gap(analysis, index)
        yield {
            "start_us": values.microseconds(start_ns),
            "end_us": values.microseconds(end_ns),
            "device": numbers[device],
            "kind": kinds[kind],
            "cause": gaps.rule(index),
            "layer": Layer(layer).id,
            "title": values.words(text.title),
            "fix": values.words(text.fix),
            "where": values.place(text.where),
            "evidence": values.texts(text.evidence),
        }


def kernel_rows(analysis: Analysis) -> Iterator[dict[str, Any]]:
    """Every group of kernels, in the order of the analysis."""
    judged = judged_calls(analysis)
    for group, calls in zip(analysis.kernels, judged, strict=True):
        yield _kernel(group, calls)


def judged_calls(analysis: Analysis) -> list[int]:
    """How many calls of each kernel group could be judged."""
    activities = analysis.activities
    groups = activities.group[activities.judged & (activities.group >= 0)]
    return [int(calls) for calls in np.bincount(groups, minlength=len(analysis.kernels))]


def finding_rows(analysis: Analysis) -> Iterator[dict[str, Any]]:
    """Every finding, most valuable first."""
    for finding in analysis.findings:
        regions = [_region(analysis, region) for region in finding.regions]
        yield finding_fields(finding, regions)


def _kernel(group: KernelGroup, judged: int) -> dict[str, Any]:
    return {
        "name": values.words(group.name),
        "short_name": values.words(group.short_name),
        "operator": values.words(group.operator),
        "shapes": values.words(group.shapes),
        "calls": group.calls,
        "judged_calls": judged,
        "total_us": values.microseconds(group.total_ns),
        "share": values.number(group.share),
        "bytes": values.integer(group.bytes),
        "gbps": values.number(group.gbps),
        "bandwidth_fraction": values.number(group.bandwidth_fraction),
        "attainable_gbps": values.number(group.attainable_gbps),
        "fits_cache": group.fits_cache,
        "flops": values.integer(group.flops),
        "tflops": values.number(group.tflops),
        "flops_fraction": values.number(group.flops_fraction),
        "roof_fraction": values.number(group.roof_fraction),
        "bound": group.bound,
        "occupancy": values.number(group.occupancy),
        "occupancy_limiter": values.words(group.limiter),
        "recorded_occupancy": values.number(group.recorded_occupancy),
        "blocks": values.integer(group.blocks),
        "resident_blocks": values.integer(group.resident_blocks),
        "waves": values.number(group.waves),
        "median_us": values.microseconds(group.median_ns),
        "variability": values.number(group.variability),
        "drift": values.number(group.drift),
        "tensor_cores": group.tensor_cores,
        "precision": group.precision,
        # Of calls that nothing is known about, no time is known to be lost either.
        "lost_us": values.microseconds(group.lost_ns) if judged else None,
        "layer": group.layer.id,
        "rule": values.words(group.rule),
        "why": values.words(group.why),
        "flags": values.texts(group.flags),
        "counters": values.words(group.counters),
    }


def finding_fields(finding: Finding, regions: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """A finding; without its regions where they are None, as in a report of several recordings."""
    return {
        "rule": finding.rule,
        "layer": finding.layer.id,
        "title": values.words(finding.title),
        "time_us": values.microseconds(finding.time_ns),
        "recoverable_us": values.microseconds(finding.recoverable_ns),
        "share": values.number(finding.share),
        "fix": values.words(finding.fix),
        "where": values.place(finding.where),
        "evidence": values.texts(finding.evidence),
        **({} if regions is None else {"regions": regions}),
        "confidence": finding.confidence,
        "threshold": values.words(finding.threshold),
    }


def layer_fields(budget: Budget) -> dict[str, Any]:
    """The layer budget; ``layers`` and ``unjudged_us`` together are ``total_us`` exactly."""
    lost = {layer: budget.lost_to(layer) for layer in Layer}
    lost[Layer.NONE] += budget.at_roof_ns + budget.spacing_ns + budget.edge_ns
    return {
        "layers": {layer.id: values.microseconds(ns) for layer, ns in lost.items()},
        "unjudged_us": values.microseconds(budget.unjudged_ns),
        "total_us": values.microseconds(budget.total_ns),
    }


def _region(analysis: Analysis, region: Region) -> dict[str, Any]:
    return {
        "start_us": values.microseconds(region.start_ns),
        "end_us": values.microseconds(region.end_ns),
        "device": analysis.devices[region.device].number,
    }
