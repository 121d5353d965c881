"""The words of the region pane: owner, cause, evidence, fix and place of whatever is chosen."""

from __future__ import annotations

from dataclasses import dataclass

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.gaps.explain import explain_gap
from whichlayer.analysis.layers import Layer, layer_name
from whichlayer.analysis.report.advice import recording_advice
from whichlayer.analysis.report.units import UNKNOWN, count_text, rate_text, share_text, time_text
from whichlayer.analysis.results import (
    Analysis,
    Finding,
    GapKind,
    GapText,
    KernelGroup,
    State,
    Where,
)
from whichlayer.analysis.text import clean
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind
from whichlayer.tui.document import Document
from whichlayer.tui.summary import Summary, rank_kernels, summarise

#: Layers in the order in which a budget lists them.
_BUDGET = (
    Layer.PYTORCH,
    Layer.RUNTIME,
    Layer.BOUNDARY,
    Layer.CUDA,
    Layer.PRECISION,
    Layer.UNKNOWN,
    Layer.NONE,
)

#: What a stretch without gap or kernel is.
_QUIET = {
    State.SPACING: "launch spacing: idle up to the launch floor",
    State.EDGE: "outside every step",
}

#: Arguments of a slice that the pane shows, at most.
_MOST_ARGUMENTS = 6


@dataclass(frozen=True, slots=True)
class Line:
    """One paragraph of the pane.

    Attributes:
        text: what it says, clean.
        label: what it is about (``fix``, ``where`` …), or empty.
        layer: owner whose letter and colour lead the line, or None.
        strong: it matters most.
        bar: share from 0 to 1 to draw beside it, or None.
    """

    text: str
    label: str = ""
    layer: Layer | None = None
    strong: bool = False
    bar: float | None = None


def describe_instant(document: Document, device: int, time_ns: int, row: int) -> list[Line]:
    """What happens at an instant.

    Args:
        document: the recording.
        device: index into ``analysis.devices``.
        time_ns: the instant.
        row: trace row of the slice under the cursor, or -1.
    """
    of_slice = describe_slice(document, row) if row >= 0 else []
    if document.analysis is None or not document.gaps:
        return _joined(of_slice, _no_gpu(document))
    gaps = document.gaps[min(device, len(document.gaps) - 1)]
    place = gaps.at(time_ns)
    if place < 0:
        return of_slice or _no_gap(document, device, time_ns)
    of_gap = describe_gap(document.analysis, int(gaps.index[place]))
    if row >= 0 and document.trace.kind[row] not in GPU_WORK:
        # A call was pointed at: its name first, what the device lost meanwhile, the rest.
        return _joined(_joined(of_slice[:2], of_gap), of_slice[2:])
    return _joined(of_gap, of_slice)


def describe_gap(analysis: Analysis, index: int) -> list[Line]:
    """A gap piece: whose it is, why, and what to change where."""
    gaps = analysis.gaps
    text: GapText = explain_gap(analysis, index)
    device = analysis.devices[int(gaps.device[index])]
    start, end = int(gaps.start_ns[index]), int(gaps.end_ns[index])
    kind = GapKind(int(gaps.kind[index])).id
    total = analysis.window.end_ns - analysis.window.start_ns
    lines = [
        Line(layer_name(text.layer, device.vendor), layer=text.layer, strong=True),
        Line(f"{text.rule}: {clean(text.title)}", strong=True),
        Line(
            f"{time_text(end - start)} {kind} on GPU{device.number}"
            f" ({share_text(end - start, total)} of the window)"
        ),
    ]
    lines += _remedy(text.fix, text.where)
    lines += [Line(clean(item), label=" " if i else "why") for i, item in enumerate(text.evidence)]
    return lines + _to_record(text.where)


def describe_finding(analysis: Analysis, finding: Finding) -> list[Line]:
    """A finding in full."""
    vendor = analysis.devices[0].vendor if analysis.devices else ""
    worth = f"{time_text(finding.time_ns)}, {share_text(finding.share)} of the window"
    if finding.recoverable_ns is not None:
        worth += f"; recoverable {time_text(finding.recoverable_ns)}"
    lines = [
        Line(layer_name(finding.layer, vendor), layer=finding.layer, strong=True),
        Line(f"{finding.rule}: {clean(finding.title)}", strong=True),
        Line(f"{worth}; confidence {finding.confidence}"),
    ]
    lines += _remedy(finding.fix, finding.where)
    evidence = finding.evidence
    lines += [Line(clean(item), label=" " if i else "why") for i, item in enumerate(evidence)]
    return lines + _to_record(finding.where)


