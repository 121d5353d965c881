"""Allocated memory of each GPU, as text: only where it was recorded."""

from __future__ import annotations

from whichlayer.analysis.memory.usage import MemoryUse, memory_use
from whichlayer.analysis.report.text_layout import wrap
from whichlayer.analysis.report.units import bytes_text, count_text, share_text, time_text
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.text import clean

_LEAST_BYTES = 1_000_000
_SHOWN = 3
_TURNS = 0.1
_MUCH = 0.10
"""Of less of the device's memory only the peak is told."""


def memory_lines(analysis: Analysis) -> list[str]:
    """The peak of each GPU, what allocated, and churn."""
    lines: list[str] = []
    for one in memory_use(analysis):
        if one.type != "cpu" and one.peak_bytes >= _LEAST_BYTES:
            lines += _told(one, analysis.options.whole)
    return lines


def _told(one: MemoryUse, whole: str) -> list[str]:
    device = f"GPU {one.device}: " if one.device >= 0 else ""
    lines = wrap(device + _peak(one), "MEMORY  ")
    if not _much(one):
        return lines
    if one.first_bytes > one.peak_bytes / 2:
        there = f"{bytes_text(one.first_bytes)} of it was there when the {whole} began"
        lines += wrap(there, "  ")
    operators = ", ".join(
        f"{clean(each.operator)} {bytes_text(each.bytes)}" for each in one.by_operator[:_SHOWN]
    )
    if operators:
        lines += wrap(f"{operators} (what was freed since included)", "  allocated until then: ")
    turned = f"{bytes_text(one.taken_bytes)} in {count_text(one.taken, 'allocation')}"
    if one.turnover is not None and one.turnover >= _TURNS:
        turned += f", {one.turnover:.1f} times the peak a step"
    if one.device_calls:
        turned += f"; {one.device_calls:,} calls asked the device or gave back to it"
    lines += wrap(turned, f"  taken in the {whole}: ")
    if one.churns:
        lines += wrap("memory-churn: what went back to the device was asked for again", "  ")
    if one.near_limit:
        lines += wrap("near the limit of the device", "  ")
    return lines


def _much(one: MemoryUse) -> bool:
    """Whether memory is anything to look at: a good part of the device, or churn."""
    if one.churns or one.total_bytes is None:
        return True
    return max(one.peak_bytes, one.peak_reserved or 0) >= _MUCH * one.total_bytes


def _peak(one: MemoryUse) -> str:
    said = f"{bytes_text(one.peak_bytes)} allocated at most"
    if one.total_bytes is not None:
        said += f" of {bytes_text(one.total_bytes)} ({share_text(one.peak_bytes, one.total_bytes)})"
    if one.peak_reserved is not None:
        said += f", {bytes_text(one.peak_reserved)} reserved"
    facts = [f"at {time_text(one.peak_ns)}"]
    if one.peak_step is not None:
        facts.append(f"step {one.peak_step}")
    if one.peak_phase:
        facts.append(one.peak_phase)
    place = clean(str(one.peak_where))
    return f"{said} {', '.join(facts)}{f', {place}' if place else ''}"
