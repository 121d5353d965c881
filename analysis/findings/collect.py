"""Findings: gap pieces of one cause together, kernel losses of one rule together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.findings.catalogue import kernel_rules
from whichlayer.analysis.findings.concentrated import step_line
from whichlayer.analysis.findings.hints import collect_hints
from whichlayer.analysis.findings.kernel_limits import kernel_limits, lost_text
from whichlayer.analysis.findings.look_alikes import with_look_alikes
from whichlayer.analysis.findings.places import Place, main_place, on_threads
from whichlayer.analysis.gaps.catalogue import cause_rules
from whichlayer.analysis.gaps.explain import explain_gap
from whichlayer.analysis.gaps.proofs import microseconds
from whichlayer.analysis.kernels.advice import fix_for
from whichlayer.analysis.kernels.peaks import device_entry, match_device
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.quality.effects import doubts, lowered, reasons
from whichlayer.analysis.results import Analysis, Finding, GapKind, KernelGroup, Region, Where
from whichlayer.analysis.rule import Rule
from whichlayer.analysis.settings import enabled, listed_from, listing, threshold, used

#: From this share of the window on a problem is replayed: it may gain far more than it takes.
REPLAYED_SHARE = 0.01
#: At most this many regions are given with a finding, the longest first.
MAX_REGIONS = 50
#: Causes that explain time without being anything to fix.
NO_FINDING = frozenset({"launch-latency", "stream-wait", "in-graph-gap"})


def collect_findings(analysis: Analysis) -> tuple[Finding, ...]:
    """What may be a finding of an analysis, the most time first.

    What too little is gained by is left out once that is known (``worth.py``).
    """
    found = [*_from_gaps(analysis), *_from_kernels(analysis), *collect_hints(analysis)]
    found.sort(key=lambda finding: (-finding.time_ns, finding.rule))
    return tuple(found)


def _from_gaps(analysis: Analysis) -> list[Finding]:
    gaps, total = analysis.gaps, analysis.budget.total_ns
    if not len(gaps) or total <= 0:
        return []
    length = gaps.end_ns - gaps.start_ns
    found = []
    for code in np.unique(gaps.cause).tolist():
        rule = cause_rules()[gaps.rule_ids[code]]
        pieces = np.flatnonzero(gaps.cause == code)
        time = int(length[pieces].sum())
        if rule.id in NO_FINDING or not _candidate(analysis, rule, time):
            continue
        pieces = pieces[np.argsort(-length[pieces], kind="stable")]
        found.append(_gap_finding(analysis, rule, pieces, time))
    return found


def _gap_finding(analysis: Analysis, rule: Rule, pieces: NDArray[np.intp], time: int) -> Finding:
    gaps, share = analysis.gaps, time / analysis.budget.total_ns
    length = (gaps.end_ns - gaps.start_ns)[pieces]
    place = main_place(
        analysis.trace,
        _rows_of_pieces(analysis, pieces),
        length,
        analysis.options.source_roots,
    )
    text = explain_gap(analysis, int(pieces[place.lead[0]]))
    where = text.where
    longest = microseconds(int(length[0]))
    evidence = (
        f"{microseconds(time)} in {_count(len(pieces), 'piece')}, the longest {longest}",
        *_parts(analysis, pieces, length, place, where),
        *text.evidence,
        *reasons(doubts(analysis.warnings), from_gap=True),
    )
    finding = Finding(
        rule=rule.id,
        layer=rule.layer,
        title=rule.title,
        time_ns=time,
        recoverable_ns=None,
        share=share,
        fix=text.fix,
        where=where,
        evidence=evidence,
        regions=tuple(
            Region(int(gaps.start_ns[i]), int(gaps.end_ns[i]), int(gaps.device[i]))
            for i in pieces[:MAX_REGIONS].tolist()
        ),
        confidence=_gap_confidence(analysis, rule, where),
        threshold=_threshold(analysis, rule, share),
    )
    return with_look_alikes(analysis, finding)


def _rows_of_pieces(analysis: Analysis, pieces: NDArray[np.intp]) -> NDArray[np.int64]:
    """The slice on a thread that tells where each piece comes from."""
    trace, gaps = analysis.trace, analysis.gaps
    culprit = gaps.culprit_row[pieces].astype(np.int64)
    launch = gaps.launch_row[pieces].astype(np.int64)
    started = np.where(culprit >= 0, trace.launch[np.maximum(culprit, 0)], -1).astype(np.int64)
    return on_threads(trace, culprit, launch, started)


def _parts(
    analysis: Analysis,
    pieces: NDArray[np.intp],
    length: NDArray[np.int64],
    place: Place,
    where: Where,
) -> Iterator[str]:
    """How a finding's time is spread: over steps, kinds of gaps, and places."""
    gaps = analysis.gaps
    told = step_line(analysis, gaps.start_ns[pieces], gaps.device[pieces], length)
    if told is not None:
        yield told
    exposed = gaps.kind[pieces] != GapKind.IDLE
    ran, waited = int(length[exposed].sum()), int(length[~exposed].sum())
    if ran > waited > 0:
        yield f"{microseconds(ran)} in which nothing else ran, {microseconds(waited)} idle behind it"
    at = str(where) or (where.operator or "").rsplit(" > ", 1)[-1]
    if len(place.members) < len(pieces) and at:
        number = _count(len(place.members), "piece")
        yield f"the most at one place: {microseconds(place.time_ns)} in {number}, at {at}, such as:"


