"""Coverage and throughput as JSON."""

from __future__ import annotations

from typing import Any

from whichlayer.analysis.kernels.coverage import Coverage, coverage_of
from whichlayer.analysis.kernels.throughput import Throughput, throughput_of
from whichlayer.analysis.report import json_values as values
from whichlayer.analysis.results import Analysis


def coverage_fields(analysis: Analysis) -> dict[str, Any]:
    """The fields ``coverage`` and ``throughput``."""
    return {
        "coverage": _coverage(coverage_of(analysis)),
        "throughput": _throughput(throughput_of(analysis)),
    }


def _coverage(found: Coverage) -> dict[str, Any]:
    return {
        "kernel_us": values.microseconds(found.kernel_ns),
        "bytes_us": values.microseconds(found.bytes_ns),
        "bytes_share": values.number(found.bytes_share),
        "matrix_us": values.microseconds(found.matrix_ns),
        "flops_us": values.microseconds(found.flops_ns),
        "flops_share": values.number(found.flops_share),
        "reasons": [
            {
                "reason": one.reason,
                "bytes_us": values.microseconds(one.bytes_ns),
                "flops_us": values.microseconds(one.flops_ns),
                "operators": values.texts(one.operators),
            }
            for one in found.missing
        ],
    }


def _throughput(found: Throughput) -> dict[str, Any]:
    return {
        "steps": found.steps,
        "step_us": values.microseconds(found.step_ns),
        "flops_per_step": values.integer(found.flops_per_step),
        "tflops": values.number(found.tflops),
        "precision": found.precision,
        "peak_tflops": values.number(found.peak_tflops),
        "mfu": values.number(found.mfu),
        "covered_share": values.number(found.covered_share),
        "reason": values.words(found.reason),
    }
