"""Every module of a kernel rule or a rule about whole recordings: ours, then those of plugins."""

from __future__ import annotations

from functools import cache
from types import ModuleType

from whichlayer.analysis.kernels import rules
from whichlayer.analysis.plugins import plugin_rules
from whichlayer.analysis.rule import rule_modules


@cache
def kernel_rule_modules() -> tuple[ModuleType, ...]:
    """The modules by file name, plugins behind them."""
    return (*rule_modules(rules), *plugin_rules())
