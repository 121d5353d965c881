"""The words for a place on the time axis: an instant under the cursor, or a selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whichlayer.analysis.layers import Layer, layer_name
from whichlayer.analysis.report.units import count_text, share_text, time_text
from whichlayer.analysis.states import State
from whichlayer.analysis.text import clean, gpu_text
from whichlayer.analysis.trace.kinds import GPU_WORK
from whichlayer.tui.deferred import Deferred
from whichlayer.tui.describe_slice import describe_slice
from whichlayer.tui.document import Document
from whichlayer.tui.line import Line
from whichlayer.tui.ruler import Axis

# Before there is an analysis, the first timeline does not wait for its words.
if TYPE_CHECKING:
    from whichlayer.analysis.report import advice
    from whichlayer.tui import describe, describe_step, measure, summary
    from whichlayer.tui.summary import Summary
else:
    advice = Deferred("whichlayer.analysis.report.advice")
    describe = Deferred("whichlayer.tui.describe")
    describe_step = Deferred("whichlayer.tui.describe_step")
    measure = Deferred("whichlayer.tui.measure")
    summary = Deferred("whichlayer.tui.summary")

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


def describe_instant(
    document: Document, device: int, time_ns: int, row: int, axis: Axis
) -> list[Line]:
    """What happens at an instant.

    Args:
        document: the recording.
        device: index into ``analysis.devices``.
        time_ns: the instant.
        row: trace row of the slice under the cursor, or -1.
        axis: the ruler above, whose unit times are told in.
    """
    of_slice = describe_slice(document, row, axis) if row >= 0 else []
    knows = document.analysis is not None
    of_step = describe_step.marked(document, device, row) if row >= 0 and knows else []
    if document.analysis is None or not document.gaps:
        return _joined(_joined(of_step, of_slice), [] if of_step else _no_gpu(document))
    gaps = document.gaps[min(device, len(document.gaps) - 1)]
    place = gaps.at(time_ns)
    if place < 0:
        said = _joined(of_step, of_slice)
        return said or _no_gap(document, device, time_ns)
    of_gap = describe.describe_gap(
        document.analysis, int(gaps.index[place]), _whole(document, device, time_ns)
    )
    if of_step:
        # A step lies around every gap of it: the gap is what was gone to.
        return _joined(of_gap, _joined(of_step, of_slice))
    if row >= 0 and document.trace.kind[row] not in GPU_WORK:
        # A call was pointed at: its name first, what the device lost meanwhile, the rest.
        return _joined(_joined(of_slice[:2], of_gap), of_slice[2:])
    return _joined(of_gap, of_slice)


def describe_selection(
    document: Document, device: int, low_ns: int, high_ns: int, axis: Axis
) -> list[Line]:
    """Where the time of a selection went on one device, and where it is on the ruler."""
    place = axis.stretch(low_ns, high_ns)
    lines = [Line(f"{time_text(high_ns - low_ns)} selected: {place}", strong=True)]
    analysis = document.analysis
    if analysis is None or not document.owners:
        return [*lines, *_no_gpu(document)]
    lines[0] = Line(
        f"{time_text(high_ns - low_ns)} selected on {gpu_text(analysis.devices[device].number)}: "
        f"{place}",
        strong=True,
    )
    lines += describe_step.selected(document, device, low_ns, high_ns)
    _, _, held = measure.measured(analysis, device, low_ns, high_ns).partition(" · ")
    lines.append(Line(held))
    lines += budget_lines(
        summary.summarise(document.owners[device], low_ns, high_ns), analysis.devices[device].vendor
    )
    gaps = document.gaps[device]
    inside = gaps.by_size[
        (gaps.start_ns[gaps.by_size] < high_ns) & (gaps.end_ns[gaps.by_size] > low_ns)
    ]
    if len(inside):
        lines.append(Line(""))
        lines.append(Line(f"largest of {count_text(len(inside), 'gap piece')} here:"))
        lines += describe.describe_gap(analysis, int(gaps.index[inside[0]]))
    else:
        for item in summary.rank_kernels(analysis, (low_ns, high_ns))[:3]:
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
        return Line(text, layer=layer)

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


def _whole(document: Document, device: int, time_ns: int) -> int:
    """Length of the whole gap at an instant; 0 where it has no owner."""
    gaps = document.whole_gaps[min(device, len(document.whole_gaps) - 1)]
    place = gaps.at(time_ns)
    return int(gaps.end_ns[place] - gaps.start_ns[place]) if place >= 0 else 0


def _no_gpu(document: Document) -> list[Line]:
    analysis = document.analysis
    if analysis is None:
        return [Line(document.extent.value)]
    if analysis.devices:
        return []
    lines = [Line(clean(analysis.verdict.text), strong=True)]
    lines += [Line(clean(w.message), label=" " if i else "note")
              for i, w in enumerate(analysis.warnings[:4])]  # fmt: skip
    lines += [Line(clean(text), label=" " if i else "next")
              for i, text in enumerate(advice.recording_advice(analysis)[:3])]  # fmt: skip
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
            return describe.describe_group(analysis, analysis.kernels[group])
    return [Line(_QUIET.get(state, "busy"), layer=Layer.NONE)]
