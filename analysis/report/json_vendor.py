"""What ties a program to one vendor, as JSON."""

from __future__ import annotations

from typing import Any

from whichlayer.analysis.report import json_values as values
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.vendor.inventory import LibraryUse, vendor_inventory


def vendor_fields(analysis: Analysis) -> dict[str, Any]:
    """The fields ``vendor`` and ``vendor_shares``."""
    found = vendor_inventory(analysis)
    return {
        "vendor": values.rows(_row(use) for use in found.uses),
        "vendor_shares": {
            "busy_us": values.microseconds(found.busy_ns),
            "portable": values.number(found.portable_share),
            "portable_model": values.number(found.model_share),
            "tied": values.number(found.tied_share),
            "unknown": values.number(found.unknown_share),
            "graph_launches": found.graph_launches,
            "graph_us": values.microseconds(found.graph_ns),
            "record": values.words(found.record),
        },
    }


def _row(use: LibraryUse) -> dict[str, Any]:
    return {
        "library": use.library.name,
        "vendors": list(use.library.vendors),
        "reach": use.reach.value,
        "tie": use.tie.value,
        "alternative": values.words(use.library.alternative),
        "time_us": values.microseconds(use.time_ns),
        "share": values.number(use.share),
        "calls": use.calls,
        "kernels": values.texts(use.kernels),
        "operators": values.texts(use.operators),
    }
