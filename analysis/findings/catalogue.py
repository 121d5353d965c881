"""Every rule that whichlayer has: causes of gaps, rules about kernels and ranks, verdicts."""

from __future__ import annotations

from functools import cache
from types import ModuleType

from whichlayer.analysis.communication import rules as job_rules
from whichlayer.analysis.custom_kernel import rule as custom_kernel
from whichlayer.analysis.gaps.catalogue import cause_rules
from whichlayer.analysis.kernels import rules
from whichlayer.analysis.kernels.rule_modules import kernel_rule_modules
from whichlayer.analysis.rule import Rule, rule_modules


@cache
def kernel_rules() -> dict[str, Rule]:
    """The rules that explain a slow kernel, by id."""
    return {module.RULE.id: module.RULE for module in kernel_rule_modules()}


@cache
def shipped_rules() -> dict[str, Rule]:
    """The rules that come with whichlayer, by id: all but those of plugins."""
    own = {module.RULE.id: module.RULE for module in rule_modules(rules)}
    return {**cause_rules(), **own, **_others()}


#: Modules of the rules of verdicts, which need no kernel or gap of their own.
VERDICTS: tuple[ModuleType, ...] = (custom_kernel,)


@cache
def all_rules() -> dict[str, Rule]:
    """Every rule by id."""
    return {**cause_rules(), **kernel_rules(), **_others()}


def _others() -> dict[str, Rule]:
    ranks = {module.RULE.id: module.RULE for module in rule_modules(job_rules)}
    return {**ranks, **{module.RULE.id: module.RULE for module in VERDICTS}}
