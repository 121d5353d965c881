"""What torch.compile made, as JSON."""

from __future__ import annotations

from typing import Any

from whichlayer.analysis.compiled.breaks import GraphBreak
from whichlayer.analysis.compiled.graphs import CompiledRegion
from whichlayer.analysis.compiled.report import NOT_USED, compile_report
from whichlayer.analysis.compiled.triton import TritonKernel
from whichlayer.analysis.report import json_values as values
from whichlayer.analysis.results import Analysis


def compile_fields(analysis: Analysis) -> dict[str, Any]:
    """The field ``compile``."""
    found = compile_report(analysis)
    return {
        "used": found.used,
        "reason": None if found.used else NOT_USED,
        "compiled_us": values.microseconds(found.compiled_ns),
        "eager_us": values.microseconds(found.eager_ns),
        "unknown_us": values.microseconds(found.unknown_ns),
        "compiled_share": values.number(found.compiled_share),
        "compiled_host_us": values.microseconds(found.compiled_host_ns),
        "eager_host_us": values.microseconds(found.eager_host_ns),
        "triton_us": values.microseconds(found.triton_ns),
        "regions": [_region(one) for one in found.regions],
        "variants": values.texts(found.variants),
        "breaks": [_break(one) for one in found.breaks],
        "unproven_breaks": found.unproven,
        "compiles": {
            "warm_up": found.compiles.first,
            "warm_up_us": values.microseconds(found.compiles.first_ns),
            "recompiles": found.compiles.later,
            "recompiles_us": values.microseconds(found.compiles.later_ns),
        },
        "triton_kernels": [_kernel(one) for one in found.kernels],
        "record": values.words(found.record),
    }


def _region(one: CompiledRegion) -> dict[str, Any]:
    return {
        "name": values.words(one.name),
        "graph": values.words(one.graph),
        "calls": one.calls,
        "host_us": values.microseconds(one.host_ns),
        "kernels": one.kernels,
        "kernel_us": values.microseconds(one.kernel_ns),
        "where": values.place(one.where),
    }


def _break(one: GraphBreak) -> dict[str, Any]:
    return {
        "file": None if one.file is None else values.words(one.file),
        "line": values.integer(one.line),
        "function": values.words(one.function),
        "times": one.times,
        "host_us": values.microseconds(one.host_ns),
        "operator": values.words(one.operator),
    }


def _kernel(one: TritonKernel) -> dict[str, Any]:
    return {
        "name": values.words(one.name),
        "family": one.family,
        "operators": values.texts(one.operators),
        "calls": one.calls,
        "time_us": values.microseconds(one.time_ns),
        "share": values.number(one.share),
        "gbps": values.number(one.gbps),
        "bandwidth_fraction": values.number(one.bandwidth_fraction),
        "file": None if one.file is None else values.words(one.file),
        "file_here": one.file_here,
        "grid": values.words(one.grid),
        "num_warps": one.num_warps,
        "num_stages": one.num_stages,
        "kernel_num_gb": values.number(one.num_gb),
        "kernel_flop": values.number(one.flop),
        "settings": values.words(one.settings),
    }
