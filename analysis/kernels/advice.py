"""What to change about a slow kernel, in the words of the card it ran on."""

from __future__ import annotations

from functools import cache
from types import ModuleType

from whichlayer.analysis.kernels.peaks import DeviceMatch
from whichlayer.analysis.kernels.rule_modules import kernel_rule_modules


@cache
def _modules() -> dict[str, ModuleType]:
    return {module.RULE.id: module for module in kernel_rule_modules()}


def fix_for(rule_id: str, peaks: DeviceMatch) -> str:
    """The fix of a kernel rule on this card; empty for an unknown rule."""
    module = _modules().get(rule_id)
    if module is None:
        return ""
    if hasattr(module, "fix"):
        return str(module.fix(peaks))
    return str(module.RULE.fix)
