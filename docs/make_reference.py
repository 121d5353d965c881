"""Write docs/rules.md and docs/devices.md from the code: ``python docs/make_reference.py``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from inspect import getdoc
from pathlib import Path
from types import ModuleType

from whichlayer.analysis.kernels.device_table import DEVICE_ROWS
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.quality.gate import Gate
from whichlayer.analysis.report.device_list import (
    ABOUT,
    FIGURES,
    SOURCES,
    cells,
    facts_of,
    sources_of,
)
from whichlayer.analysis.report.glossary import TERMS
from whichlayer.analysis.report.rule_list import EFFECTS, every_gate, every_rule
from whichlayer.analysis.report.threshold_meanings import meaning_of
from whichlayer.analysis.rule import Rule

FOLDER = Path(__file__).parent
_WRITTEN = "<!-- written by docs/make_reference.py from the code: edit that instead -->\n"
#: Roles of docstrings, such as :mod:`name`.
_ROLE = re.compile(r":[a-z]+(?::[a-z]+)?:`~?([^`]+)`")
#: What Markdown would read as markup or HTML outside of code.
_MARKUP = re.compile(r"([\\*_<>|\[\]])")


def rules_page() -> str:
    """Every rule and gate, the owners and the words of the product."""
    rules = every_rule()
    parts = [
        "# Rules\n",
        _WRITTEN,
        (
            "Everything that whichlayer can diagnose, as `whichlayer rules ID` and `whichlayer explain WORD`\n"
            "tell it. Thresholds are settings (`rules.ID.NAME`, see [config.md](config.md)); a rule is\n"
            "switched off there. Examples that begin with *sample* open with `whichlayer demo NAME`; those that\n"
            "begin with *made* are scenarios of the tests; the others are from real recordings.\n"
        ),
        "## Owners\n",
        "\n".join(_owners(rules)) + "\n",
        "## Rules by owner\n",
    ]
    for layer in Layer:
        mine = [(rule, module) for rule, module in rules.values() if rule.layer is layer]
        if mine:
            parts.append(f"### {layer.text.name}\n")
            parts += [_rule(rule, module) for rule, module in mine]
    parts.append("## Gates: how far a recording can be trusted\n")
    parts += [_gate(gate, module) for gate, module in every_gate().values()]
    parts += ["## Words and numbers\n", "\n".join(_terms())]
    return "\n".join(parts)


def devices_page() -> str:
    """The cards whose peaks are known."""
    head = ["card", "GB/s", *FIGURES, "eff"]
    rows = [f"| {' | '.join(head)} |", "|---|" + "--:|" * (len(head) - 1)]
    rows += [f"| {' | '.join(cells(row))} |" for row in DEVICE_ROWS]
    details = [
        f"- **{row.name}**: {_text(facts_of(row))}. Sources: {_text(sources_of(row))}."
        for row in DEVICE_ROWS
    ]
    return "\n".join(
        [
            "# Devices\n",
            _WRITTEN,
            f"{_text(ABOUT)}\n",
            (
                "Another card, or other figures: `--device-model`, `--peak-bandwidth`, `--peak-flops`, or\n"
                '`[peaks."NAME"]` in the settings ([config.md](config.md)).\n'
            ),
            *rows,
            "",
            "## Where the figures are from\n",
            f"{_text(SOURCES)}\n",
            *details,
            "",
        ]
    )


def _owners(rules: Mapping[str, tuple[Rule, ModuleType]]) -> Iterator[str]:
    yield "| id | letter | name | owns | fixed in | rules |"
    yield "|---|---|---|---|---|---|"
    for layer in Layer:
        text = layer.text
        mine = ", ".join(f"[{rule.id}](#{rule.id})" for rule, _ in rules.values()
                         if rule.layer is layer)  # fmt: skip
        yield f"| `{layer.id}` | {text.letter} | {text.name} | {text.owns} | {text.fixed_in} | {mine} |"


def _rule(rule: Rule, module: ModuleType) -> str:
    return "\n".join(
        [
            f"#### {rule.id}\n",
            f"*{_text(rule.title)}*\n",
            _docstring(module),
            f"- **Fix**: {_text(rule.fix)}",
            *_figures(rule.id, rule.thresholds, rule.source, rule.example),
            "",
        ]
    )


def _gate(gate: Gate, module: ModuleType) -> str:
    effect = EFFECTS.get(gate.effect, "")
    return "\n".join(
        [
            f"#### {gate.id}\n",
            f"*{_text(gate.title)}*\n",
            _docstring(module),
            *([f"- **Effect**: {effect}"] if effect else []),
            *_figures(gate.id, gate.thresholds, gate.source, gate.example),
            "",
        ]
    )


def _figures(
    rule_id: str, thresholds: Mapping[str, float], source: str, example: str
) -> Iterator[str]:
    for name, value in thresholds.items():
        meaning = meaning_of(rule_id, name)
        told = f": {_text(meaning)}" if meaning else ""
        yield f"- **Threshold** `rules.{rule_id}.{name} = {value:g}`{told}"
    yield f"- **Source**: {_text(source)}"
    yield f"- **Example**: {_text(example)}"


def _terms() -> Iterator[str]:
    for term in TERMS:
        also = f" Also asked for as: {_text(', '.join(term.also))}." if term.also else ""
        yield f"- **{_text(term.word)}**: {_text(term.means)}{also}"
    yield ""


def _docstring(module: ModuleType) -> str:
    """A module's docstring, whose code is Markdown's already but for the doubled ticks."""
    text = _ROLE.sub(r"`\1`", getdoc(module) or "").replace("``", "`")
    code = text.split("`")
    code[::2] = [_text(part) for part in code[::2]]
    return "`".join(code) + "\n"


def _text(text: str) -> str:
    return _MARKUP.sub(r"\\\1", text)


if __name__ == "__main__":
    (FOLDER / "rules.md").write_text(rules_page(), encoding="utf-8")
    (FOLDER / "devices.md").write_text(devices_page(), encoding="utf-8")
