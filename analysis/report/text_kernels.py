"""The kernel groups that take the most time, as a table."""

from __future__ import annotations

import math

from whichlayer.analysis.report.json_tables import judged_calls
from whichlayer.analysis.report.text_layout import Column, table
from whichlayer.analysis.report.units import UNKNOWN, rate_text, share_text, time_text
from whichlayer.analysis.results import Analysis, KernelGroup

_SHOWN = 10
_COLUMNS = (
    Column("", 33, right=False),
    Column("calls", 6),
    Column("time", 8),
    Column("share", 7),
    Column("GB/s", 6),
    Column("TFLOP/s", 7),
    Column("% roof", 6),
    Column("lost", 10),
)


def kernel_lines(analysis: Analysis) -> list[str]:
    """The groups with the most time in the window; empty where none ran."""
    if not analysis.kernels:
        return []
    judged = judged_calls(analysis)
    order = sorted(
        range(len(analysis.kernels)), key=lambda index: -analysis.kernels[index].total_ns
    )
    shown = order[:_SHOWN]
    rows = [_row(analysis.kernels[index], judged[index]) for index in shown]
    of = f"{len(shown)} of {len(order)} groups" if len(order) > len(shown) else "by time"
    return [f"KERNELS  {of}", *table(_COLUMNS, rows, indent="  ")]


def _row(group: KernelGroup, judged: int) -> tuple[str, ...]:
    owner = f" {group.layer.text.letter}" if judged else ""
    return (
        group.short_name or group.name,
        str(group.calls),
        time_text(group.total_ns),
        share_text(group.share),
        rate_text(group.gbps),
        rate_text(group.tflops),
        _percent(group.roof_fraction),
        (time_text(group.lost_ns) if judged else UNKNOWN) + owner,
    )


def _percent(fraction: float | None) -> str:
    if fraction is None or not math.isfinite(fraction):
        return UNKNOWN
    return f"{100 * fraction:.0f}"
