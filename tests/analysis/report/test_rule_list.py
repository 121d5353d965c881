from __future__ import annotations

import re

import pytest

from whichlayer.analysis.findings.catalogue import all_rules
from whichlayer.analysis.quality.gate import Effect
from whichlayer.analysis.report.rule_list import (
    every_gate,
    every_rule,
    explain_rules,
    known_ids,
    list_rules,
)
from whichlayer.analysis.report.text_layout import COLUMNS, columns_of
from whichlayer.analysis.report.threshold_meanings import COMMON, OF_RULE, meaning_of
from whichlayer.analysis.settings import MIN_SHARE, defaults


def test_the_list_is_of_all_rules_that_findings_use() -> None:
    assert {rule_id: rule for rule_id, (rule, _) in every_rule().items()} == dict(all_rules())


def test_every_rule_is_listed_with_its_layer_and_thresholds() -> None:
    listed = list_rules()
    for rule in all_rules().values():
        (line,) = (one for one in listed.splitlines() if one.startswith(f"{rule.id} "))
        assert line.split()[1] == rule.layer.id
        assert all(f"{name} = {value:g}" in listed for name, value in rule.thresholds.items())


@pytest.mark.parametrize("rule_id", sorted(all_rules()))
def test_a_rule_in_full_has_a_docstring_for_users_a_fix_and_a_source(rule_id: str) -> None:
    rule, module = every_rule()[rule_id]
    explained = explain_rules([rule_id])
    assert module.__doc__ and rule.fix.split()[0] in explained
    assert rule.source and rule.source.split()[0] in explained
    assert rule.example and rule.example in " ".join(explained.split())
    assert all(columns_of(line) <= COLUMNS for line in explained.splitlines())


@pytest.mark.parametrize("rule_id", sorted(all_rules()))
def test_rules_are_explained_without_the_markup_of_docstrings(rule_id: str) -> None:
    explained = explain_rules([rule_id])
    assert "`" not in explained and "`" not in list_rules()
    assert not re.search(r":(mod|class|func|meth|data):", explained)


def test_thresholds_that_many_rules_have_are_explained() -> None:
    assert "note: the share of the window" in " ".join(list_rules().split())
    explained = explain_rules(["dataloader-wait"])
    assert "note = 0.05: share of the window from which it is listed" in explained
    assert "major = 0.2: share of the window from which" in explained


def test_every_threshold_is_explained_and_no_other() -> None:
    held = {(one, name) for one, names in defaults().items() for name in names}
    assert [one for one in sorted(held) if not meaning_of(*one)] == []
    assert OF_RULE.keys() <= held and set(COMMON) <= {name for _, name in held}


def test_a_note_is_the_share_from_which_findings_are_listed() -> None:
    notes = {rule.thresholds["note"] for rule in all_rules().values() if "note" in rule.thresholds}
    assert notes == {MIN_SHARE}


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(KeyError):
        explain_rules(["no-such-rule"])


@pytest.mark.parametrize("gate_id", sorted(every_gate()))
def test_a_gate_is_listed_and_explained_with_effect_and_thresholds(gate_id: str) -> None:
    gate, module = every_gate()[gate_id]
    assert gate_id in known_ids()
    assert f"\n{gate_id:<5}{gate.title}\n" in list_rules()
    explained = explain_rules([gate_id])
    assert explained.startswith(f"{gate_id}: {gate.title}\n") and module.__doc__
    assert all(f"{name} = {value:g}" in explained for name, value in gate.thresholds.items())
    assert ("effect" in explained) == (gate.effect != Effect.NONE)
    assert all(columns_of(line) <= COLUMNS for line in explained.splitlines())
    assert "`" not in explained
