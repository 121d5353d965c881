"""The report for a pull request: GitHub-flavoured Markdown, the answer before the first fold.

Texts come from the recording. None of them may become markup, mention anybody (``@name``), link
an issue (``#12``) or leave its cell: names stand in code spans, and what is told is escaped.
GitHub looks for mentions and emoji in the rendered text, where a backslash is gone: a comment parts those.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from whichlayer.analysis.layers import layer_name
from whichlayer.analysis.report.text_budget import (
    budget_of,
    ownerless_text,
    part_figures,
    parts_of,
    platform,
)
from whichlayer.analysis.report.text_findings import lost_text, recoverable_text, where_text
from whichlayer.analysis.report.text_kernels import HEADINGS, kernel_rows
from whichlayer.analysis.report.text_report import further_sections
from whichlayer.analysis.report.units import time_text
from whichlayer.analysis.results import Analysis, Finding
from whichlayer.analysis.text import clean, source_text

_UNFOLDED = 3
"""Findings told in full before the reader has to open anything."""

_MARKUP = re.compile(r"([\\`*_\[\]<>|~&^$])|^[-+#=]|(?<=^\d)[.)]")
_MENTION = re.compile(r"(?<=@)(?=\w)|(?<=#)(?=\d)|(?<=:)(?=[\w+-]+:|//)")
_TICKS = re.compile(r"`+")


def render(analysis: Analysis) -> str:
    """An analysis as Markdown; ends with a line break."""
    blocks = [*_head(analysis), *_findings(analysis)]
    if analysis.devices:
        blocks += [*_layers(analysis), *_kernels(analysis)]
    blocks += [folded(title(section), fenced(section)) for section in further_sections(analysis)]
    return "\n\n".join(blocks) + "\n"


def plain(text: str) -> str:
    r"""Text of a recording that Markdown shows as it is.

    >>> plain("a_b | @me #1")
    'a\\_b \\| @<!-- -->me #<!-- -->1'
    """
    escaped = _MARKUP.sub(lambda found: "\\" + found[0], clean(text).strip())
    return _MENTION.sub("<!-- -->", escaped)


def code(text: str) -> str:
    r"""A name as a code span, also in a table: its own ticks and bars do not end it.

    >>> code("f<a|b>")
    '`f<a\\|b>`'
    """
    text = clean(text).strip().replace("|", "\\|")
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}" if text else ""


def fenced(lines: Sequence[str]) -> str:
    """Lines as a block of code that no line of them can end."""
    longest = max((len(run) for line in lines for run in _TICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}text", *lines, fence])


def folded(summary: str, body: str) -> str:
    """A part that the reader opens; the summary is shown as it is."""
    return f"<details><summary>{escape(summary)}</summary>\n\n{body}\n\n</details>"


def title(section: Sequence[str]) -> str:
    """What a section of the text report is called: the capitals that it begins with.

    >>> title(["STEPS  12 of them"]), title(["RECORD NEXT TIME"])
    ('Steps', 'Record next time')
    """
    return section[0].partition("  ")[0].partition(":")[0].strip().capitalize()


def rows(headings: Iterable[str], cells: Iterable[Sequence[str]], left: int) -> str:
    """A table; all but the first ``left`` columns are flush right. Cells are Markdown already."""
    names = list(headings)
    rule = [":--" if place < left else "--:" for place in range(len(names))]
    return "\n".join("| " + " | ".join(row) + " |" for row in (names, rule, *cells))


def _head(analysis: Analysis) -> list[str]:
    verdict, window = analysis.verdict, analysis.window
    length = time_text(window.end_ns - window.start_ns)
    reason = f": {plain(window.reason)}" if window.reason else ""
    facts = [code(source_text(analysis.trace.path).rpartition("/")[2]), f"window {length}{reason}"]
    models = dict.fromkeys(one.model or one.name or "unknown GPU" for one in analysis.devices)
    facts += [plain(model) for model in models]
    lines = [f"### whichlayer: {verdict.side}", f"**{plain(verdict.text)}**"]
    if verdict.caveat:
        lines.append(f"> {plain(verdict.caveat)}")
    return [*lines, " · ".join(facts)]


def _findings(analysis: Analysis) -> list[str]:
    if not analysis.findings:
        return ["**Findings:** none"] if analysis.devices else []
    vendor = platform(analysis)
    told = [
        _finding(place, one, layer_name(one.layer, vendor))
        for place, one in enumerate(analysis.findings, start=1)
    ]
    blocks = ["#### Findings", "\n".join(told[:_UNFOLDED])]
    if len(told) > _UNFOLDED:
        rest = "\n".join(told[_UNFOLDED:])
        blocks.append(folded(f"{len(told) - _UNFOLDED} more findings", rest))
    why = [f"{place}. {_evidence(one)}" for place, one in enumerate(analysis.findings, start=1)]
    blocks.append(folded("Evidence", "\n".join(why)))
    return blocks


def _finding(place: int, finding: Finding, owner: str) -> str:
    recoverable = recoverable_text(finding)
    worth = f", {recoverable}" if recoverable else ""
    headline = (
        f"{place}. **{plain(owner)} · {finding.rule}**: {plain(finding.title)} "
        f"({plain(lost_text(finding) + worth)}, confidence {finding.confidence})"
    )
    fix, where = plain(finding.fix), code(where_text(finding.where))
    return "\n".join([headline, f"   - fix: {fix}", f"   - where: {where}"])


def _evidence(finding: Finding) -> str:
    lines = "\n".join(f"   - {plain(line)}" for line in finding.evidence)
    return f"{finding.rule}\n{lines}" if lines else finding.rule


def _layers(analysis: Analysis) -> list[str]:
    budget = analysis.budget
    cells = [
        (part.letter and f"`{part.letter}`", plain(part.name), *part_figures(budget, part))
        for part in parts_of(analysis)
    ]
    return [
        f"#### Layers: who owns {time_text(budget.total_ns)}, {budget_of(analysis)}",
        rows(("", "layer", "share", "time", "in gaps", "in kernels"), cells, 2),
        f"No owner: {plain(ownerless_text(budget))}.",
    ]


def _kernels(analysis: Analysis) -> list[str]:
    about, found, notes = kernel_rows(analysis)
    if not found:
        return []
    cells = [(code(row[0]), *row[1:]) for row in found]
    footnotes = [f"- {mark}: {plain(text)}" for mark, text in notes]
    return [
        f"#### Kernels: {plain(about)}",
        rows(HEADINGS, cells, 1),
        *(["\n".join(footnotes)] if footnotes else []),
    ]
