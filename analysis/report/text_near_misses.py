"""Rules that almost fired, as text: only for whoever asks, and never a finding."""

from __future__ import annotations

from whichlayer.analysis.findings.near_misses import near_misses
from whichlayer.analysis.report.text_layout import wrap
from whichlayer.analysis.report.units import share_text, time_text
from whichlayer.analysis.results import Analysis

_SHOWN = 16


def near_miss_lines(analysis: Analysis) -> list[str]:
    """An entry for each rule and threshold; empty where nobody asked."""
    if not analysis.options.near_misses:
        return []
    found = near_misses(analysis)
    if not found:
        return ["NEAR MISSES  none: no rule came within a factor of two of its threshold"]
    lines = wrap("rules that almost fired, and why not: no findings", "NEAR MISSES  ")
    for one in found[:_SHOWN]:
        whole = analysis.budget.total_ns
        stake = f" ({time_text(one.time_ns)}, {share_text(one.time_ns, whole)})"
        lines += wrap(
            f"[{one.layer.text.letter}] {one.rule}: {one.title}{stake if one.time_ns else ''}",
            "  ",
            "      ",
        )
        lines += wrap(one.why, "      ")
    if len(found) > _SHOWN:
        lines.append(f"  and {len(found) - _SHOWN} more")
    return lines