def _gap_confidence(analysis: Analysis, rule: Rule, where: Where) -> str:
    """Python without a line of it is told by an annotation alone: a hint."""
    if rule.id == "python-overhead" and where.file is None:
        return "low"
    return _confidence(analysis, rule, from_gap=True)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _candidate(analysis: Analysis, rule: Rule, time: int) -> bool:
    """Whether a problem may be large enough, by what it takes or what it gains: rule and share."""
    options = analysis.options
    least = min(listed_from(options, rule.id), REPLAYED_SHARE) * analysis.budget.total_ns
    return enabled(options, rule.id) and time > 0 and time >= least


def _threshold(analysis: Analysis, rule: Rule, share: float) -> str:
    """The setting that a finding was held to last, as it is in force."""
    options = analysis.options
    if "major" in rule.thresholds and share >= threshold(options, rule.id, "major"):
        return used(options, rule.id, "major")
    return listing(options, rule.id)


def _confidence(analysis: Analysis, rule: Rule, from_gap: bool) -> str:
    """How far to trust a finding: what the cause rests on, and the gates of the recording."""
    if rule.layer == Layer.UNKNOWN:
        return "low"
    usual = "high" if analysis.window.steps else "medium"
    return lowered(usual, doubts(analysis.warnings), from_gap)


def _from_kernels(analysis: Analysis) -> list[Finding]:
    total = analysis.budget.total_ns
    by_rule: dict[tuple[str, Layer], list[KernelGroup]] = {}
    for group in analysis.kernels:
        if group.lost_ns > 0 and group.layer != Layer.NONE and group.rule:
            by_rule.setdefault((group.rule, group.layer), []).append(group)
    found = []
    for (rule_id, layer), groups in by_rule.items():
        time = sum(group.lost_ns for group in groups)
        rule = kernel_rules().get(rule_id)
        if rule is None or total <= 0 or not _candidate(analysis, rule, time):
            continue
        groups.sort(key=lambda group: -group.lost_ns)
        found.append(_kernel_finding(analysis, rule, layer, groups, time))
    return found


def _kernel_finding(
    analysis: Analysis, rule: Rule, layer: Layer, groups: list[KernelGroup], time: int
) -> Finding:
    share = time / analysis.budget.total_ns
    calls = sum(group.calls for group in groups)
    lost = lost_text(rule, _count(calls, "call"), microseconds(time))
    evidence = [lost]
    evidence += [
        f"{group.short_name}: {_count(group.calls, 'call')}, {microseconds(group.total_ns)}; "
        f"{group.why}"
        for group in groups[:3]
    ]
    evidence += kernel_limits(rule, groups, analysis.options)
    evidence += reasons(doubts(analysis.warnings), from_gap=False)
    return Finding(
        rule=rule.id,
        layer=layer,
        title=rule.title,
        time_ns=time,
        recoverable_ns=None,
        share=share,
        fix=_kernel_fix(analysis, rule, groups[0]),
        where=_kernels_place(analysis, groups),
        evidence=tuple(evidence),
        regions=_kernel_regions(analysis, groups),
        confidence=_confidence(analysis, rule, from_gap=False),
        threshold=_threshold(analysis, rule, share),
    )


def _kernel_fix(analysis: Analysis, rule: Rule, group: KernelGroup) -> str:
    """The fix on the card that ran the group."""
    trace = analysis.trace
    number = trace.lanes[int(trace.lane_id[group.rows[0]])].device
    entry = device_entry(number, trace.header)
    return fix_for(rule.id, match_device(entry, trace.header, analysis.options))


def _kernels_place(analysis: Analysis, groups: list[KernelGroup]) -> Where:
    """Where the calls that lose most come from."""
    trace, activities = analysis.trace, analysis.activities
    rows = np.concatenate([group.rows for group in groups])
    order = np.argsort(activities.row, kind="stable")
    at = order[np.searchsorted(activities.row, rows, sorter=order)]
    launches = trace.launch[rows].astype(np.int64)
    rows, roots = on_threads(trace, launches), analysis.options.source_roots
    return main_place(trace, rows, activities.loss_ns[at], roots).where


def _kernel_regions(analysis: Analysis, groups: list[KernelGroup]) -> tuple[Region, ...]:
    trace = analysis.trace
    index_of = {device.number: i for i, device in enumerate(analysis.devices)}
    rows = np.concatenate([group.rows for group in groups[:10]])
    length = trace.end_ns[rows] - trace.start_ns[rows]
    rows = rows[np.argsort(-length, kind="stable")][:MAX_REGIONS]
    return tuple(
        Region(
            int(trace.start_ns[row]),
            int(trace.end_ns[row]),
            index_of.get(trace.lanes[int(trace.lane_id[row])].device, 0),
        )
        for row in rows.tolist()
    )
