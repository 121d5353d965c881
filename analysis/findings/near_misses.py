"""Rules that almost fired, and why they did not: for whoever asks.

A rule is near where what it found takes at least half of what findings are listed from, or where
one of its thresholds, and nothing else, keeps it from applying and is missed by no more than a
factor of two. Rules say themselves what they are near to: their own conditions are asked again
with that threshold changed. Nothing here is a finding, and no time of it is charged to anybody.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from whichlayer.analysis.findings.catalogue import all_rules, kernel_rules
from whichlayer.analysis.findings.collect import NO_FINDING
from whichlayer.analysis.findings.near import NEAR, NearMiss
from whichlayer.analysis.findings.near_hints import near_hints
from whichlayer.analysis.findings.near_kernels import near_kernels
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.rule import Rule
from whichlayer.analysis.settings import FINDINGS, dotted, enabled, listed_from, listing


def near_misses(analysis: Analysis) -> tuple[NearMiss, ...]:
    """The rules that almost fired in a window, those with the most time at stake first."""
    if not analysis.devices or analysis.budget.total_ns <= 0:
        return ()
    told = {finding.rule for finding in analysis.findings}
    found = [*_small(analysis), *near_kernels(analysis), *near_hints(analysis)]
    found = [one for one in found if one.rule not in told]
    found.sort(key=lambda one: (-one.time_ns, one.rule, one.setting))
    return tuple(found)


def _small(analysis: Analysis) -> Iterator[NearMiss]:
    """Problems that were found and are too small to list, or switched off."""
    options, total = analysis.options, analysis.budget.total_ns
    for rule, layer, time in _times(analysis):
        least = listed_from(options, rule.id)
        if NEAR * time < least * total:
            continue
        if enabled(options, rule.id):
            why = f"it takes {_percent(time / total)} of the {options.whole}, listed from"
            why += f" {listing(options, rule.id)}"
        else:
            why = f"it takes {_percent(time / total)} of the {options.whole}, and is switched off"
        own = "note" in options.settings.get(rule.id, {})
        setting = dotted(rule.id, "note") if own else dotted(FINDINGS, "min_share")
        yield NearMiss(rule.id, layer, rule.title, time / total, least, setting, time, why)


def _times(analysis: Analysis) -> Iterator[tuple[Rule, Layer, int]]:
    """What each rule found takes of the window, by owner; what nobody can fix is left out."""
    gaps, rules = analysis.gaps, all_rules()
    taken = np.zeros(len(gaps.rule_ids), np.int64)
    np.add.at(taken, gaps.cause, gaps.end_ns - gaps.start_ns)
    for rule_id, time in zip(gaps.rule_ids, taken.tolist(), strict=True):
        if time and rule_id not in NO_FINDING and rules[rule_id].layer != Layer.NONE:
            yield rules[rule_id], rules[rule_id].layer, time
    lost: dict[tuple[str, Layer], int] = {}
    for group in analysis.kernels:
        if group.lost_ns > 0 and group.layer != Layer.NONE and group.rule in kernel_rules():
            key = group.rule, group.layer
            lost[key] = lost.get(key, 0) + group.lost_ns
    for (rule_id, layer), time in lost.items():
        yield rules[rule_id], layer, time


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
