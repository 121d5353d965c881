"""Rules about kernels that would apply if one of their thresholds were a little looser.

A rule's condition is asked again with that one threshold changed, so that each rule says itself
what it is near to; the value at which the answer changes is the figure that was measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from types import ModuleType
from typing import Final

from whichlayer.analysis.findings.near import (
    NearMiss,
    crossing,
    figure_text,
    full_name,
    loosest,
    setting_text,
)
from whichlayer.analysis.kernels.judged import JudgedCalls
from whichlayer.analysis.kernels.measure import Measured
from whichlayer.analysis.kernels.names import short_name
from whichlayer.analysis.kernels.rulebook import Rulebook
from whichlayer.analysis.kernels.ruling import rule_on
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.settings import listed_from

#: So many populations are asked about, those with the most time.
_ASKED: Final = 150
#: Those with less of the window than this are not.
_LEAST: Final = 0.002


@dataclass(slots=True)
class _Near:
    """Calls that one threshold of a rule keeps out."""

    time_ns: float
    most_ns: float
    figure: float
    layer: Layer
    measured: Measured
    populations: int = 1


def near_kernels(analysis: Analysis) -> Iterator[NearMiss]:
    """What calls nearly were: a rule and threshold each, where enough time is at stake."""
    total = analysis.budget.total_ns
    judged = sorted(analysis.judged, key=lambda one: -one.owned_ns)[:_ASKED]
    book = Rulebook.of(analysis.options)
    judged = [one for one in judged if one.owned_ns >= _LEAST * total and _by_rules(one, book)]
    for module, settings in book.ordered:
        if module.RULE.layer == Layer.NONE:
            continue
        for name, value in settings.items():
            near = _near(analysis, judged, book, module, settings, name)
            least = listed_from(analysis.options, module.RULE.id) / 2
            if near is not None and near.time_ns >= least * total:
                yield _told(analysis, module, name, value, near)


def _by_rules(one: JudgedCalls, book: Rulebook) -> bool:
    """Whether the rules decided about some calls: not a chain of them, nor what ran beside."""
    ruling = rule_on(one.measured, book)
    return (ruling.rule, ruling.judged) == (one.ruling.rule, one.ruling.judged)


def _near(
    analysis: Analysis,
    judged: list[JudgedCalls],
    book: Rulebook,
    module: ModuleType,
    settings: Mapping[str, float],
    name: str,
) -> _Near | None:
    rule, found = module.RULE, None
    limits = loosest(analysis.options, rule.id, name)
    loosened = [{**settings, name: limit} for limit in limits]
    books = [_with(book, module, one) for one in loosened]
    for one in judged:
        if one.ruling.rule == rule.id or module.applies(one.measured, settings):
            continue
        for limit, changed, other in zip(limits, loosened, books, strict=True):
            if not module.applies(one.measured, changed):
                continue
            ruling = rule_on(one.measured, other)
            lost = one.lost_ns(ruling) if ruling.rule == rule.id else 0.0
            if lost > 0:
                found = _added(found, one, lost, ruling.layer, settings, name, limit, module)
    return found


def _added(
    found: _Near | None,
    one: JudgedCalls,
    lost: float,
    layer: Layer,
    settings: Mapping[str, float],
    name: str,
    limit: float,
    module: ModuleType,
) -> _Near:
    """The calls found so far and another population; the one that loses most is told."""
    if found is not None:
        found.time_ns += lost
        found.populations += 1
        if lost <= found.most_ns:
            return found

    def fires(value: float) -> bool:
        return bool(module.applies(one.measured, {**settings, name: value}))

    figure = crossing(fires, settings[name], limit)
    if found is None:
        return _Near(lost, lost, figure, layer, one.measured)
    found.most_ns, found.figure, found.layer, found.measured = lost, figure, layer, one.measured
    return found


def _with(book: Rulebook, module: ModuleType, settings: Mapping[str, float]) -> Rulebook:
    """A rulebook with other thresholds of one rule."""
    avoidable, ordered = (
        tuple((one, settings if one is module else own) for one, own in entries)
        for entries in (book.avoidable, book.ordered)
    )
    return replace(book, avoidable=avoidable, ordered=ordered)


def _told(analysis: Analysis, module: ModuleType, name: str, value: float, near: _Near) -> NearMiss:
    rule = module.RULE
    kernels = chain([near.measured.operator], near.measured.kernels)
    called = next((short_name(one) for one in kernels if one), "its kernels")
    more = f" and {near.populations - 1} more" if near.populations > 1 else ""
    figure = figure_text(rule.id, name, near.figure)
    held = setting_text(analysis.options, rule.id, name)
    return NearMiss(
        rule=rule.id,
        layer=near.layer,
        title=rule.title,
        figure=near.figure,
        threshold=value,
        setting=full_name(rule.id, name),
        time_ns=int(near.time_ns),
        why=f"{called}{more}: {figure} against {held}; all else that the rule asks for holds",
    )
