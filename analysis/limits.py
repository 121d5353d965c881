"""What a recording may cost: limits that a project sets, and which of them are broken.

A limit that the recording cannot tell is broken too: what nobody measured must not pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.lost_work import lost_pieces
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.quality.effects import doubts
from whichlayer.analysis.quality.gate import Effect
from whichlayer.analysis.report.text_findings import lost_text
from whichlayer.analysis.report.units import share_text, time_text
from whichlayer.analysis.results import Analysis, Budget, Finding, GapKind
from whichlayer.analysis.settings import FINDINGS, listed_from
from whichlayer.analysis.untold import (
    LEAST_JUDGED,
    RECORD_KERNELS,
    Untold,
    needed,
    untold_of_kernels,
    untold_of_layer,
    untold_of_rule,
)

ANY = "any"
"""In place of a rule: no finding at all."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What is allowed; shares are of the window times its devices, 0 to 1.

    Attributes:
        max_idle: share in which a GPU runs nothing, launch spacing included.
        max_layer: share lost to a layer, in gaps and in kernels together.
        min_roof: share of the time of judged kernels that well-made kernels would need.
        no_finding: ids of rules that must find nothing, or :data:`ANY`.
    """

    max_idle: float | None = None
    max_layer: Mapping[Layer, float] = field(default_factory=dict)
    min_roof: float | None = None
    no_finding: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        asked = self.max_idle is not None or self.min_roof is not None
        return asked or bool(self.max_layer) or bool(self.no_finding)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one limit came out.

    Attributes:
        limit: the limit in the words of the command line.
        broken: it does not hold, or cannot be told.
        text: one line for people: what was found against what is allowed.
    """

    limit: str
    broken: bool
    text: str


def hold_to(analysis: Analysis, limits: Limits) -> tuple[Outcome, ...]:
    """Hold an analysis to limits, in the order in which they are documented."""
    if not analysis.devices or analysis.budget.total_ns <= 0:
        why = "cannot be told: the recording has no GPU activity in this window"
        return tuple(Outcome(name, True, f"{name}: {why}") for name in _names(limits))
    if lacks_work(analysis):
        why = "cannot be told: the file is cut off, and lacks GPU work of this window"
        return tuple(Outcome(name, True, f"{name}: {why}") for name in _names(limits))
    return (
        *_idle(analysis, limits),
        *_layers(analysis, limits),
        *_roof(analysis.budget, limits),
        *_findings(analysis, limits),
    )


def hold_findings(findings: tuple[Finding, ...], limits: Limits) -> tuple[Outcome, ...]:
    """Hold findings to the rules that must find nothing; a broken rule gives one outcome each."""
    outcomes: list[Outcome] = []
    for rule in dict.fromkeys(limits.no_finding):
        name = f"no-finding {rule}"
        found = [one for one in findings if rule in (ANY, one.rule)]
        outcomes += [Outcome(name, True, f"no-finding {_found(one)}") for one in found]
        if not found:
            outcomes.append(Outcome(name, False, f"{name}: none"))
    return tuple(outcomes)


def lacks_work(analysis: Analysis) -> bool:
    """Whether the file is cut off, and idle time of the window may have been work."""
    numbers = [device.number for device in analysis.devices]
    if not analysis.trace.cut_off:
        return False
    lost = lost_pieces(analysis.gaps, analysis.trace, numbers)
    return analysis.verdict.side == "unclear" or bool(lost.any())


def idle_ns(analysis: Analysis) -> int:
    """For how long nothing ran inside the steps of the window, over its devices."""
    gaps = analysis.gaps
    idle = gaps.kind == GapKind.IDLE
    return int((gaps.end_ns[idle] - gaps.start_ns[idle]).sum()) + analysis.budget.spacing_ns


def roof_share(budget: Budget) -> float | None:
    """What well-made kernels would need of the time of judged kernels; None where none is."""
    judged = budget.at_roof_ns + sum(budget.loss_ns.values())
    return budget.at_roof_ns / judged if judged else None


def _names(limits: Limits) -> Iterator[str]:
    if limits.max_idle is not None:
        yield "max-idle"
    yield from (f"max-layer {layer.id}" for layer in limits.max_layer)
    if limits.min_roof is not None:
        yield "min-roof"
    yield from (f"no-finding {rule}" for rule in dict.fromkeys(limits.no_finding))


def _idle(analysis: Analysis, limits: Limits) -> Iterator[Outcome]:
    if limits.max_idle is None:
        return
    share = idle_ns(analysis) / analysis.budget.total_ns
    text = (
        f"max-idle: {share_text(share)} of the window is idle, allowed {_percent(limits.max_idle)}"
    )
    if any(gate.effect == Effect.GAPS_LOW for gate in doubts(analysis.warnings)):
        text += " (idle figures of this recording are unreliable)"
    yield Outcome("max-idle", share > limits.max_idle, text)


