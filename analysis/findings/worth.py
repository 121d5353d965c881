"""What each finding is worth: the time that a replay without it gains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from whichlayer.analysis.findings.catalogue import kernel_rules
from whichlayer.analysis.replay.causes import UPPER_BOUND
from whichlayer.analysis.replay.recoverable import Replayer
from whichlayer.analysis.results import Analysis, Finding

#: At most this many findings are replayed, the most time first. Setting ``replay.max_causes``.
MAX_REPLAYED = 8
#: Less than this share of the window is not replayed. Setting ``replay.min_share``.
MIN_SHARE = 0.01
#: A finding that gains less than this share of its time is told why. Setting ``replay.little``.
LITTLE = 0.5
_ELSEWHERE = (
    "gone alone it gains less than it takes: the window would then wait for the host or other work"
)
#: Causes whose host time is dispatch.
_DISPATCH = ("graph-break", "launch-bound", "optimizer-loop")
_BOUND = (
    "recoverable is an upper bound: dispatch is never free, and the profiler slows the host",
    "recoverable is an upper bound: as if other work could hide all of it",
)


def rank_by_worth(
    findings: Sequence[Finding], analysis: Analysis, replayer: Replayer
) -> tuple[Finding, ...]:
    """The findings with what removing each would gain, the most first.

    One that nothing can be replayed for is ranked by the time it takes, and one of which only
    an upper bound is known by no more than that.
    """
    by_time = sorted(findings, key=lambda finding: (-finding.time_ns, finding.rule))
    found = [
        _valued(finding, analysis, replayer)
        if place < MAX_REPLAYED and finding.share >= MIN_SHARE
        else finding
        for place, finding in enumerate(by_time)
    ]
    found.sort(key=lambda finding: (-worth_of(finding), finding.rule))
    return tuple(found)


def worth_of(finding: Finding) -> int:
    """Nanoseconds by which a finding is ranked."""
    if finding.recoverable_ns is None:
        return finding.time_ns
    if is_bound(finding):
        return min(finding.recoverable_ns, finding.time_ns)
    return finding.recoverable_ns


def is_bound(finding: Finding) -> bool:
    """Whether what it recovers is an upper bound."""
    return finding.recoverable_ns is not None and finding.rule in UPPER_BOUND


def _valued(finding: Finding, analysis: Analysis, replayer: Replayer) -> Finding:
    if finding.rule in kernel_rules():
        gain = replayer.without_losses(analysis.activities, _of_finding(finding, analysis))
    else:
        gain = replayer.without_cause(finding.rule, analysis.gaps)
    if gain is None:
        if not replayer.reason:
            return finding
        why = f"what removing it would gain is not known: {replayer.reason}"
        return replace(finding, evidence=(*finding.evidence, why))
    evidence = finding.evidence
    if finding.rule in UPPER_BOUND:
        evidence = (*evidence, _BOUND[finding.rule not in _DISPATCH])
    if gain < LITTLE * finding.time_ns:
        evidence = (*evidence, _ELSEWHERE)
    return replace(finding, recoverable_ns=gain, evidence=evidence)


def _of_finding(finding: Finding, analysis: Analysis) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which activities a finding about kernels is about: bool (activities,)."""
    groups = [
        index
        for index, group in enumerate(analysis.kernels)
        if (group.rule, group.layer) == (finding.rule, finding.layer) and group.lost_ns > 0
    ]
    return np.isin(analysis.activities.group, groups)
