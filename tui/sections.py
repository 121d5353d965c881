"""The verdict views: each part of the report as a sheet, with everything that it knows.

The report leaves out what matters little; a sheet lists all of it, and where it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from whichlayer.analysis.report.text_communication import collective_lines, copy_lines
from whichlayer.analysis.report.text_compile import compile_lines
from whichlayer.analysis.report.text_coverage import coverage_lines, throughput_lines
from whichlayer.analysis.report.text_covered import covered_lines
from whichlayer.analysis.report.text_custom_kernel import custom_kernel_lines
from whichlayer.analysis.report.text_launches import launch_lines
from whichlayer.analysis.report.text_memory import memory_lines
from whichlayer.analysis.report.text_near_misses import near_miss_lines
from whichlayer.analysis.report.text_precision import precision_lines
from whichlayer.analysis.report.text_steps import step_lines
from whichlayer.analysis.report.text_vendor import vendor_lines
from whichlayer.analysis.results import Analysis
from whichlayer.tui import section_rows
from whichlayer.tui.sheet import Sheet, SheetLine, report_lines

Text = Callable[[Analysis], list[str]]
Rows = Callable[[Analysis], list[SheetLine]]


@dataclass(frozen=True, slots=True)
class Section:
    """A view that can be opened.

    Attributes:
        id: a stable word.
        title: what it is called.
        asks: the question that it answers.
        texts: the parts of the report that it shows.
        rows: everything in it, with places.
        listed: what the rows are, as a heading.
        otherwise: what is said where there is nothing.
    """

    id: str
    title: str
    asks: str
    texts: tuple[Text, ...]
    rows: Rows
    listed: str
    otherwise: str


SECTIONS: tuple[Section, ...] = (
    Section("custom-kernel", "Custom kernel", "is a custom kernel justified?",
            (custom_kernel_lines,), section_rows.custom_kernels_rows, "every candidate",
            "No chain of kernels here is a candidate: nothing that one kernel would do alone."),
    Section("vendor", "Vendor ties", "what ties this program to one vendor?",
            (vendor_lines,), section_rows.vendor_rows, "every library, by time",
            "No kernels in the window."),
    Section("compile", "torch.compile", "what did torch.compile make, and what broke it?",
            (compile_lines,), section_rows.compile_rows, "regions, breaks and kernels",
            "Nothing that torch.compile made ran in the window."),
    Section("precision", "Precision", "which precisions do the products run in?",
            (precision_lines,), section_rows.precision_rows, "products by precision",
            "No matrix products or convolutions whose precision is known."),
    Section("memory", "Memory", "how much is allocated, when, and by what?",
            (memory_lines,), section_rows.memory_rows, "peaks and the largest allocations",
            ""),
    Section("communication", "Communication", "which collectives and copies are exposed?",
            (collective_lines, copy_lines), section_rows.communication_rows,
            "every collective and copy", "No collectives and no copies in the window."),
    Section("steps", "Steps", "how long are steps, and which is unlike the others?",
            (step_lines,), section_rows.step_rows, "every step",
            "No steps are marked or can be inferred: mark them with prof.step()."),
    Section("launches", "Launches", "is the host ahead of the GPU?",
            (launch_lines,), section_rows.launch_rows, "where it is worst",
            "No launch of GPU work is recorded: add ProfilerActivity.CPU."),
    Section("coverage", "Coverage", "how much of the kernels could be judged?",
            (coverage_lines, throughput_lines), section_rows.unjudged_rows,
            "kernels that could not be judged, by time", "Every kernel is judged."),
    Section("covered", "Covered", "what looked bad, and cost nothing?",
            (covered_lines,), section_rows.covered_rows, "each with its longest stretch",
            "No call or transfer was hidden by other work."),
    Section("near-misses", "Near misses", "which rules almost fired, and why not?",
            (near_miss_lines,), section_rows.no_rows, "",
            "No rule came within a factor of two of its threshold."),
)  # fmt: skip


class Sections:
    """The sheets of one analysis, each made when first asked for."""

    def __init__(self, analysis: Analysis) -> None:
        """Take the analysis."""
        options = replace(analysis.options, covered=True, near_misses=True)
        self._analysis = replace(analysis, options=options)
        self._made: dict[str, Sheet] = {}

    def sheet(self, section: Section) -> Sheet:
        """The sheet of a section."""
        found = self._made.get(section.id)
        if found is None:
            found = self._made[section.id] = self._make(section)
        return found

    def _make(self, section: Section) -> Sheet:
        analysis = self._analysis
        lines = [SheetLine(f"{section.asks[0].upper()}{section.asks[1:]}", "dim"), SheetLine("")]
        told = [report_lines(text) for text in (make(analysis) for make in section.texts) if text]
        for part in told:
            lines += [*part, SheetLine("")]
        rows = section.rows(analysis)
        if not told and not rows:
            otherwise = section.otherwise or section_rows.why_no_memory_text(analysis)
            otherwise = otherwise.replace("the window", f"the {analysis.options.whole}")
            lines += [SheetLine(otherwise), SheetLine("")]
        if rows:
            lines += [SheetLine(section.listed, "accent"), *rows]
        while lines and not lines[-1].text:
            lines.pop()
        return Sheet(f"{section.title}", tuple(lines), "[ ] other views")


def section_of(word: str) -> Section | None:
    """The section of an id."""
    return next((one for one in SECTIONS if one.id == word), None)
