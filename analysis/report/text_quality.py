"""How far the recording can be trusted, as text: the most severe first."""

from __future__ import annotations

from whichlayer.analysis.errors import Severity
from whichlayer.analysis.quality import severity_of
from whichlayer.analysis.quality.catalogue import gates_by_id
from whichlayer.analysis.report.json_trace import every_warning
from whichlayer.analysis.report.text_layout import wrap
from whichlayer.analysis.results import Analysis


def quality_lines(analysis: Analysis) -> list[str]:
    """What reading and the gates warned of; empty where nothing is odd."""
    warnings = every_warning(analysis)
    if not warnings:
        return []
    first = next((w.code for w in warnings if w.code in gates_by_id()), "")
    more = f"  ('whichlayer rules {first}' explains {first})" if first else ""
    lines = [f"QUALITY OF THE RECORDING{more}"]
    for warning in warnings:
        mark = "-" if severity_of(warning) == Severity.NOTE else "!"
        offset = warning.byte_offset
        place = f" (byte {offset})" if offset >= 0 and str(offset) not in warning.message else ""
        lines += wrap(f"{warning.message}{place} [{warning.code}]", f"  {mark} ")
    return lines
