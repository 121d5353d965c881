"""What each finding is worth: the time that a replay without it gains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from whichlayer.analysis.among import among
from whichlayer.analysis.findings.catalogue import all_rules, kernel_rules
from whichlayer.analysis.findings.collect import REPLAYED_SHARE
from whichlayer.analysis.findings.look_alikes import taken_for_granted
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.quality.effects import less_sure
from whichlayer.analysis.replay.causes import UPPER_BOUND
from whichlayer.analysis.replay.recoverable import Replayer
from whichlayer.analysis.replay.removal import Removal
from whichlayer.analysis.report.units import time_text
from whichlayer.analysis.results import Analysis, Finding
from whichlayer.analysis.settings import listed_from

#: At most this many findings are replayed, the most time first.
MAX_REPLAYED = 8
#: A finding that gains less than this share of its time is told why.
LITTLE = 0.5
#: One that gains less than this share of its time gains little alone, and is trusted less.
NOTHING = 0.1
#: One that gains this many times its time is told why.
MORE = 1.1
_ELSEWHERE = (
    "gone alone it gains less than it takes: the window would then wait for the host or other work"
)
_BEYOND = (
    "gone it gains more than it takes: the host would be ahead, and what it does later would be "
    "hidden behind work that is queued"
)
_LITTLE_ALONE = "removing it alone gains {gain}, because {next} comes next"
_DEVICE = "the device's own work, or a wait for other work of it,"
#: Owners of findings that nobody can act on.
_NOBODY = (Layer.UNKNOWN, Layer.NONE)
#: Causes whose host time is dispatch.
_DISPATCH = ("graph-break", "launch-bound", "optimizer-loop")
#: Causes of which a change takes away nearly what the replay does, bound or not.
_WHOLE = ("graph-break", "optimizer-loop")
_BOUND = (
    "recoverable is an upper bound: dispatch is never free, and the profiler slows the host",
    "recoverable is an upper bound: as if other work could hide all of it",
)


def rank_by_worth(
    findings: Sequence[Finding], analysis: Analysis, replayer: Replayer
) -> tuple[Finding, ...]:
    """The findings with what removing each would gain, the most first.

    One that neither takes nor gains what its rule is listed from is left out. One that nothing can
    be replayed for is ranked by the time it takes, and one of which only an upper bound is known by
    no more than that, but for causes of which a change takes away nearly what the replay does. One
    that nobody can act on comes behind those that gain or take as much.
    """
    by_time = sorted(findings, key=lambda finding: (-finding.time_ns, finding.rule))
    found = [
        _valued(finding, analysis, replayer)
        if place < MAX_REPLAYED and finding.share >= REPLAYED_SHARE
        else finding
        for place, finding in enumerate(by_time)
    ]
    found = [finding for finding in found if _listed(finding, analysis)]
    found.sort(key=lambda finding: (-worth_of(finding), finding.rule))
    ranked = [finding for finding in found if finding.layer not in _NOBODY]
    for finding in (one for one in found if one.layer in _NOBODY):
        least = finding.time_ns
        before = [i for i, one in enumerate(ranked) if max(worth_of(one), one.time_ns) >= least]
        ranked.insert(before[-1] + 1 if before else 0, finding)
    return tuple(ranked)


def together(findings: Sequence[Finding], analysis: Analysis, replayer: Replayer) -> int | None:
    """Nanoseconds that removing all findings that were replayed gains; None for fewer than two."""
    replayed = [finding for finding in findings if finding.recoverable_ns is not None]
    if len(replayed) < 2:
        return None
    removals = [_removal(finding, analysis, replayer) for finding in replayed]
    return replayer.gain_of([removal for removal in removals if removal is not None])


def worth_of(finding: Finding) -> int:
    """Nanoseconds by which a finding is ranked."""
    if finding.recoverable_ns is None:
        return finding.time_ns
    if is_bound(finding) and finding.rule not in _WHOLE:
        return min(finding.recoverable_ns, finding.time_ns)
    return finding.recoverable_ns


def is_bound(finding: Finding) -> bool:
    """Whether what it recovers is an upper bound."""
    return finding.recoverable_ns is not None and finding.rule in UPPER_BOUND


def _listed(finding: Finding, analysis: Analysis) -> bool:
    """Whether what a finding takes or gains is enough; one without a time has no share."""
    worth = max(finding.time_ns, worth_of(finding))
    if finding.rule in _WHOLE:
        worth = max(worth, finding.recoverable_ns or 0)
    least = listed_from(analysis.options, finding.rule) * analysis.budget.total_ns
    return not finding.time_ns or worth >= least


def _removal(finding: Finding, analysis: Analysis, replayer: Replayer) -> Removal | None:
    if finding.rule in kernel_rules():
        return replayer.losses(analysis.activities, _of_finding(finding, analysis))
    return replayer.cause(finding.rule, analysis.gaps)


def _valued(finding: Finding, analysis: Analysis, replayer: Replayer) -> Finding:
    removal = _removal(finding, analysis, replayer)
    gain = None if removal is None else replayer.gain_of([removal])
    if gain is None:
        if not replayer.reason:
            return finding
        why = f"what removing it would gain is not known: {replayer.reason}"
        return replace(finding, evidence=(*finding.evidence, why))
    evidence = finding.evidence
    if finding.rule in UPPER_BOUND:
        evidence = (*evidence, _BOUND[finding.rule not in _DISPATCH])
    if removal is not None and gain < NOTHING * finding.time_ns:
        coming = replayer.waits_next(removal, analysis.gaps, finding.rule)
        told = _DEVICE if coming is None else f"{coming} ({all_rules()[coming].title})"
        return replace(
            finding,
            recoverable_ns=gain,
            evidence=(*evidence, _LITTLE_ALONE.format(gain=gained(gain, finding), next=told)),
            confidence=less_sure(finding.confidence),
        )
    if gain < LITTLE * finding.time_ns:
        evidence = (*evidence, _ELSEWHERE)
    elif gain > MORE * finding.time_ns:
        evidence = (*evidence, _BEYOND)
    evidence = (*evidence, *taken_for_granted(analysis.trace, finding.rule))
    return replace(finding, recoverable_ns=gain, evidence=evidence)


def gained(gain: int, finding: Finding) -> str:
    """What little is gained, as it stands beside the finding."""
    if not gain:
        return "nothing"
    most = "at most" if finding.rule in UPPER_BOUND else "only"
    return f"{most} {time_text(gain)}"


def _of_finding(finding: Finding, analysis: Analysis) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which activities a finding about kernels is about: bool (activities,)."""
    groups = [
        index
        for index, group in enumerate(analysis.kernels)
        if (group.rule, group.layer) == (finding.rule, finding.layer) and group.lost_ns > 0
    ]
    return among(analysis.activities.group, groups)
