"""The JSON report as Python objects."""

from __future__ import annotations

import json
from typing import Any

from whichlayer.analysis.report.json_report import render
from whichlayer.analysis.results import Analysis


def to_dict(analysis: Analysis) -> dict[str, Any]:
    """Everything that the JSON report holds, in the fields of ``report.schema.json``.

    Times are microseconds; what is not known is None, never 0.

    Args:
        analysis: from :func:`whichlayer.analysis.analyse`.
    """
    fields: dict[str, Any] = json.loads(render(analysis))
    return fields
