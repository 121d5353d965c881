"""The rules there are, as text for people."""

from __future__ import annotations

import re
from collections.abc import Sequence
from inspect import getdoc
from itertools import chain
from types import ModuleType

from whichlayer.analysis.report.text_layout import wrap
from whichlayer.analysis.rule import Rule, rule_modules

#: What thresholds mean that many rules have; the others are explained by their rule.
_COMMON = {
    "note": "share of the window from which it is listed as a finding",
    "major": "share of the window from which the finding counts as major",
}

#: How docstrings mark code: ``name``, `name` and roles such as :mod:`name`.
_MARKUP = re.compile(r"(?::[a-z]+(?::[a-z]+)?:)?(`{1,2})~?(.+?)\1", re.DOTALL)


def every_rule() -> dict[str, tuple[Rule, ModuleType]]:
    """Each rule with the module that explains it, by id: gap causes first, then kernels."""
    from whichlayer.analysis.gaps import causes
    from whichlayer.analysis.kernels import rules

    modules = chain(rule_modules(causes), rule_modules(rules))
    return {module.RULE.id: (module.RULE, module) for module in modules}


def list_rules() -> str:
    """Every rule in short: id, layer, title and thresholds with their defaults."""
    found = [rule for rule, _ in every_rule().values()]
    width = max((len(rule.id) for rule in found), default=0)
    lines = wrap(
        "Each rule with the layer that owns it, what it finds, and its thresholds. "
        + " ".join(f"{name}: the {meaning}." for name, meaning in _COMMON.items())
        + " 'whichlayer rules ID' explains a rule and its other thresholds."
    )
    lines.append("")
    for rule in found:
        lines += wrap(_plain(rule.title), f"{rule.id:<{width}}  {rule.layer.id:<9}  ")
        if rule.thresholds:
            lines += wrap(", ".join(_thresholds(rule)), " " * (width + 13))
    return "\n".join(lines) + "\n"


def explain_rules(ids: Sequence[str]) -> str:
    """Rules in full: what they mean, what to change, and where their figures come from.

    Raises:
        KeyError: there is no rule of that id.
    """
    rules = every_rule()
    return "\n".join("\n".join(_in_full(*rules[rule_id])) + "\n" for rule_id in ids)


def _in_full(rule: Rule, module: ModuleType) -> list[str]:
    lines = wrap(f"{_plain(rule.title)} ({rule.layer.text.name})", f"{rule.id}: ", "  ")
    for paragraph in (getdoc(module) or "").split("\n\n"):
        lines += ["", *wrap(_plain(paragraph), "  ")]
    lines += ["", *wrap(_plain(rule.fix), "  fix         ")]
    for number, threshold in enumerate(_thresholds(rule) or ["none"]):
        meaning = _COMMON.get(threshold.partition(" = ")[0], "")
        text = f"{threshold}: {meaning}" if meaning else threshold
        lines += wrap(text, f"  {'' if number else 'thresholds':<12}")
    if rule.source:
        lines += wrap(_plain(rule.source), "  source      ")
    return lines


def _thresholds(rule: Rule) -> list[str]:
    return [f"{name} = {value:g}" for name, value in rule.thresholds.items()]


def _plain(text: str) -> str:
    """A text without the markup of docstrings."""
    return _MARKUP.sub(r"\2", text)
