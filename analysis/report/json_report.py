"""The report for programs: everything that is known, in the fields of ``report.schema.json``.

Fields are only ever added within a schema version; a missing value is null, never 0.
"""

from __future__ import annotations

from typing import Any

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report import json_values as values
from whichlayer.analysis.report.json_communication import communication_fields
from whichlayer.analysis.report.json_compile import compile_fields
from whichlayer.analysis.report.json_coverage import coverage_fields
from whichlayer.analysis.report.json_covered import covered_fields
from whichlayer.analysis.report.json_custom_kernel import custom_kernel_rows
from whichlayer.analysis.report.json_launches import launch_rows
from whichlayer.analysis.report.json_memory import memory_fields
from whichlayer.analysis.report.json_near_misses import near_miss_fields
from whichlayer.analysis.report.json_precision import precision_fields
from whichlayer.analysis.report.json_steps import step_fields
from whichlayer.analysis.report.json_tables import finding_rows, gap_rows, kernel_rows, layer_fields
from whichlayer.analysis.report.json_trace import device_rows, step_rows, trace_fields
from whichlayer.analysis.report.json_vendor import vendor_fields
from whichlayer.analysis.results import Analysis, Budget

SCHEMA_VERSION = 1

#: Fields of the contract that nothing computes, with what would fill them: none any more.
NOT_ANALYSED: dict[str, str] = {}


def render(analysis: Analysis) -> bytes:
    """A JSON object with one field, and in tables one row, per line."""
    fields: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "trace": trace_fields(analysis),
        "devices": values.rows(device_rows(analysis)),
        "window": {
            "start_us": values.microseconds(analysis.window.start_ns),
            "end_us": values.microseconds(analysis.window.end_ns),
            "reason": values.words(analysis.window.reason),
            "steps": step_rows(analysis.window.steps),
        },
        "verdict": {
            "side": analysis.verdict.side,
            "above_share": values.number(analysis.verdict.above_share),
            "below_share": values.number(analysis.verdict.below_share),
            "text": values.words(analysis.verdict.text),
            "caveat": values.words(analysis.verdict.caveat),
        },
        **layer_fields(analysis.budget),
        "budget": _budget(analysis.budget),
        "layers_by_device": values.rows(
            {"device": device.number, **layer_fields(budget)}
            for device, budget in zip(analysis.devices, analysis.budget_by_device, strict=True)
        ),
        "layers_by_step": values.rows(
            {"step": step.number, **layer_fields(budget)}
            for step, budget in zip(analysis.window.steps, analysis.budget_by_step, strict=True)
        ),
        "steps": step_fields(analysis),
        "findings": values.rows(finding_rows(analysis)),
        "recoverable_together_us": values.microseconds(analysis.together_ns),
        "gaps": values.rows(gap_rows(analysis)),
        "kernels": values.rows(kernel_rows(analysis)),
        **coverage_fields(analysis),
        **communication_fields(analysis),
        "launches": values.rows(launch_rows(analysis)),
        **covered_fields(analysis),
        **near_miss_fields(analysis),
        "custom_kernel": values.rows(custom_kernel_rows(analysis)),
        **vendor_fields(analysis),
        "compile": compile_fields(analysis),
        "precision": precision_fields(analysis),
        "memory": memory_fields(analysis),
        "not_analysed": NOT_ANALYSED,
    }
    return values.document(fields)


def _budget(budget: Budget) -> dict[str, Any]:
    return {
        "at_roof_us": values.microseconds(budget.at_roof_ns),
        "losses": _by_layer(budget.loss_ns),
        "gaps": _by_layer(budget.gap_ns),
        "spacing_us": values.microseconds(budget.spacing_ns),
        "unjudged_us": values.microseconds(budget.unjudged_ns),
        "edge_us": values.microseconds(budget.edge_ns),
        "total_us": values.microseconds(budget.total_ns),
    }


def _by_layer(lost_ns: Any) -> dict[str, Any]:
    return {layer.id: values.microseconds(lost_ns.get(layer, 0)) for layer in Layer}
