"""The report for people: verdict first, what to do about it, then where the time went.

It fits a terminal and a chat message: plain text, at most 100 columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from whichlayer.analysis.quality.effects import doubts
from whichlayer.analysis.quality.gate import Effect
from whichlayer.analysis.ranks import find_rank, find_world_size
from whichlayer.analysis.report.advice import RECORDING_SNIPPET, recording_advice
from whichlayer.analysis.report.recording_cost import recording_cost_lines
from whichlayer.analysis.report.text_budget import budget_lines
from whichlayer.analysis.report.text_communication import collective_lines, copy_lines
from whichlayer.analysis.report.text_compile import compile_lines
from whichlayer.analysis.report.text_coverage import coverage_lines, throughput_lines
from whichlayer.analysis.report.text_covered import covered_lines
from whichlayer.analysis.report.text_custom_kernel import custom_kernel_lines
from whichlayer.analysis.report.text_findings import finding_lines
from whichlayer.analysis.report.text_kernels import kernel_lines
from whichlayer.analysis.report.text_launches import launch_lines
from whichlayer.analysis.report.text_layout import Column, columns_of, fit_path, table, wrap
from whichlayer.analysis.report.text_memory import memory_lines
from whichlayer.analysis.report.text_near_misses import near_miss_lines
from whichlayer.analysis.report.text_precision import precision_lines
from whichlayer.analysis.report.text_quality import quality_lines
from whichlayer.analysis.report.text_recording import recording_lines
from whichlayer.analysis.report.text_steps import step_lines
from whichlayer.analysis.report.text_vendor import vendor_lines
from whichlayer.analysis.report.units import count_text, time_text
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.text import source_text

_DEVICE_COLUMNS = (
    Column("", 6, right=False),
    Column("", 26, right=False),
    Column("span", 8),
    Column("busy", 8),
    Column("idle", 8),
    Column("compute", 8),
    Column("comm", 8),
    Column("copy", 8),
)


def render(analysis: Analysis) -> str:
    """The summary of an analysis as lines of text."""
    sections = [part(analysis) for part in _parts(analysis)]
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def further_sections(analysis: Analysis) -> list[list[str]]:
    """What the text report says beside verdict, layers, findings and kernels.

    Each section begins with its name in capitals; for reports that show those four themselves.
    """
    shown = (_verdict, _trace, budget_lines, finding_lines, kernel_lines)
    sections = [part(analysis) for part in _parts(analysis) if part not in shown]
    return [section for section in sections if section]


def _parts(analysis: Analysis) -> tuple[Callable[[Analysis], list[str]], ...]:
    """The sections in their order."""
    # What to do is said first: a report is read from its top, and often no further.
    accounted = (
        finding_lines,
        budget_lines,
        _devices,
        step_lines,
        kernel_lines,
        coverage_lines,
        throughput_lines,
        collective_lines,
        copy_lines,
        launch_lines,
        precision_lines,
        compile_lines,
        custom_kernel_lines,
        vendor_lines,
        memory_lines,
        covered_lines,
        near_miss_lines,
    )
    told = accounted if analysis.devices else (recording_lines,)
    return (_verdict, _trace, *told, quality_lines, _advice)


def _verdict(analysis: Analysis) -> list[str]:
    lines = wrap(analysis.verdict.text, "VERDICT  ")
    if analysis.verdict.caveat:
        lines += wrap(analysis.verdict.caveat, " " * 9)
    return lines


def _trace(analysis: Analysis) -> list[str]:
    trace = analysis.trace
    rank, world_size = find_rank(trace.header), find_world_size(trace.header)
    facts = [count_text(trace.events, "event"), time_text(trace.duration_ns)]
    if trace.part is not None:
        facts.append("read in part")
    if rank is not None:
        facts.append(f"rank {rank}" + (f" of {world_size}" if world_size is not None else ""))
    tail = "  (" + ", ".join(facts) + ")"
    first = "trace    "
    path = fit_path(source_text(trace.path), max(20, 100 - columns_of(first + tail)))
    window = analysis.window
    length = time_text(window.end_ns - window.start_ns)
    return [
        *wrap(path + tail, first),
        *wrap(f"{length}: {window.reason}" if window.reason else length, "window   "),
        *recording_cost_lines(analysis),
    ]


def _devices(analysis: Analysis) -> list[str]:
    if not analysis.devices:
        return []
    rows = [
        (
            f"GPU {device.number}" if device.number >= 0 else "GPU",
            device.model or device.name or "unknown",
            time_text(device.end_ns - device.start_ns),
            time_text(device.busy_ns),
            time_text(device.idle_ns),
            time_text(device.compute_ns),
            time_text(device.exposed_comm_ns),
            time_text(device.exposed_copy_ns),
        )
        for device in analysis.devices
    ]
    lines = table(_columns(analysis), rows, indent="  ")
    notes = {device.model_note: None for device in analysis.devices if device.model_note}
    return [
        "DEVICES  first to last activity of the whole recording; comm and copy where no compute runs",
        *lines,
        *(line for note in notes for line in wrap(note, "  peaks: ")),
    ]


def _columns(analysis: Analysis) -> tuple[Column, ...]:
    """The columns of devices; a mark on idle where a gate calls it unreliable."""
    if not any(gate.effect == Effect.GAPS_LOW for gate in doubts(analysis.warnings)):
        return _DEVICE_COLUMNS
    marked = {"idle": "idle (?)"}
    return tuple(
        replace(column, heading=marked.get(column.heading, column.heading))
        for column in _DEVICE_COLUMNS
    )


def _advice(analysis: Analysis) -> list[str]:
    advice = recording_advice(analysis)
    if not advice:
        return []
    lines = ["RECORD NEXT TIME"]
    for line in advice:
        lines += wrap(line, "  - ")
    return [*lines, "", *(f"    {line}".rstrip() for line in RECORDING_SNIPPET)]
