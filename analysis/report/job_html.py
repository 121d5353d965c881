"""The report on a folder of ranks for a review: one page that needs no network and no script."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from whichlayer.analysis.communication.job import Job
from whichlayer.analysis.layers import Layer, layer_name
from whichlayer.analysis.report.html_page import page
from whichlayer.analysis.report.job_text import further_sections, vendor_of
from whichlayer.analysis.report.markdown_report import title
from whichlayer.analysis.report.units import count_text, share_text, time_text
from whichlayer.analysis.results import Finding
from whichlayer.analysis.text import clean, source_text

#: Lines of one section; a job may have thousands of ranks.
_LINES = 400


def render(job: Job) -> str:
    """A job as one HTML page."""
    name = source_text(job.path).rstrip("/").rpartition("/")[2] or "job"
    side = job.verdict.side if job.verdict is not None else "not compared"
    parts = [*_head(job, name, side), *_findings(job)]
    parts += [_section(section, index == 0) for index, section in enumerate(further_sections(job))]
    return page(f"{name}: {side}", "\n".join(parts))


def _text(text: str) -> str:
    return escape(clean(text))


def _head(job: Job, name: str, side: str) -> list[str]:
    facts = [name, count_text(len(job.ranks), "recording")]
    if job.world_size is not None:
        facts.append(f"of {count_text(job.world_size, 'rank')}")
    said = f"{job.verdict.text} All ranks." if job.verdict is not None else "Several recordings"
    lines = [
        f'<p class="facts">whichlayer · {_text(" · ".join(facts))}</p>',
        f'<h1>{_text(said)} <span class="side">{_text(side)}</span></h1>',
    ]
    caveat = job.verdict.caveat if job.verdict is not None else job.why
    return [*lines, f'<p class="note">{_text(caveat)}</p>'] if caveat else lines


def _findings(job: Job) -> list[str]:
    if not job.findings:
        return ["<h2>Findings of the ranks together: none</h2>"]
    vendor = vendor_of(job)
    told = [_finding(place, one, vendor) for place, one in enumerate(job.findings, start=1)]
    return ["<h2>Findings of the ranks together</h2>", *told]


def _finding(place: int, finding: Finding, vendor: str) -> str:
    owner = "" if finding.layer == Layer.UNKNOWN else layer_name(finding.layer, vendor)
    lines = "".join(f"<div>{_text(line)}</div>" for line in finding.evidence)
    opened = " open" if place == 1 else ""
    entries = [
        ("fix", _text(finding.fix)),
        ("where", f"<code>{_text(str(finding.where))}</code>" if str(finding.where) else ""),
        ("owner", _text(owner)),
        ("confidence", f"{finding.confidence}; threshold <code>{_text(finding.threshold)}</code>"),
        ("why", f"<details{opened}><summary>evidence</summary>{lines}</details>" if lines else ""),
    ]
    told = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in entries if text)
    lost = f"{time_text(finding.time_ns)} of GPU time, {share_text(finding.share)}"
    return (
        f'<div class="finding edge-{finding.layer.id}"><div class="worth">{_text(lost)}</div>'
        f"<h3>{place}. [{finding.layer.text.letter}] {_text(finding.rule)}: "
        f"{_text(finding.title)}</h3><dl>{told}</dl></div>"
    )


def _section(section: Sequence[str], opened: bool) -> str:
    lines = list(section[:_LINES])
    if len(section) > _LINES:
        lines.append(f"… {count_text(len(section) - _LINES, 'more line')}")
    body = "\n".join(_text(line) for line in lines)
    attribute = " open" if opened else ""
    summary = _text(title(section))
    return f"<details{attribute}><summary>{summary}</summary><pre>{body}</pre></details>"
