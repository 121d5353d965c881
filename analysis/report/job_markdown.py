"""The report on a folder of ranks for a pull request: the answer first, the rest to be opened."""

from __future__ import annotations

from whichlayer.analysis.communication.job import Job
from whichlayer.analysis.layers import Layer, layer_name
from whichlayer.analysis.report.job_text import further_sections, vendor_of
from whichlayer.analysis.report.markdown_report import code, fenced, folded, plain, title
from whichlayer.analysis.report.units import count_text, share_text, time_text
from whichlayer.analysis.results import Finding
from whichlayer.analysis.text import source_text


def render(job: Job) -> str:
    """A job as Markdown; ends with a line break."""
    blocks = [*_head(job), *_findings(job)]
    for section in further_sections(job):
        shown = fenced(section)
        # Who waited for whom is what a job is looked at for.
        blocks.append(shown if section[0].startswith("RANKS") else folded(title(section), shown))
    return "\n\n".join(blocks) + "\n"


def _head(job: Job) -> list[str]:
    side = job.verdict.side if job.verdict is not None else "several recordings"
    name = source_text(job.path).rstrip("/").rpartition("/")[2]
    facts = [code(name), count_text(len(job.ranks), "recording")]
    if job.world_size is not None:
        facts.append(f"of {count_text(job.world_size, 'rank')}")
    lines = [f"### whichlayer: {side}"]
    if job.verdict is not None:
        lines.append(f"**{plain(job.verdict.text)} All ranks.**")
        if job.verdict.caveat:
            lines.append(f"> {plain(job.verdict.caveat)}")
    elif job.why:
        lines.append(f"> {plain(job.why)}")
    return [*lines, " · ".join(facts)]


def _findings(job: Job) -> list[str]:
    if not job.findings:
        return ["**Findings of the ranks together:** none; each rank's own are in its report"]
    vendor = vendor_of(job)
    told = [_finding(place, one, vendor) for place, one in enumerate(job.findings, start=1)]
    why = [f"{place}. {_evidence(one)}" for place, one in enumerate(job.findings, start=1)]
    return [
        "#### Findings of the ranks together",
        "\n".join(told),
        folded("Evidence", "\n".join(why)),
    ]


def _finding(place: int, finding: Finding, vendor: str) -> str:
    known = finding.layer != Layer.UNKNOWN
    owner = f"{plain(layer_name(finding.layer, vendor))} · " if known else ""
    lost = f"{time_text(finding.time_ns)} of GPU time, {share_text(finding.share)}"
    headline = (
        f"{place}. **{owner}{finding.rule}**: {plain(finding.title)} ({plain(lost)}, "
        f"confidence {finding.confidence})"
    )
    lines = [headline, f"   - fix: {plain(finding.fix)}"]
    if str(finding.where):
        lines.append(f"   - where: {code(str(finding.where))}")
    return "\n".join(lines)


def _evidence(finding: Finding) -> str:
    return "\n".join([finding.rule, *(f"   - {plain(line)}" for line in finding.evidence)])