def _layers(analysis: Analysis, limits: Limits) -> Iterator[Outcome]:
    budget = analysis.budget
    for layer, allowed in limits.max_layer.items():
        lost = budget.lost_to(layer)
        text = (
            f"max-layer {layer.id}: {_beside(lost / budget.total_ns, allowed)} of the window is lost to "
            f"it ({time_text(lost)}), allowed {_percent(allowed)}"
        )
        worst = next((one for one in analysis.findings if one.layer == layer), None)
        broken = lost > allowed * budget.total_ns
        if broken and worst is not None:
            text += f"; first {_found(worst)}"
        untold = untold_of_layer(analysis, layer)
        if not broken and lost + untold.total_ns > allowed * budget.total_ns:
            text = _untold(text, untold, budget)
            broken = True
        yield Outcome(f"max-layer {layer.id}", broken, text)


def _findings(analysis: Analysis, limits: Limits) -> Iterator[Outcome]:
    """As :func:`hold_findings`, but that what may hide in unknown time is not "none"."""
    for one in hold_findings(analysis.findings, limits):
        rule = one.limit.removeprefix("no-finding ")
        missing = "" if one.broken else needed(analysis, rule)
        if missing:
            yield Outcome(one.limit, True, f"{one.limit}: cannot be told: {missing}")
            continue
        untold = untold_of_kernels(analysis) if rule == ANY else untold_of_rule(analysis, rule)
        if one.broken or not _may_hide(analysis, rule, untold):
            yield one
            continue
        yield Outcome(one.limit, True, _untold(one.text, untold, analysis.budget))


def _may_hide(analysis: Analysis, rule: str, untold: Untold) -> bool:
    """Whether a finding may be as large as those that are listed, with time that is unknown."""
    if not untold.total_ns:
        return False
    least = listed_from(analysis.options, FINDINGS if rule == ANY else rule)
    least *= analysis.budget.total_ns
    gaps = analysis.gaps
    mine = [at for at, name in enumerate(gaps.rule_ids) if name == rule]
    here = among(gaps.cause, mine)
    known = int((gaps.end_ns - gaps.start_ns)[here].sum())
    known += sum(group.lost_ns for group in analysis.kernels if group.rule == rule)
    return untold.total_ns >= least or known < least <= known + untold.total_ns


def _untold(text: str, untold: Untold, budget: Budget) -> str:
    """An outcome in words that cannot be told, with what may change it and what to record."""
    name, _, said = text.partition(": ")
    parts = []
    if untold.gap_ns:
        parts.append(f"{share_text(untold.gap_ns, budget.total_ns)} idle of unknown cause")
    if untold.kernel_ns:
        parts.append(
            f"{share_text(untold.kernel_ns, budget.total_ns)} in kernels that are not judged"
        )
    may = " and ".join(parts)
    record = f" ({untold.record})" if untold.record else ""
    return f"{name}: cannot be told: {said}, but {may} may be that{record}"


def _roof(budget: Budget, limits: Limits) -> Iterator[Outcome]:
    if limits.min_roof is None:
        return
    share = roof_share(budget)
    asked = f"asked {_percent(limits.min_roof)}"
    record = f"({RECORD_KERNELS})"
    if share is None:
        why = f"no kernel is judged {record}"
        yield Outcome("min-roof", True, f"min-roof: cannot be told: {why}, {asked}")
        return
    judged = budget.at_roof_ns + sum(budget.loss_ns.values())
    busy = judged + budget.unjudged_ns
    text = f"min-roof: well-made kernels would need {_beside(share, limits.min_roof)} of the judged time, {asked}"
    if budget.unjudged_ns:
        text += f"; {share_text(budget.unjudged_ns, busy)} of the busy time is unjudged"
    if share >= limits.min_roof and judged < LEAST_JUDGED * busy:
        text = f"min-roof: cannot be told: {text.removeprefix('min-roof: ')} {record}"
        yield Outcome("min-roof", True, text)
        return
    yield Outcome("min-roof", share < limits.min_roof, text)


def _found(finding: Finding) -> str:
    place = f", {finding.where}" if str(finding.where) else ""
    lost = lost_text(finding, " of the window")
    return f"{finding.rule}: {finding.title} ({lost}{place}, confidence {finding.confidence})"


def _beside(share: float, limit: float) -> str:
    """A share with as many digits as tell it from its limit.

    >>> _beside(0.2904, 0.29), _beside(0.5, 0.29), _beside(0.29, 0.29)
    ('29.04 %', '50.0 %', '29.0 %')
    """
    for digits in range(1, 9):
        text = f"{100 * share:.{digits}f}"
        if share == limit or float(text) != round(100 * limit, 9):
            return f"{text} %" if digits > 1 else share_text(share)
    return share_text(share)


def _percent(share: float) -> str:
    return f"{100 * share:g} %"
