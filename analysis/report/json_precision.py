"""In which precision products ran, as JSON."""

from __future__ import annotations

from typing import Any

from whichlayer.analysis.precision_share.shares import precision_shares
from whichlayer.analysis.report import json_values as values
from whichlayer.analysis.results import Analysis


def precision_fields(analysis: Analysis) -> dict[str, Any]:
    """The field ``precision``."""
    found = precision_shares(analysis)
    advice = found.advice
    return {
        "product_us": values.microseconds(found.product_ns),
        "busy_us": values.microseconds(found.busy_ns),
        "shares": [
            {
                "precision": one.precision,
                "time_us": values.microseconds(one.time_ns),
                "share": values.number(one.share),
                "calls": one.calls,
                "by_name_us": values.microseconds(one.by_name_ns),
                "tensor_core_us": values.microseconds(one.tensor_core_ns),
                "operators": values.texts(one.operators),
            }
            for one in found.shares
        ],
        "cast_us": values.microseconds(found.cast_ns),
        "casts": found.casts if found.cast_ns is not None else None,
        "faster": None if advice is None else advice.faster,
        "above": None if advice is None else values.words(advice.above),
        "below": None if advice is None else values.words(advice.below),
        "record": values.words(found.record),
    }
