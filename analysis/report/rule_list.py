"""The rules and the gates of trust there are, as text for people."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from inspect import getdoc
from itertools import chain
from types import ModuleType

from whichlayer.analysis.findings.catalogue import VERDICTS
from whichlayer.analysis.quality.catalogue import gate_modules
from whichlayer.analysis.quality.gate import Effect, Gate
from whichlayer.analysis.report.text_layout import wrap
from whichlayer.analysis.report.threshold_meanings import COMMON, meaning_of
from whichlayer.analysis.rule import Rule, rule_modules

#: What a gate does where it fires as a doubt.
EFFECTS = {
    Effect.LOWER: "every finding is trusted one step less",
    Effect.GAPS_LOW: "findings from gaps are hints",
    Effect.ALL_LOW: "every finding is a hint",
}

#: How docstrings mark code: ``name``, `name` and roles such as :mod:`name`.
_MARKUP = re.compile(r"(?::[a-z]+(?::[a-z]+)?:)?(`{1,2})~?(.+?)\1", re.DOTALL)


def every_rule() -> dict[str, tuple[Rule, ModuleType]]:
    """Each rule with the module that explains it, by id: gap causes, kernels, ranks, verdicts."""
    from whichlayer.analysis.communication import rules as job_rules
    from whichlayer.analysis.gaps import causes
    from whichlayer.analysis.kernels.rule_modules import kernel_rule_modules

    modules = chain(rule_modules(causes), kernel_rule_modules(), rule_modules(job_rules), VERDICTS)
    return {module.RULE.id: (module.RULE, module) for module in modules}


def every_gate() -> dict[str, tuple[Gate, ModuleType]]:
    """Each gate of trust in a recording with the module that explains it, by id."""
    return {module.GATE.id: (module.GATE, module) for module in gate_modules()}


def known_ids() -> tuple[str, ...]:
    """The words that :func:`explain_rules` takes."""
    return (*every_rule(), *every_gate())


def list_rules() -> str:
    """Every rule in short: id, layer, title and thresholds with their defaults."""
    found = [rule for rule, _ in every_rule().values()]
    width = max((len(rule.id) for rule in found), default=0)
    lines = wrap(
        "Each rule with the layer that owns it, what it finds, and its thresholds. "
        + " ".join(f"{name}: the {COMMON[name]}." for name in ("note", "major"))
        + " 'whichlayer rules ID' explains a rule and its other thresholds."
    )
    lines.append("")
    for rule in found:
        lines += wrap(_plain(rule.title), f"{rule.id:<{width}}  {rule.layer.id:<9}  ")
        if rule.thresholds:
            lines += wrap(", ".join(_thresholds(rule.thresholds)), " " * (width + 13))
    lines += [
        "",
        *wrap("Gates: how far a recording can be trusted. Reports list those that fire."),
        "",
    ]
    for gate, _ in every_gate().values():
        lines += wrap(_plain(gate.title), f"{gate.id:<5}")
        if gate.thresholds:
            lines += wrap(", ".join(_thresholds(gate.thresholds)), " " * 5)
    return "\n".join(lines) + "\n"


def explain_rules(ids: Sequence[str]) -> str:
    """Rules and gates in full: what they mean, what to do, where their figures come from.

    Raises:
        KeyError: there is no rule or gate of that id.
    """
    rules, gates = every_rule(), every_gate()
    texts = [_gate_in_full(*gates[one]) if one in gates else _in_full(*rules[one]) for one in ids]
    return "\n".join("\n".join(text) + "\n" for text in texts)


def _in_full(rule: Rule, module: ModuleType) -> list[str]:
    lines = wrap(f"{_plain(rule.title)} ({rule.layer.text.name})", f"{rule.id}: ", "  ")
    lines += _explained(module)
    lines += ["", *wrap(_plain(rule.fix), "  fix         ")]
    return lines + _figures(rule.id, rule.thresholds, rule.source) + _example(rule.example)


def _gate_in_full(gate: Gate, module: ModuleType) -> list[str]:
    lines = wrap(_plain(gate.title), f"{gate.id}: ", "  ")
    lines += [*_explained(module), ""]
    if gate.effect in EFFECTS:
        lines += wrap(EFFECTS[gate.effect], "  effect      ")
    return lines + _figures(gate.id, gate.thresholds, gate.source) + _example(gate.example)


def _explained(module: ModuleType) -> list[str]:
    """What a module says of itself to users."""
    lines: list[str] = []
    for paragraph in (getdoc(module) or "").split("\n\n"):
        lines += ["", *wrap(_plain(paragraph), "  ")]
    return lines


def _figures(rule_id: str, thresholds: Mapping[str, float], source: str) -> list[str]:
    lines: list[str] = []
    for number, threshold in enumerate(_thresholds(thresholds) or ["none"]):
        meaning = meaning_of(rule_id, threshold.partition(" = ")[0])
        text = f"{threshold}: {meaning}" if meaning else threshold
        lines += wrap(text, f"  {'' if number else 'thresholds':<12}")
    return [*lines, *(wrap(_plain(source), "  source      ") if source else ())]


def _example(example: str) -> list[str]:
    return wrap(example, "  example     ") if example else []


def _thresholds(thresholds: Mapping[str, float]) -> list[str]:
    return [f"{name} = {value:g}" for name, value in thresholds.items()]


def _plain(text: str) -> str:
    """A text without the markup of docstrings."""
    return _MARKUP.sub(r"\2", text)