def describe_group(analysis: Analysis, group: KernelGroup) -> list[Line]:
    """A group of kernels: figures, and why they are what they are."""
    vendor = analysis.devices[0].vendor if analysis.devices else ""
    owner = layer_name(group.layer, vendor)
    lines = [
        Line(clean(group.short_name), strong=True),
        Line(f"{owner}{f': {group.rule}' if group.rule else ''}", layer=group.layer),
        Line(clean(group.why), label="why"),
    ]
    rates = [
        f"{rate_text(group.gbps)} GB/s" if group.gbps is not None else "",
        f"{rate_text(group.tflops)} TFLOP/s" if group.tflops is not None else "",
    ]
    of_roof = f"{share_text(group.roof_fraction)} of its roof" if group.roof_fraction else ""
    figures = ", ".join(part for part in (*rates, of_roof) if part)
    lines.append(Line(figures or UNKNOWN, label="rate"))
    lines.append(Line(f"{group.bound} bound", label="bound"))
    if group.lost_ns:
        lines.append(Line(f"{time_text(group.lost_ns)} above the ideal", label="lost"))
    if group.flags:
        lines.append(Line(", ".join(group.flags), label="note"))
    if group.operator:
        lines.append(Line(clean(f"{group.operator} {group.shapes}"), label="op"))
    if group.occupancy is not None:
        lines.append(Line(f"{group.occupancy:.0f} % (estimate in the trace)", label="occ"))
    lines.append(Line(clean(group.name), label="name"))
    return lines


def describe_slice(document: Document, row: int) -> list[Line]:
    """A slice: name, length, and for GPU work its figures and its launch."""
    trace, names = document.trace, document.names
    length = int(trace.end_ns[row] - trace.start_ns[row])
    lines = [
        Line(names.short(row), strong=True),
        Line(f"{time_text(length)} from {time_text(int(trace.start_ns[row]))}"),
    ]
    if trace.kind[row] in GPU_WORK:
        lines += _launch_lines(document, row)
        lines += _judgement(document, row)
    else:
        lines += _call_lines(document, row)
    if names.full(row) != names.short(row):
        lines.append(Line(names.full(row), label="name"))
    lines += _arguments(document, row)
    return lines


def describe_selection(document: Document, device: int, low_ns: int, high_ns: int) -> list[Line]:
    """Where the time of a selection went on one device."""
    lines = [Line(f"{time_text(high_ns - low_ns)} selected", strong=True)]
    analysis = document.analysis
    if analysis is None or not document.owners:
        return [*lines, *_no_gpu(document)]
    lines[0] = Line(
        f"{time_text(high_ns - low_ns)} selected on GPU{analysis.devices[device].number}",
        strong=True,
    )
    lines += budget_lines(
        summarise(document.owners[device], low_ns, high_ns), analysis.devices[device].vendor
    )
    gaps = document.gaps[device]
    inside = gaps.by_size[
        (gaps.start_ns[gaps.by_size] < high_ns) & (gaps.end_ns[gaps.by_size] > low_ns)
    ]
    if len(inside):
        lines.append(Line(""))
        lines.append(Line(f"largest of {count_text(len(inside), 'gap')} here:"))
        lines += describe_gap(analysis, int(gaps.index[inside[0]]))
    else:
        for item in rank_kernels(analysis, (low_ns, high_ns))[:3]:
            lines.append(
                Line(f"{clean(item.group.short_name)} {share_text(item.share)}",
                     layer=item.group.layer)
            )  # fmt: skip
    return lines


def budget_lines(summary: Summary, vendor: str) -> list[Line]:
    """The parts of a budget that are not nothing, with their shares."""
    total = summary.total_ns

    def line(name: str, part: int, layer: Layer | None) -> Line:
        text = f"{share_text(part, total):>7}  {time_text(part):>8}  {name}"
        return Line(text, layer=layer, bar=part / total)

    lines = []
    for layer in _BUDGET[:-1]:
        if summary.lost_to(layer):
            name = layer_name(layer, vendor)
            parts = [
                word
                for word, part in (("gaps", summary.gap_ns), ("kernels", summary.loss_ns))
                if part[layer]
            ]
            lines.append(line(f"{name} ({' and '.join(parts)})", summary.lost_to(layer), layer))
    rest = (
        ("no owner", summary.lost_to(Layer.NONE)),
        ("at the roof", summary.at_roof_ns),
        ("unjudged kernels", summary.unjudged_ns),
        ("launch spacing", summary.spacing_ns),
        ("outside the steps", summary.outside_ns),
    )
    lines += [line(name, part, Layer.NONE) for name, part in rest if part]
    return lines


