"""Findings as text: what is wrong, whose it is, what to change and where, and why."""

from __future__ import annotations

from whichlayer.analysis.findings.worth import is_bound
from whichlayer.analysis.layers import layer_name
from whichlayer.analysis.report.text_budget import platform
from whichlayer.analysis.report.text_layout import wrap
from whichlayer.analysis.report.units import share_text, time_text
from whichlayer.analysis.results import Analysis, Finding, Where

_SHOWN = 8
"""More findings than this are one line each: the report has to fit a screen or two."""


def finding_lines(analysis: Analysis) -> list[str]:
    """The findings, most valuable first; empty where there are none."""
    if not analysis.findings:
        return ["FINDINGS  none"]
    vendor = platform(analysis)
    lines = ["FINDINGS"]
    for place, finding in enumerate(analysis.findings[:_SHOWN], start=1):
        lines += _finding(place, finding, layer_name(finding.layer, vendor))
    for place, finding in enumerate(analysis.findings[_SHOWN:], start=_SHOWN + 1):
        lines += wrap(_headline(finding), f" {place:2d} ")
    return [*lines, *_together(analysis)]


def _together(analysis: Analysis) -> list[str]:
    """What removing everything at once gains, where single gains do not add up to it."""
    replayed = [one for one in analysis.findings if one.recoverable_ns is not None]
    if analysis.together_ns is None:
        return []
    most = "≤ " if any(is_bound(one) for one in replayed) else ""
    share = share_text(analysis.together_ns / max(analysis.budget.total_ns, 1))
    text = f"all {len(replayed)} that have a recoverable time, gone together: {most}"
    return wrap(f"{text}{time_text(analysis.together_ns)} recoverable, {share}", "  ")


def _finding(place: int, finding: Finding, owner: str) -> list[str]:
    indent = "      "
    lines = wrap(_headline(finding), f" {place:2d}  ", indent)
    lines += wrap(f"{owner}: {finding.layer.text.fixed_in}", f"{indent}owner  ")
    lines += wrap(finding.fix, f"{indent}fix    ")
    lines += wrap(where_text(finding.where), f"{indent}where  ")
    for number, line in enumerate(finding.evidence):
        lines += wrap(line, f"{indent}{'' if number else 'why':<7}")
    return lines


def _headline(finding: Finding) -> str:
    recoverable = recoverable_text(finding)
    worth = f", {recoverable}" if recoverable else ""
    return (
        f"[{finding.layer.text.letter}] {finding.rule}: {finding.title} "
        f"({lost_text(finding)}{worth}, "
        f"confidence {finding.confidence})"
    )


def lost_text(finding: Finding, of: str = "") -> str:
    """What a finding takes; ``of`` names what its share is of.

    Some cost what other causes and kernels have already: those have no time of their own.
    """
    if not finding.time_ns:
        return "no time of its own"
    return f"{time_text(finding.time_ns)} lost, {share_text(finding.share)}{of}"


def recoverable_text(finding: Finding) -> str:
    """What removing its cause would gain (``≤``: at most), empty where that is not known."""
    if finding.recoverable_ns is None:
        return ""
    most = "≤ " if is_bound(finding) else ""
    return f"recoverable {most}{time_text(finding.recoverable_ns)}"


def where_text(where: Where) -> str:
    """The place to change something, or that the trace does not tell it."""
    parts = [str(where)] if where.file is not None else []
    parts += [part for part in (where.module, where.operator) if part]
    known = ", in ".join(parts)
    return known or "not in the trace"
