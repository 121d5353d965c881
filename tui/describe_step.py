"""The words for a step: how it compares with the usual one, why it is longer, and its phases."""

from __future__ import annotations

from whichlayer.analysis.report.text_steps import growth_text, phases_text
from whichlayer.analysis.report.units import time_text
from whichlayer.analysis.steps.model import StepFigures, StepTable
from whichlayer.analysis.text import clean
from whichlayer.tui.document import Document
from whichlayer.tui.line import Line

#: A selection is of a step that covers this much of it, and of which it holds as much.
_ALIKE = 0.9


def selected(document: Document, device: int, low_ns: int, high_ns: int) -> list[Line]:
    """About the step that a selection on a device is; nothing where it is none."""
    steps = _steps(document)
    if steps is None:
        return []
    for index, row in enumerate(steps.rows):
        if device >= len(row.spans):
            continue
        start, end = row.spans[device]
        shared = min(end, high_ns) - max(start, low_ns)
        if shared > 0 and shared >= _ALIKE * max(end - start, high_ns - low_ns):
            return describe_step(steps, index, _whole(document))
    return []


def marked(document: Document, device: int, row: int) -> list[Line]:
    """About the step that a slice marks; nothing where it marks none."""
    steps = _steps(document)
    if steps is None or steps.found.inferred:
        return []
    for index, one in enumerate(steps.rows):
        if one.step.row == row:
            return describe_step(steps, index, _whole(document))
    return []


def describe_step(steps: StepTable, index: int, whole: str = "window") -> list[Line]:
    """A step of the table of what is called ``whole``."""
    row = steps.rows[index]
    lines = [Line(_compared(steps, row, whole), strong=True)]
    if steps.found.inferred:
        lines.append(Line(f"inferred from {clean(steps.found.how)}: nothing marks it"))
    grown = [g for one in steps.outliers if one.index == index for g in one.growths]
    lines += [Line(clean(growth_text(g)), label=" " if i else "why") for i, g in enumerate(grown)]
    told = (("GPU", row.device_phases), ("CPU", row.host_phases))
    lines += [Line(phases_text(sums), label=name) for name, sums in told if sums]
    if steps.phases_record:
        lines.append(Line(clean(steps.phases_record), label="next"))
    return lines


def _whole(document: Document) -> str:
    return "window" if document.analysis is None else document.analysis.options.whole


def _compared(steps: StepTable, row: StepFigures, whole: str) -> str:
    text = f"step {row.step.number}: {time_text(row.duration_ns)}"
    over = steps.statistics
    if row.warm_up:
        text += ", warm-up"
    if not row.whole:
        return f"{text}, of which the {whole} holds a part"
    if over is None or over.steps < 2 or not over.median_ns:
        return text
    apart = row.duration_ns - over.median_ns
    if not apart:
        return f"{text}, the median"
    word = "longer" if apart > 0 else "shorter"
    share = 100 * abs(apart) / over.median_ns
    return f"{text}, {share:.1f} % {word} than the median of {time_text(over.median_ns)}"


def _steps(document: Document) -> StepTable | None:
    return None if document.analysis is None else document.analysis.steps