def _joined(first: list[Line], second: list[Line]) -> list[Line]:
    """Both, with an empty line between them."""
    return [*first, Line(""), *second] if first and second else first or second


def _remedy(fix: str, where: Where) -> list[Line]:
    lines = [Line(clean(fix), label="fix")] if fix else []
    parts = [str(where)] if where.file is not None else []
    parts += [part for part in (where.module, where.operator) if part]
    lines.append(Line(clean(", in ".join(parts)) or "not in the trace", label="where"))
    return lines


def _to_record(where: Where) -> list[Line]:
    return [Line(clean(where.record), label="record")] if where.record else []


def _launch_lines(document: Document, row: int) -> list[Line]:
    trace, names = document.trace, document.names
    launch = int(trace.launch[row])
    if launch < 0:
        return [Line("no launch in the trace", label="launch")]
    delay = int(trace.start_ns[row] - trace.start_ns[launch])
    lines = [Line(f"{names.short(launch)}, {time_text(delay)} before", label="launch")]
    operators = [r for r in trace.enclosing(launch) if trace.kind[r] == SliceKind.CPU_OP]
    if operators:
        lines.append(Line(" ‹ ".join(names.short(r) for r in operators[:3]), label="op"))
    return lines


def _judgement(document: Document, row: int) -> list[Line]:
    analysis = document.analysis
    if analysis is None:
        return []
    found = document.activity_of(row)
    if found < 0:
        return []
    group = int(analysis.activities.group[found])
    if group < 0:
        return [Line("outside the analysed window", layer=Layer.NONE)]
    lines = describe_group(analysis, analysis.kernels[group])[1:-1]
    return [Line(f"{analysis.kernels[group].calls} calls like it", label="group"), *lines]


def _call_lines(document: Document, row: int) -> list[Line]:
    trace, names = document.trace, document.names
    launched = document.launched_by(row)
    lines = []
    if len(launched):
        first = int(launched[0])
        delay = int(trace.start_ns[first] - trace.start_ns[row])
        text = f"{names.short(first)}, {time_text(delay)} later"
        if len(launched) > 1:
            text += f", and {count_text(len(launched) - 1, 'more')[:-1]}"
        lines.append(Line(text, label="starts"))
    around = trace.enclosing(row)
    if around:
        lines.append(Line(" ‹ ".join(names.short(r) for r in around[:4]), label="inside"))
    return lines


def _arguments(document: Document, row: int) -> list[Line]:
    try:
        detail = document.trace.detail(row)
    except TraceError:
        return []
    items = list(detail.items())[:_MOST_ARGUMENTS]
    return [Line(clean(f"{key}: {value}")[:200], label=" " if i else "args")
            for i, (key, value) in enumerate(items)]  # fmt: skip


def _no_gpu(document: Document) -> list[Line]:
    analysis = document.analysis
    if analysis is None:
        return [Line("analysing …")]
    if analysis.devices:
        return []
    lines = [Line(clean(analysis.verdict.text), strong=True)]
    lines += [Line(clean(w.message), label=" " if i else "note")
              for i, w in enumerate(analysis.warnings[:4])]  # fmt: skip
    lines += [Line(clean(text), label=" " if i else "record")
              for i, text in enumerate(recording_advice(analysis)[:3])]  # fmt: skip
    return lines


def _no_gap(document: Document, device: int, time_ns: int) -> list[Line]:
    analysis = document.analysis
    if analysis is None or not analysis.segments:
        return []
    segments = analysis.segments[device]
    place = document.segment_at(device, time_ns)
    if place < 0:
        return [Line("the device has not begun, or is done", layer=Layer.NONE)]
    state, ref = State(int(segments.state[place])), int(segments.ref[place])
    if ref >= 0 and state <= State.UNJUDGED:
        group = int(analysis.activities.group[ref])
        if group >= 0:
            return describe_group(analysis, analysis.kernels[group])
    return [Line(_QUIET.get(state, "busy"), layer=Layer.NONE)]
