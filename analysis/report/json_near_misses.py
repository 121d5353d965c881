"""Rules that almost fired, as JSON rows: only for whoever asks."""

from __future__ import annotations

from typing import Any

from whichlayer.analysis.findings.near_misses import near_misses
from whichlayer.analysis.report import json_values as values
from whichlayer.analysis.results import Analysis


def near_miss_fields(analysis: Analysis) -> dict[str, Any]:
    """The field ``near_misses``, where it was asked for."""
    if not analysis.options.near_misses:
        return {}
    return {
        "near_misses": values.rows(
            {
                "rule": one.rule,
                "layer": one.layer.id,
                "title": values.words(one.title),
                "figure": values.number(one.figure),
                "threshold": values.number(one.threshold),
                "setting": one.setting,
                "time_us": values.microseconds(one.time_ns),
                "why": values.words(one.why),
            }
            for one in near_misses(analysis)
        )
    }
