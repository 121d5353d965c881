"""The kernel table for spreadsheets: every group, all figures, as RFC 4180 has it.

Lines end in CRLF, a field with a comma, a quote or a line break is quoted. What is not known
is empty. Texts come from the recording: one that a spreadsheet would take for a formula gets
an apostrophe in front of it, which makes it text there.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from typing import Final

from whichlayer.analysis.report.json_tables import judged_calls
from whichlayer.analysis.results import Analysis, KernelGroup
from whichlayer.analysis.text import clean

#: What begins a formula in the common spreadsheets; a tab or a break may hide one.
_FORMULA: Final = tuple("=+-@\t\r\n|%＝＋－＠")
_DIGITS: Final = 6

Value = str | int | float | bool | None
Row = tuple[KernelGroup, int]

#: Headings, units in them, and what stands under each.
COLUMNS: Final[tuple[tuple[str, Callable[[Row], Value]], ...]] = (
    ("name", lambda row: row[0].name),
    ("short name", lambda row: row[0].short_name),
    ("operator", lambda row: row[0].operator),
    ("shapes", lambda row: row[0].shapes),
    ("calls", lambda row: row[0].calls),
    ("judged calls", lambda row: row[1]),
    ("total time (us)", lambda row: _microseconds(row[0].total_ns)),
    ("share of window (%)", lambda row: _percent(row[0].share)),
    ("bytes per call (B)", lambda row: row[0].bytes),
    ("bandwidth (GB/s)", lambda row: row[0].gbps),
    ("of data sheet bandwidth (%)", lambda row: _percent(row[0].bandwidth_fraction)),
    ("flops per call (FLOP)", lambda row: row[0].flops),
    ("rate (TFLOP/s)", lambda row: row[0].tflops),
    ("of dense rate (%)", lambda row: _percent(row[0].flops_fraction)),
    ("arithmetic intensity (FLOP/B)", lambda row: _intensity(row[0])),
    ("of roof (%)", lambda row: _percent(row[0].roof_fraction)),
    ("lost (us)", lambda row: _microseconds(row[0].lost_ns) if row[1] else None),
    ("bound", lambda row: row[0].bound),
    ("precision", lambda row: row[0].precision),
    ("tensor cores", lambda row: row[0].tensor_cores),
    ("recorded occupancy (%)", lambda row: row[0].occupancy),
    ("owner", lambda row: row[0].layer.id),
    ("rule", lambda row: row[0].rule),
    ("why", lambda row: row[0].why),
    ("flags", lambda row: " ".join(row[0].flags)),
)


def render(analysis: Analysis) -> str:
    """The kernel groups, in the order of the analysis."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(heading for heading, _ in COLUMNS)
    for row in zip(analysis.kernels, judged_calls(analysis), strict=True):
        writer.writerow(_field(value(row)) for _, value in COLUMNS)
    return text.getvalue()


def _field(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.{_DIGITS}g}" if math.isfinite(value) else ""
    return str(value) if isinstance(value, int) else safe_text(value)


def safe_text(value: str) -> str:
    """A text on one line that no spreadsheet computes."""
    value = clean(value)
    return f"'{value}" if value.lstrip().startswith(_FORMULA) else value


def _microseconds(ns: int) -> str:
    """Exact, as in the JSON report; digits and a point are no formula."""
    return f"{ns // 1000}.{ns % 1000:03d}"


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _intensity(group: KernelGroup) -> float | None:
    if not group.bytes or group.flops is None:
        return None
    return group.flops / group.bytes
