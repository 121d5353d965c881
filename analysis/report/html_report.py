"""The report for a review: one HTML file that needs no network and no script.

Texts come from the recording and are escaped; the page forbids itself to load or run anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from whichlayer.analysis.layers import Layer, layer_name
from whichlayer.analysis.report.html_heatmap import heat
from whichlayer.analysis.report.html_page import page
from whichlayer.analysis.report.html_timeline import left_out, timeline
from whichlayer.analysis.report.markdown_report import title
from whichlayer.analysis.report.text_budget import (
    Part,
    budget_of,
    ownerless_text,
    part_figures,
    parts_of,
    platform,
)
from whichlayer.analysis.report.text_findings import lost_text, recoverable_text, where_text
from whichlayer.analysis.report.text_kernels import HEADINGS, kernel_rows
from whichlayer.analysis.report.text_report import further_sections
from whichlayer.analysis.report.units import count_text, share_text, time_text
from whichlayer.analysis.results import Analysis, Finding
from whichlayer.analysis.text import clean, source_text

_UNFOLDED = 3
"""Findings told in full; the others are opened by whoever wants them."""

_FINDINGS = 60
_KERNELS = 40
_SECTION_LINES = 300


def render(analysis: Analysis) -> str:
    """An analysis as one HTML page."""
    name = source_text(analysis.trace.path).rpartition("/")[2]
    parts = [*_head(analysis, name), *_budget(analysis), *_findings(analysis)]
    if analysis.devices:
        parts += [*_pictures(analysis), *_layers(analysis), *_kernels(analysis)]
    parts += [_section(section) for section in further_sections(analysis)]
    return page(f"{name}: {analysis.verdict.side}", "\n".join(parts))


def _text(text: str) -> str:
    return escape(clean(text))


def _code(text: str) -> str:
    return f"<code>{_text(text)}</code>"


def _head(analysis: Analysis, name: str) -> list[str]:
    verdict, window = analysis.verdict, analysis.window
    length = time_text(window.end_ns - window.start_ns)
    facts = [name, f"window {length}" + (f": {window.reason}" if window.reason else "")]
    facts += dict.fromkeys(one.model or one.name or "unknown GPU" for one in analysis.devices)
    facts.append(count_text(analysis.trace.events, "event"))
    lines = [
        f'<p class="facts">whichlayer · {_text(" · ".join(facts))}</p>',
        f'<h1>{_text(verdict.text)} <span class="side">{_text(verdict.side)}</span></h1>',
    ]
    if verdict.caveat:
        lines.append(f'<p class="note">{_text(verdict.caveat)}</p>')
    return lines


def _budget(analysis: Analysis) -> list[str]:
    """The window as one bar of its owners."""
    total = analysis.budget.total_ns
    parts = [part for part in parts_of(analysis) if part.ns] if total else []
    if not parts:
        return []
    bar = "".join(
        f'<span class="{_background(part)}" style="flex:{part.ns / total:.5f}" title="'
        f'{_text(part.name)} {share_text(part.ns, total)}">'
        f"{part.letter if part.ns / total > 0.02 else ''}</span>"
        for part in parts
    )
    legend = "".join(
        f'<span><b class="{_background(part)}">{part.letter or "&nbsp;"}</b>'
        f"{_text(part.name)} {share_text(part.ns, total)}</span>"
        for part in parts
    )
    return [f'<div class="budget">{bar}</div>', f'<div class="legend">{legend}</div>']


def _background(part: Part) -> str:
    if part.layer is not None:
        return f"bg-{part.layer.id}"
    return f"bg-{Layer.NONE.id}" if part.letter else "bg-unjudged"


def _findings(analysis: Analysis) -> list[str]:
    if not analysis.findings:
        return ["<h2>Findings: none</h2>"] if analysis.devices else []
    vendor = platform(analysis)
    told = [
        _finding(place, one, layer_name(one.layer, vendor))
        for place, one in enumerate(analysis.findings[:_FINDINGS], start=1)
    ]
    parts = ["<h2>Findings</h2>", *told[:_UNFOLDED]]
    if len(told) > _UNFOLDED:
        more = count_text(len(told) - _UNFOLDED, "more finding")
        rest = "\n".join(told[_UNFOLDED:])
        parts.append(f"<details><summary>{more}</summary>\n{rest}\n</details>")
    return parts


def _finding(place: int, finding: Finding, owner: str) -> str:
    worth = recoverable_text(finding)
    opened = " open" if place == 1 else ""
    lines = "".join(f"<div>{_text(line)}</div>" for line in finding.evidence)
    entries = [
        ("fix", _text(finding.fix)),
        ("where", _code(where_text(finding.where))),
        ("owner", f"{_text(owner)}: {_text(finding.layer.text.fixed_in)}"),
        ("confidence", f"{finding.confidence}; threshold <code>{_text(finding.threshold)}</code>"),
        ("why", f"<details{opened}><summary>evidence</summary>{lines}</details>" if lines else ""),
    ]
    told = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in entries if text)
    gain = f"{_text(worth)}<br>" if worth else ""
    return (
        f'<div class="finding edge-{finding.layer.id}"><div class="worth">{gain}'
        f"{_text(lost_text(finding))}</div><h3>{place}. [{finding.layer.text.letter}] "
        f"{_text(finding.rule)}: {_text(finding.title)}</h3><dl>{told}</dl></div>"
    )


def _pictures(analysis: Analysis) -> list[str]:
    drawn = timeline(analysis)
    if not drawn:
        return []
    more = left_out(analysis)
    note = f", {count_text(more, 'stream')} with less time left out" if more else ""
    rows, of = heat(analysis)
    how = (
        "The row of a GPU shows who owns its gaps, the fuller the more of a column; rest the "
        "pointer on a gap for its cause. Rows of streams show how busy they were: "
        f"{_role_legend()}{note}. Times since the trace start."
    )
    shades = (
        "Shade: share of a cell in gaps; colour and letter: who owns most of that. All rows have "
        "one scale."
    )
    return [
        "<h2>Timeline</h2>",
        f'<p class="note">{how}</p>',
        drawn,
        f"<h2>Gaps by {_text(of)}</h2>",
        f'<p class="note">{shades}</p>',
        rows,
    ]


def _role_legend() -> str:
    names = {"compute": "compute", "comm": "collectives", "copy": "transfers"}
    return ", ".join(
        f'<b class="bg-{role}">&nbsp;&nbsp;</b> {name}' for role, name in names.items()
    )


def _layers(analysis: Analysis) -> list[str]:
    budget = analysis.budget
    cells = [
        (part.letter, _text(part.name), *part_figures(budget, part)) for part in parts_of(analysis)
    ]
    return [
        f"<h2>Layers: who owns {time_text(budget.total_ns)}, {_text(budget_of(analysis))}</h2>",
        _table(("", "layer", "share", "time", "in gaps", "in kernels"), cells, 2),
        f'<p class="note">No owner: {_text(ownerless_text(budget))}.</p>',
    ]


def _kernels(analysis: Analysis) -> list[str]:
    about, found, notes = kernel_rows(analysis, _KERNELS)
    if not found:
        return []
    cells = [(_code(row[0]), *(_text(cell) for cell in row[1:])) for row in found]
    footnotes = "".join(f"<div>{mark}: {_text(text)}</div>" for mark, text in notes)
    return [
        f"<h2>Kernels: {_text(about)}</h2>",
        _table(HEADINGS, cells, 1),
        *([f'<div class="note">{footnotes}</div>'] if footnotes else []),
    ]


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]], left: int) -> str:
    """A table of HTML cells; all but the first ``left`` columns are numbers."""
    marks = ["" if place < left else ' class="n"' for place in range(len(headings))]
    head = "".join(
        f"<th{mark}>{escape(name)}</th>" for mark, name in zip(marks, headings, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{mark}>{cell}</td>" for mark, cell in zip(marks, row, strict=True))
        + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'


def _section(section: Sequence[str]) -> str:
    """A section of the text report as it is, under its name."""
    lines = list(section[:_SECTION_LINES])
    if len(section) > _SECTION_LINES:
        lines.append(f"… {count_text(len(section) - _SECTION_LINES, 'more line')}")
    body = "\n".join(_text(line) for line in lines)
    return f"<details><summary>{_text(title(section))}</summary><pre>{body}</pre></details>"
