"""The words of the region pane: owner, cause, evidence, fix and place of whatever is chosen."""

from __future__ import annotations

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.gaps.explain import explain_gap
from whichlayer.analysis.layers import Layer, layer_name
from whichlayer.analysis.report.text_findings import lost_text, recoverable_text
from whichlayer.analysis.report.units import (
    NOT_NEEDED,
    UNKNOWN,
    count_text,
    rate_text,
    share_text,
    time_text,
)
from whichlayer.analysis.results import (
    Analysis,
    Finding,
    GapKind,
    GapText,
    KernelGroup,
    Where,
)
from whichlayer.analysis.text import clean, gpu_text
from whichlayer.tui.line import Line


def describe_gap(analysis: Analysis, index: int, whole_ns: int = 0) -> list[Line]:
    """A gap piece: whose it is, why, and what to change where.

    Args:
        analysis: what is known.
        index: into ``analysis.gaps``.
        whole_ns: length of the gap that the piece is part of, where that is to be told.
    """
    gaps = analysis.gaps
    text: GapText = explain_gap(analysis, index)
    device = analysis.devices[int(gaps.device[index])]
    start, end = int(gaps.start_ns[index]), int(gaps.end_ns[index])
    kind = GapKind(int(gaps.kind[index])).id
    total = analysis.window.end_ns - analysis.window.start_ns
    part = f", part of a gap of {time_text(whole_ns)}" if whole_ns > end - start else ""
    lines = [
        Line(layer_name(text.layer, device.vendor), layer=text.layer, strong=True),
        Line(f"{text.rule}: {clean(text.title)}", strong=True),
        Line(
            f"{time_text(end - start)} {kind} on {gpu_text(device.number)}"
            f" ({share_text(end - start, total)} of the {analysis.options.whole}){part}"
        ),
    ]
    lines += _remedy(text.fix, text.where)
    lines += [Line(clean(item), label=" " if i else "why") for i, item in enumerate(text.evidence)]
    return lines + _to_record(text.where)


def describe_finding(analysis: Analysis, finding: Finding) -> list[Line]:
    """A finding in full."""
    vendor = analysis.devices[0].vendor if analysis.devices else ""
    worth = lost_text(finding, f" of the {analysis.options.whole}")
    if recoverable := recoverable_text(finding):
        worth += f"; {recoverable}"
    lines = [
        Line(layer_name(finding.layer, vendor), layer=finding.layer, strong=True),
        Line(f"{finding.rule}: {clean(finding.title)}", strong=True),
        Line(f"{worth}; confidence {finding.confidence}"),
    ]
    lines += _remedy(finding.fix, finding.where)
    evidence = finding.evidence
    lines += [Line(clean(item), label=" " if i else "why") for i, item in enumerate(evidence)]
    return lines + _to_record(finding.where)


def describe_warning(warning: TraceWarning) -> list[Line]:
    """What is damaged, missing or odd in the recording."""
    lines = [
        Line("About the recording", strong=True),
        Line(clean(warning.message), label="note"),
        Line(clean(warning.code), label="rule"),
    ]
    if warning.count > 1:
        lines.append(Line(count_text(warning.count, "event"), label="where"))
    if warning.byte_offset >= 0:
        lines.append(Line(f"byte {warning.byte_offset} of the text", label="where"))
    return lines


def describe_group(analysis: Analysis, group: KernelGroup) -> list[Line]:
    """A group of kernels: figures, and why they are what they are."""
    vendor = analysis.devices[0].vendor if analysis.devices else ""
    unjudged = group.layer == Layer.UNKNOWN and not group.lost_ns
    owner = f"{UNKNOWN} not judged" if unjudged else layer_name(group.layer, vendor)
    lines = [
        Line(clean(group.short_name), strong=True),
        Line(
            f"{owner}{f': {group.rule}' if group.rule else ''}",
            layer=None if unjudged else group.layer,
        ),
        Line(clean(group.why), label="why"),
    ]
    rates = [
        f"{rate_text(group.gbps)} GB/s" if group.gbps is not None else "",
        f"{rate_text(group.tflops)} TFLOP/s" if group.tflops is not None else "",
    ]
    of_roof = f"{share_text(group.roof_fraction)} of its roof" if group.roof_fraction else ""
    if group.roof_fraction == 0:
        of_roof = f"{NOT_NEEDED} need not run at all: its ideal is no time"
    figures = ", ".join(part for part in (*rates, of_roof) if part)
    lines.append(Line(figures or UNKNOWN, label="rate"))
    lines.append(Line(f"{group.bound} bound", label="bound"))
    lines += _at_best(group)
    if group.lost_ns:
        lines.append(Line(f"{time_text(group.lost_ns)} above the ideal", label="lost"))
    if group.flags:
        lines.append(Line(", ".join(group.flags), label="note"))
    if group.operator:
        lines.append(Line(clean(f"{group.operator} {group.shapes}"), label="op"))
    lines += _filling(group)
    if group.drift is not None:
        said = f"{group.drift:.2f} times as long in the later half of the steps"
        lines.append(Line(said, label="drift"))
    if group.counters:
        lines.append(Line("what its warps wait for, only hardware counters tell:", label="next"))
        lines.append(Line(clean(group.counters), label=" "))
    lines.append(Line(clean(group.name), label="name"))
    return lines


def _at_best(group: KernelGroup) -> list[Line]:
    """What bandwidth a call of its size can reach, and where its bytes may come from."""
    lines = []
    if group.attainable_gbps is not None and group.bound in ("memory", "latency"):
        said = f"{rate_text(group.attainable_gbps)} GB/s at this size"
        if group.gbps and group.bandwidth_fraction:
            sheet = group.gbps / group.bandwidth_fraction
            said += f", {share_text(group.attainable_gbps / sheet)} of the data sheet"
        lines.append(Line(said, label="best"))
    if group.fits_cache and group.bound in ("memory", "latency"):
        lines.append(Line("its data fits the cache, and may come from there", label="cache"))
    return lines


def _filling(group: KernelGroup) -> list[Line]:
    """How much of the card a launch fills."""
    parts = []
    if group.occupancy is not None:
        parts.append(f"{group.occupancy:.0f} % of the warps fit, limited by {group.limiter}")
    if group.waves is not None:
        parts.append(f"{group.waves:.3g} waves")
    elif group.blocks is not None:
        parts.append(f"{group.blocks:,} blocks")
    return [Line(", ".join(parts), label="occ")] if parts else []


def _remedy(fix: str, where: Where) -> list[Line]:
    lines = [Line(clean(fix), label="fix")] if fix else []
    parts = [str(where)] if where.file is not None else []
    parts += [part for part in (where.module, where.operator) if part]
    lines.append(Line(clean(", in ".join(parts)) or "not in the trace", label="where"))
    return lines


def _to_record(where: Where) -> list[Line]:
    return [Line(clean(where.record), label="next")] if where.record else []
