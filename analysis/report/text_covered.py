"""What cost nothing as text: only for whoever asks, and never a finding."""

from __future__ import annotations

from whichlayer.analysis.covered import Covered, covered_causes
from whichlayer.analysis.kernels.names import short_name
from whichlayer.analysis.report.text_layout import wrap
from whichlayer.analysis.report.units import time_text
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.text import clean, gpu_text

_SHOWN = 12


def covered_lines(analysis: Analysis) -> list[str]:
    """An entry for each cause of each thread and device; empty where nobody asked."""
    if not analysis.options.covered:
        return []
    found = covered_causes(analysis)
    if not found:
        return ["COVERED  nothing: no call or transfer was hidden by other work"]
    lines = wrap(
        "what cost nothing because the device worked meanwhile: no findings, nothing to fix",
        "COVERED  ",
    )
    for one in found[:_SHOWN]:
        lines += _entry(analysis, one)
    if len(found) > _SHOWN:
        lines.append(f"  and {len(found) - _SHOWN} more")
    return lines


def _entry(analysis: Analysis, one: Covered) -> list[str]:
    charged = f", {time_text(one.charged_ns)} more is in gaps" if one.charged_ns else ""
    place = str(one.where)
    return [
        *wrap(
            f"[{one.layer.text.letter}] {one.rule} on {_who(analysis, one)}: "
            f"{time_text(one.time_ns)} covered{charged}; {_free(one)}",
            "  ",
            "      ",
        ),
        *wrap(one.why, "      "),
        *wrap(
            f"longest {_name(analysis, one)}, "
            f"{time_text(one.end_ns - one.start_ns)} from {time_text(one.start_ns)}"
            + (f", {place}" if place else ""),
            "      ",
        ),
    ]


def _free(one: Covered) -> str:
    """How many of the events cost nothing at all."""
    if not one.covered_events:
        return "it cost something" if one.events == 1 else f"each of {one.events} cost something"
    if one.covered_events == one.events:
        return "it cost nothing" if one.events == 1 else f"none of {one.events} cost anything"
    return f"{one.covered_events} of {one.events} cost nothing at all"


def _who(analysis: Analysis, one: Covered) -> str:
    if one.device >= 0:
        return gpu_text(analysis.devices[one.device].number)
    lane = analysis.trace.lanes[one.lane]
    return clean(lane.name or str(lane.tid))


def _name(analysis: Analysis, one: Covered) -> str:
    name = analysis.trace.name(one.row)
    return short_name(name) if one.device >= 0 else clean(name)
