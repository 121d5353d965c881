"""The report on a folder of ranks for people: who is late, why, and how fast collectives are."""

from __future__ import annotations

import os
from collections.abc import Sequence

from whichlayer.analysis.communication.job import Comparison, Job, RankSummary
from whichlayer.analysis.layers import Layer, layer_name
from whichlayer.analysis.report.job_json import RECORD_LINKS
from whichlayer.analysis.report.text_layout import Column, fit_path, table, wrap
from whichlayer.analysis.report.units import (
    UNKNOWN,
    bytes_text,
    count_text,
    rate_text,
    share_text,
    time_text,
)
from whichlayer.analysis.results import Finding
from whichlayer.analysis.text import plural, source_text

#: Rows of a table that are shown; what follows is told in a line.
_SHOWN = 8
_MOST_RANKS = 64

_SAME = "they are the same ones"
_DOUBTFUL = "they may not be the same ones, so nothing is said of stragglers"

_RANKS_HEAD = (
    "RANKS  waited: in collectives, for later ranks; behind: the middle rank, where it was late"
)
_FILE = Column("", 34, right=False)
_RANKS = (
    Column("rank", 6),
    Column("window", 8),
    Column("side", 13, right=False),
    Column("above", 7),
    Column("below", 7),
    Column("comm", 8),
    Column("exposed", 8),
    Column("waited", 8),
    Column("behind", 8),
    Column("last", 6),
)
_COLLECTIVES = (
    Column("", 15, right=False),
    Column("ranks", 6),
    Column("calls", 6),
    Column("size", 8),
    Column("transfer", 8),
    Column("longest", 8),
    Column("waited", 8),
    Column("algbw", 6),
    Column("busbw", 6),
)


def render(job: Job) -> str:
    """The summary of a job as lines of text."""
    parts = (_head(job), _ranks(job), _findings(job), _collectives(job), _notes(job))
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def further_sections(job: Job) -> list[list[str]]:
    """What the text report says beside verdict and findings; each begins with its name in capitals."""
    sections = (_ranks(job), _collectives(job), _notes(job))
    return [section for section in sections if section]


def vendor_of(job: Job) -> str:
    """Who made the GPUs of a job, as layers are named for; empty where nobody tells."""
    return next((d.vendor for rank in job.ranks for d in rank.devices if d.vendor), "")


def _head(job: Job) -> list[str]:
    of = "" if job.world_size is None else f" of {count_text(job.world_size, 'rank')}"
    tail = f"  ({count_text(len(job.ranks), 'recording')}{of})"
    first = "job      "
    path = fit_path(source_text(job.path), max(20, 100 - len(first) - len(tail)))
    verdict = [] if job.verdict is None else wrap(f"{job.verdict.text} All ranks.", "VERDICT  ")
    if job.verdict is not None and job.verdict.caveat:
        verdict += wrap(job.verdict.caveat, " " * 9)
    return [*verdict, *wrap(path + tail, first)]


def _ranks(job: Job) -> list[str]:
    fine = [rank for rank in job.ranks[:_MOST_RANKS] if not rank.error]
    if job.verdict is None:
        named = [
            (source_text(os.path.basename(rank.path)), *_rank(job, rank)[1:7])
            for rank in sorted(fine, key=lambda rank: os.path.basename(rank.path))
        ]
        lines = ["RECORDINGS  by name", *table((_FILE, *_RANKS[1:7]), named, indent="  ")]
    else:
        lines = [_RANKS_HEAD, *table(_RANKS, [_rank(job, rank) for rank in fine], indent="  ")]
    if len(job.ranks) > _MOST_RANKS:
        lines.append(f"  and {len(job.ranks) - _MOST_RANKS} more, which the JSON report has")
    for rank in job.ranks:
        if rank.error:
            lines += wrap(rank.error, "  not read: ")
    return lines


def _rank(job: Job, rank: RankSummary) -> tuple[str, ...]:
    window, verdict = rank.window, rank.verdict
    waited = behind = last = UNKNOWN
    if job.comparison is not None and len(rank.records) == 1:
        late = job.comparison.lateness.ranks[rank.records[0]]
        waited, behind = time_text(late.waiting_ns), time_text(late.behind_ns)
        last = f"{late.last}/{late.collectives}"
    return (
        str(rank.rank),
        time_text(None if window is None else window.end_ns - window.start_ns),
        "" if verdict is None else verdict.side,
        share_text(None if verdict is None else verdict.above_share),
        share_text(None if verdict is None else verdict.below_share),
        time_text(sum(overlap.busy_ns for overlap in rank.communication)),
        time_text(sum(overlap.exposed_ns for overlap in rank.communication)),
        waited,
        behind,
        last,
    )


