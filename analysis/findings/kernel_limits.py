"""What a finding about kernels adds: the settings it used, and how to learn what it cannot tell."""

from __future__ import annotations

from collections.abc import Sequence

from whichlayer.analysis.options import Options
from whichlayer.analysis.results import KernelGroup
from whichlayer.analysis.rule import Rule
from whichlayer.analysis.settings import origin, thresholds


def kernel_limits(rule: Rule, groups: Sequence[KernelGroup], options: Options) -> list[str]:
    """Lines of evidence: the rule's settings, and the command for the group that loses most."""
    lines = []
    if rule.thresholds:
        lines.append(f"by rules.{rule.id}: {_in_force(rule, options)}")
    command = next((group.counters for group in groups if group.counters), "")
    if command:
        lines.append(f"why it is slow only hardware counters tell: {command}")
        lines.append("launches are counted from where this recording begins: start both there")
    return lines


def _in_force(rule: Rule, options: Options) -> str:
    """The rule's settings, those that somebody set with their place."""
    said = []
    for name, value in thresholds(options, rule.id).items():
        place = origin(options, rule.id, name)
        said.append(f"{name} = {value:g}" + (f" ({place})" if place else ""))
    return ", ".join(said)


#: Rules whose kernels may be as fast as they can be: what is lost is that they run at all.
_NEED_NOT_BE = frozenset({"cast-churn", "copy-storm", "unfused-elementwise"})


def lost_text(rule: Rule, calls: str, time: str) -> str:
    """The first line of evidence: how many calls lose how much."""
    if rule.id in _NEED_NOT_BE:
        return f"{calls}, {time} of them need not be"
    return f"{calls} of slow kernels, {time} above what the card needs"
