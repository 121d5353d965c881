"""Every rule that whichlayer has: the causes of gaps, and the rules about kernels and ranks."""

from __future__ import annotations

from functools import cache

from whichlayer.analysis.communication import rules as job_rules
from whichlayer.analysis.gaps.catalogue import cause_rules
from whichlayer.analysis.kernels import rules
from whichlayer.analysis.rule import Rule, rule_modules


@cache
def kernel_rules() -> dict[str, Rule]:
    """The rules that explain a slow kernel, by id."""
    return {module.RULE.id: module.RULE for module in rule_modules(rules)}


@cache
def all_rules() -> dict[str, Rule]:
    """Every rule by id."""
    ranks = {module.RULE.id: module.RULE for module in rule_modules(job_rules)}
    return {**cause_rules(), **kernel_rules(), **ranks}