def _findings(job: Job) -> list[str]:
    if not job.findings:
        return []
    lines = ["FINDINGS  of the ranks together; each rank's own are in its report"]
    vendor = vendor_of(job)
    for number, finding in enumerate(job.findings, 1):
        lines += _finding(number, finding, vendor)
    return lines


def _finding(number: int, finding: Finding, vendor: str) -> list[str]:
    owner = "" if finding.layer == Layer.UNKNOWN else f"; {layer_name(finding.layer, vendor)}"
    title = (
        f"{finding.rule}: {finding.title}: {time_text(finding.time_ns)} of GPU time "
        f"({share_text(finding.share)}){owner}; confidence {finding.confidence}"
    )
    lines = wrap(title, f"  {number}  ")
    for label, texts in (
        ("why", finding.evidence),
        ("fix", (finding.fix,)),
        ("where", (str(finding.where),) if str(finding.where) else ()),
    ):
        for i, text in enumerate(texts):
            lines += wrap(text, f"     {label if not i else '':<7}")
    return lines


def _collectives(job: Job) -> list[str]:
    comparison = job.comparison
    if comparison is None or not comparison.transfers:
        return []
    shown = comparison.transfers[:_SHOWN]
    rest = comparison.transfers[_SHOWN:]
    lines = [
        "COLLECTIVES  transfer: the shortest over the ranks; waited: all ranks, for later ones",
        *table(_COLLECTIVES, [_collective(comparison, i) for i in range(len(shown))], indent="  "),
    ]
    if rest:
        waited = time_text(sum(one.waiting_ns for one in rest))
        lines.append(f"  and {len(rest)} more kinds and sizes of collectives: {waited} waited")
    if any(one.assumed for one in shown):
        lines += wrap("the group is not recorded: all ranks of the job are taken for it", "  *  ")
    for why in dict.fromkeys(one.why for one in shown if one.why):
        lines += wrap(why, "  –  ")
    if job.link_gbps is None:
        lines += wrap(f"whether this is slow for the links is not told: {RECORD_LINKS}", "  GB/s  ")
    return lines


def _collective(comparison: Comparison, index: int) -> Sequence[str]:
    one = comparison.transfers[index]
    algorithm, bus = one.algbw_gbps, one.busbw_gbps
    return (
        one.known.kind,
        f"{len(one.who)}*" if one.assumed else f"{len(one.who)}",
        str(one.calls),
        bytes_text(one.bytes),
        time_text(one.transfer_ns),
        time_text(one.longest_ns),
        time_text(one.waiting_ns),
        rate_text(algorithm and algorithm[0]),
        rate_text(bus and bus[0]),
    )


def _notes(job: Job) -> list[str]:
    comparison = job.comparison
    if comparison is None:
        return wrap(job.why, "NOT COMPARED  ")
    matching, lateness = comparison.matching, comparison.lateness
    matched = sum(len(one) for one in matching.matched)
    told = f"{plural(matched, 'collective')} found on more than one rank"
    lines = wrap(told, "COMPARED  ")
    counted = max((rank.collectives for rank in lateness.ranks), default=0)
    if 0 < counted < matched:
        lines += wrap(
            "the first of each group does not count for waited, behind and last: ranks need not "
            "begin to record together",
            "          ",
        )
    if lateness.agreement_ns is not None:
        lines += wrap(
            "their ends are as far apart on every rank, within "
            f"{time_text(lateness.agreement_ns)} (median): "
            + (_SAME if lateness.trusted else _DOUBTFUL),
            "          ",
        )
    if not lateness.stragglers and matched and lateness.trusted:
        lines += wrap("no rank is late by 5 % of its window or more", "          ")
    if matching.unmatched:
        lines += wrap(f"{plural(matching.unmatched, 'call')} not compared", "          ")
    for note in (*matching.notes, *((job.why,) if job.why else ())):
        lines += wrap(note, "          ")
    return lines
