"""Rules about whole recordings that would fire if one of their thresholds were a little looser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from types import ModuleType

from whichlayer.analysis.findings.near import (
    NearMiss,
    crossing,
    figure_text,
    full_name,
    loosest,
    setting_text,
)
from whichlayer.analysis.kernels.rule_modules import kernel_rule_modules
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.rule import Rule
from whichlayer.analysis.settings import enabled, threshold


def near_hints(analysis: Analysis) -> Iterator[NearMiss]:
    """What a recording nearly shows, by rule and threshold."""
    options = analysis.options
    for module in kernel_rule_modules():
        rule = module.RULE
        if not hasattr(module, "find") or not enabled(options, rule.id):
            continue
        names = [name for name in rule.thresholds if threshold(options, rule.id, name) > 0]
        lowest = {name: loosest(options, rule.id, name)[0] for name in names}
        # Looking is what takes time: with all of them loose there must be something to see.
        if not names or _finds(analysis, module, lowest) is None:
            continue
        if _finds(analysis, module, {}) is not None:
            continue
        for name in names:
            said = _finds(analysis, module, {name: lowest[name]})
            if said is not None:
                yield _told(analysis, module, name, lowest[name], said)


def _finds(analysis: Analysis, module: ModuleType, values: dict[str, float]) -> str | None:
    """What a rule says with some thresholds changed, in one line; None where it finds nothing."""
    options = analysis.options
    held = {**options.settings.get(module.RULE.id, {}), **values}
    changed = replace(options, settings={**options.settings, module.RULE.id: held})
    hint = module.find(replace(analysis, options=changed))
    return None if hint is None else "; ".join(hint.evidence)


def _told(analysis: Analysis, module: ModuleType, name: str, loose: float, said: str) -> NearMiss:
    rule: Rule = module.RULE
    strict = threshold(analysis.options, rule.id, name)
    figure = crossing(_fires(analysis, module, name), strict, loose)
    if strict == int(strict) and strict >= 1:
        figure = float(round(figure))  # a count: thresholds between two of them are alike
    return NearMiss(
        rule=rule.id,
        layer=rule.layer,
        title=rule.title,
        figure=figure,
        threshold=strict,
        setting=full_name(rule.id, name),
        time_ns=0,
        why=f"{said}: {figure_text(rule.id, name, figure)} against "
        f"{setting_text(analysis.options, rule.id, name)}",
    )


def _fires(analysis: Analysis, module: ModuleType, name: str) -> Callable[[float], bool]:
    def fires(value: float) -> bool:
        return _finds(analysis, module, {name: value}) is not None

    return fires
