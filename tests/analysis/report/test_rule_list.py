from __future__ import annotations

import pytest

from whichlayer.analysis.findings.catalogue import all_rules
from whichlayer.analysis.report.rule_list import every_rule, explain_rules, list_rules
from whichlayer.analysis.report.text_layout import COLUMNS, columns_of


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
    assert all(columns_of(line) <= COLUMNS for line in explained.splitlines())


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(KeyError):
        explain_rules(["no-such-rule"])
