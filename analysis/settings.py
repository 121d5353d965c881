"""The one place where a setting of a rule or gate is read: what was set, else its default.

``findings.min_share`` is the share of the window from which any finding is listed; the
``note`` of a rule takes its place for that rule where it is set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType
from typing import Final

from whichlayer.analysis.options import Options

#: What settings of all findings are filed under, in place of a rule.
FINDINGS: Final = "findings"
#: Share of the window below which a problem is not listed: a twentieth of a step is within
#: what steps differ by from run to run. ``findings.min_share``.
MIN_SHARE: Final = 0.05
_UNITS: Final = ("_ns", "_us", "_ms", "_s", "_mb", "_gb", "_bytes")


@cache
def defaults() -> Mapping[str, Mapping[str, float]]:
    """The thresholds of every rule and gate by id, and of ``findings``, as they are shipped."""
    # Imported late, for rules read their settings here.
    from whichlayer.analysis.findings.catalogue import all_rules
    from whichlayer.analysis.quality.catalogue import gates_by_id

    found: dict[str, Mapping[str, float]] = {FINDINGS: {"min_share": MIN_SHARE}}
    found |= {rule.id: rule.thresholds for rule in all_rules().values()}
    found |= {gate.id: gate.thresholds for gate in gates_by_id().values()}
    return MappingProxyType(found)


def threshold(options: Options, rule_id: str, name: str) -> float:
    """The value in force of one threshold of a rule or gate, or of ``findings``.

    Raises:
        KeyError: there is no such rule, or it has no such threshold.
    """
    default = defaults()[rule_id][name]
    if rule_id != FINDINGS and name == "note":
        default = threshold(options, FINDINGS, "min_share")
    return options.settings.get(rule_id, {}).get(name, default)


def thresholds(options: Options, rule_id: str) -> dict[str, float]:
    """All values in force of one rule or gate, in its own order.

    Raises:
        KeyError: there is no such rule.
    """
    return {name: threshold(options, rule_id, name) for name in defaults()[rule_id]}


def listed_from(options: Options, rule_id: str) -> float:
    """The share of the window from which a rule's finding is listed."""
    return options.settings.get(rule_id, {}).get("note", threshold(options, FINDINGS, "min_share"))


def enabled(options: Options, rule_id: str) -> bool:
    """Whether a rule lists findings, or a gate warns."""
    return rule_id not in options.rules_off


def dotted(rule_id: str, name: str) -> str:
    """How a setting is written: ``rules.host-sync.note``, ``findings.min_share``."""
    return f"{rule_id}.{name}" if rule_id == FINDINGS else f"rules.{rule_id}.{name}"


def used(options: Options, rule_id: str, name: str) -> str:
    """A setting in words, with the place that it was set at.

    >>> used(Options(), "host-sync", "major")
    'rules.host-sync.major = 25 %'
    """
    value = threshold(options, rule_id, name)
    shown = f"{100 * value:g} %" if is_share(rule_id, name) else f"{value:g}"
    place = origin(options, rule_id, name)
    return f"{dotted(rule_id, name)} = {shown}" + (f" ({place})" if place else "")


def origin(options: Options, rule_id: str, name: str) -> str:
    """Where a threshold was set, or empty for a default."""
    if name not in options.settings.get(rule_id, {}):
        return ""
    return options.origins.get(dotted(rule_id, name), "as set")


def listing(options: Options, rule_id: str) -> str:
    """The setting that :func:`listed_from` reads, in words."""
    if "note" in options.settings.get(rule_id, {}):
        return used(options, rule_id, "note")
    return used(options, FINDINGS, "min_share")


def is_share(rule_id: str, name: str) -> bool:
    """Whether a threshold is a share of a whole, from 0 to 1: those below 1 without a unit are."""
    return defaults()[rule_id][name] < 1 and not name.endswith(_UNITS)


def refuse_unknown(options: Options) -> None:
    """Hold settings to the catalogue.

    Raises:
        ValueError: a rule or threshold does not exist, or a value is out of range; one line.
    """
    for rule_id, values in options.settings.items():
        if rule_id not in defaults():
            raise ValueError(no_rule(rule_id))
        for name, value in values.items():
            if name not in defaults()[rule_id]:
                raise ValueError(no_threshold(rule_id, name))
            wrong = out_of_range(rule_id, name, value)
            if wrong:
                raise ValueError(f"{dotted(rule_id, name)}: {wrong}")
    for rule_id in sorted(options.rules_off):
        if rule_id not in defaults() or rule_id == FINDINGS:
            raise ValueError(no_rule(rule_id))


def no_rule(rule_id: str) -> str:
    """What to say of an id that no rule or gate has."""
    near = get_close_matches(rule_id, [known for known in defaults() if known != FINDINGS], n=1)
    hint = f"did you mean {near[0]}?" if near else "'whichlayer rules' lists them"
    return f"there is no rule {rule_id!r:.80}; {hint}"


def no_threshold(rule_id: str, name: str) -> str:
    """What to say of a threshold that a rule does not have."""
    own = tuple(defaults()[rule_id])
    near = get_close_matches(name, own, n=1)
    hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(own) or 'none'}"
    return f"{rule_id} has no threshold {name!r:.80}; {hint}"


def out_of_range(rule_id: str, name: str, value: float) -> str:
    """What is wrong with a value, or empty."""
    shown = f"{value:g}"
    if is_share(rule_id, name):
        fits = 0 <= value <= 1
        return "" if fits else f'{shown} is no share: write 0 to 1, or a percentage such as "5%"'
    if not (math.isfinite(value) and value >= 0):
        return f"{shown} is no number from zero"
    return ""
