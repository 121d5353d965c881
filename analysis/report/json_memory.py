"""Allocated memory as JSON."""

from __future__ import annotations

from typing import Any

from whichlayer.analysis.memory.usage import MemoryUse, memory_use, why_no_memory
from whichlayer.analysis.report import json_values as values
from whichlayer.analysis.results import Analysis


def memory_fields(analysis: Analysis) -> dict[str, Any]:
    """The field ``memory``."""
    return {
        "allocators": [_allocator(one) for one in memory_use(analysis)],
        "reason": values.words(why_no_memory(analysis)),
    }


def _allocator(one: MemoryUse) -> dict[str, Any]:
    return {
        "type": values.words(one.type),
        "device": one.device if one.device >= 0 else None,
        "events": one.events,
        "first_bytes": one.first_bytes,
        "last_bytes": one.last_bytes,
        "peak_bytes": one.peak_bytes,
        "peak_at_us": values.microseconds(one.peak_ns),
        "peak_reserved_bytes": one.peak_reserved,
        "peak_step": values.integer(one.peak_step),
        "peak_phase": values.words(one.peak_phase),
        "peak_where": values.place(one.peak_where),
        "total_bytes": one.total_bytes,
        "near_limit": one.near_limit,
        "allocated_bytes": one.taken_bytes,
        "freed_bytes": one.given_bytes,
        "allocations": one.taken,
        "frees": one.given,
        "turnover": values.number(one.turnover),
        "device_calls": one.device_calls,
        "asked_again": one.asked_again,
        "churn": one.churns,
        "by_operator": [
            {
                "operator": values.words(each.operator),
                "bytes": each.bytes,
                "allocations": each.allocations,
                "where": values.place(each.where),
            }
            for each in one.by_operator
        ],
        "largest": [
            {
                "at_us": values.microseconds(each.time_ns),
                "bytes": each.bytes,
                "where": values.place(each.where),
            }
            for each in one.largest
        ],
    }
