"""The words for one slice: what it is, what launched it or what it launched, its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report.units import count_text, time_text
from whichlayer.analysis.text import clean
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind
from whichlayer.tui.deferred import Deferred
from whichlayer.tui.document import Document, Extent
from whichlayer.tui.line import Line
from whichlayer.tui.ruler import Axis

# Before there is an analysis, the first timeline does not wait for its words.
if TYPE_CHECKING:
    from whichlayer.tui import describe, describe_queue
else:
    describe = Deferred("whichlayer.tui.describe")
    describe_queue = Deferred("whichlayer.tui.describe_queue")

#: Arguments of a slice that the pane shows, at most.
_MOST_ARGUMENTS = 6


def describe_slice(document: Document, row: int, axis: Axis) -> list[Line]:
    """A slice: name, length and place, and for GPU work its figures and its launch.

    Args:
        document: the recording.
        row: of the trace.
        axis: the ruler above, whose unit times are told in.
    """
    trace, names = document.trace, document.names
    start, end = int(trace.start_ns[row]), int(trace.end_ns[row])
    lines = [
        Line(names.short(row), strong=True),
        Line(f"{time_text(end - start)}: {axis.stretch(start, end)}"),
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


def _launch_lines(document: Document, row: int) -> list[Line]:
    trace, names = document.trace, document.names
    launch = int(trace.launch[row])
    if launch < 0:
        whole = document.extent is Extent.WHOLE
        missing = "none in the trace" if whole else "none in what was read so far"
        return [Line(missing, label="launch")]
    delay = int(trace.start_ns[row] - trace.start_ns[launch])
    lines = [Line(f"{names.short(launch)}, {time_text(delay)} before", label="launch")]
    if document.links is not None:
        return [
            *lines,
            *describe_queue.queue_lines(document, row),
            *describe_queue.chain_lines(document, row),
        ]
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
        return [Line(f"outside the analysed {analysis.options.whole}", layer=Layer.NONE)]
    lines = describe.describe_group(analysis, analysis.kernels[group])[1:-1]
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
        if document.links is not None:
            lines += describe_queue.queue_lines(document, first)
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
