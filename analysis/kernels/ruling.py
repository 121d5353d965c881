"""From what is known of a population of calls to what is said of it.

First the doubts (an impossible rate, data in cache, peaks that nobody confirmed): then there
are figures and no verdict. Then the rules in order of precedence; the first that applies
explains the loss. What none explains stays unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from types import ModuleType
from typing import Final

from whichlayer.analysis.kernels.marks import takes_shortcuts
from whichlayer.analysis.kernels.measure import ROOF_BANDWIDTH, Measured
from whichlayer.analysis.kernels.rulebook import Rulebook, default_rulebook
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.quick_values import quick

#: Clocks and rounding may carry a rate this far above the data sheet honestly (rules Q10).
RATE_SLACK: Final = 1.1
CONSUMER_RATE_SLACK: Final = 1.3
#: A bandwidth up to so many times the data sheet's is at the roof, not above it.
BANDWIDTH_SLACK: Final = 1.02


@quick
@dataclass(frozen=True, slots=True)
class Ruling:
    """What is said of a population of calls.

    Attributes:
        judged: there are peaks and work to judge by, and no doubt.
        rule: what explains it, or empty.
        layer: who owns its loss.
        bound: ``memory``, ``compute``, ``latency`` or ``unknown``.
        ideal_ns: of one call; time beyond it is lost.
        roof_ns: a call no longer than this loses nothing.
        why: one line.
        flags: what limits the figures.
    """

    judged: bool
    rule: str
    layer: Layer
    bound: str
    ideal_ns: float
    roof_ns: float
    why: str
    flags: tuple[str, ...] = ()


def rule_on(measured: Measured, book: Rulebook | None = None) -> Ruling:
    """Judge a population by the rules of ``book``, or by those that are shipped."""
    book = book or default_rulebook()
    for module, thresholds in book.avoidable:
        if module.applies(measured, thresholds):
            rule, said = module.RULE, module.why(measured)
            marks = flags_of(measured, book)
            return Ruling(True, rule.id, rule.layer, bound_of(measured), 0.0, 0.0, said, marks)
    doubt = _doubt(measured, book)
    flags = _flags_with(measured, book, doubt)
    if doubt is not None:
        return Ruling(False, "", Layer.UNKNOWN, bound_of(measured), 0.0, 0.0, doubt[0], flags)
    for module, thresholds in book.ordered:
        if module.applies(measured, thresholds):
            return _ruled(measured, module, thresholds, book, flags)
    ideal, roof = measured.ideal_ns(measured.rate), _roof_ns(measured, measured.rate, book)
    if measured.time_ns <= max(ideal, roof):
        # On the whole as fast as a well-made kernel: single slow calls are noise.
        return Ruling(
            True, "", Layer.NONE, bound_of(measured), ideal, inf, figures_of(measured), flags
        )
    said = f"{figures_of(measured)}; no rule explains the rest"
    return Ruling(True, "", Layer.UNKNOWN, bound_of(measured), ideal, roof, said, flags)


def _roof_ns(measured: Measured, rate: float | None, book: Rulebook) -> float:
    """A call that takes no longer loses nothing; 0 where only the ideal is good enough."""
    roof = book.at_roof
    return 0.0 if roof is None else measured.roof_ns(rate, roof["bandwidth"], roof["rate"])


def _ruled(
    measured: Measured,
    module: ModuleType,
    thresholds: Mapping[str, float],
    book: Rulebook,
    flags: tuple[str, ...],
) -> Ruling:
    rule = module.RULE
    rate = module.ideal_rate(measured) if hasattr(module, "ideal_rate") else measured.rate
    said = module.why(measured) if hasattr(module, "why") else figures_of(measured)
    if hasattr(module, "reason"):
        said = f"{module.reason(measured)}; {said}"
    bound = "latency" if rule.id == "latency-bound" else bound_of(measured)
    at_roof = rule.layer == Layer.NONE
    ideal = measured.time_ns if at_roof else measured.ideal_ns(rate)
    roof = inf if at_roof else _roof_ns(measured, rate, book)
    if hasattr(module, "ideal_ns"):
        ideal = module.ideal_ns(measured)
        roof = max(roof, ideal * thresholds["slower"])
    layer = module.owner(measured, thresholds) if hasattr(module, "owner") else rule.layer
    return Ruling(True, rule.id, layer, bound, ideal, roof, said, flags)


def flags_of(measured: Measured, book: Rulebook | None = None) -> tuple[str, ...]:
    """What limits its figures, a rate above the roof included."""
    book = book or default_rulebook()
    return _flags_with(measured, book, _doubt(measured, book))


def _flags_with(
    measured: Measured, book: Rulebook, doubt: tuple[str, str] | None
) -> tuple[str, ...]:
    flags = _flags(measured, book)
    if doubt is None:
        return flags
    if not doubt[1]:
        return with_roof_flags(measured, flags)
    return flags if doubt[1] in flags else (*flags, doubt[1])


def with_roof_flags(measured: Measured, flags: tuple[str, ...]) -> tuple[str, ...]:
    """The flags of figures without a verdict: a share above the roof never stands alone.

    The roof is what good kernels reach, and on a card whose peak nobody confirmed the roof
    itself may be wrong.
    """
    if measured.time_ns <= 0 or measured.ideal_ns(measured.rate) <= measured.time_ns:
        return flags
    marks = ["above-roof"]
    if binding_figure(measured) in measured.peaks.unconfirmed:
        marks.append("peak-unconfirmed")
    return (*flags, *(mark for mark in marks if mark not in flags))


def binding_figure(measured: Measured) -> str:
    """The peak that its roof is: ``bandwidth`` or a precision, empty where that is not known."""
    return (measured.precision or "") if measured.above_ridge else "bandwidth"


def _flags(measured: Measured, book: Rulebook) -> tuple[str, ...]:
    work = measured.work
    marks = [f"{work.bound}-bound"] if work.bound else []
    if work.least is not None and (measured.bandwidth_share or 0.0) > BANDWIDTH_SLACK:
        marks.append("above-roof")
    if any(map(takes_shortcuts, measured.kernels)):
        marks.append("winograd-or-fft")  # fewer products than the definition says
    if measured.overlapped:
        marks.append("overlapped")
    if book.drift is not None and (measured.drift or 0.0) > book.drift:
        marks.append("drift")
    if work.flops is not None and measured.peaks.eff_assumed:
        marks.append("eff-assumed")
    return tuple(marks)


def bound_of(measured: Measured) -> str:
    """What limits it: ``memory``, ``compute`` or, without any figure, ``unknown``."""
    memory, compute = measured.memory_ns, measured.compute_ns
    if memory <= 0 and compute <= 0:
        return "unknown"
    return "compute" if compute > memory else "memory"


def _doubt(measured: Measured, book: Rulebook) -> tuple[str, str] | None:
    """Why there is no verdict and the flag for it, or None."""
    work, peaks = measured.work, measured.peaks
    if not work.known:
        return work.reason or "its work is not known", ""
    if peaks.bandwidth_gbps is None and not peaks.tflops:
        return f"no peaks: {peaks.note}", ""
    if measured.time_ns <= 0:
        return "shorter than the recording's clock tick", ""
    missing = _missing_peak(measured)
    if missing:
        return missing, ""
    return _impossible(measured, book) or _unproven(measured, book)


def _missing_peak(measured: Measured) -> str:
    work, peaks = measured.work, measured.peaks
    if work.bytes is not None and peaks.bandwidth_gbps is None:
        return f"no bandwidth known: {peaks.note}"
    if work.flops is not None and measured.is_matrix:
        if measured.precision is None:
            return "the kernel's name does not tell whether it ran in FP32 or TF32"
        if measured.rate is None:
            return f"no {measured.precision} rate known for this card"
    binding = binding_figure(measured)
    if binding in peaks.unconfirmed:
        return f"the card's {binding} is not confirmed: figures only"
    return ""


def _impossible(measured: Measured, book: Rulebook) -> tuple[str, str] | None:
    """Rates above the roof: flagged, never judged (rules Q10 and Q11)."""
    work, peaks = measured.work, measured.peaks
    slack = book.matrix_geforce if peaks.consumer else book.matrix
    if (measured.rate_share or 0.0) > slack:
        if not any(takes_shortcuts(name) for name in measured.kernels):
            most = f"over {100 * slack:.0f} % of its rate"
            return f"faster than the card can compute ({most}): the estimate is wrong", "impossible"
        return None
    share = measured.bandwidth_share or 0.0
    if share <= BANDWIDTH_SLACK or work.bytes is None or not peaks.bandwidth_gbps:
        return None
    if work.least is not None and share * work.least / work.bytes <= BANDWIDTH_SLACK:
        return None  # what it moves in any case is below the roof, what it may move above
    if peaks.resident_bytes is not None and work.bytes <= peaks.resident_bytes:
        return "its data fits the cache: faster than memory", "cache-resident"
    cached = peaks.cache_bytes or 0
    least = max(0, work.bytes - cached) / (measured.time_ns * peaks.bandwidth_gbps)
    if not work.strides:
        return "above the roof: an input may be broadcast, strides are not recorded", "broadcast"
    if work.bound == "upper":
        return "above the roof: not all of the counted bytes are moved", "above-roof"
    if least > book.bandwidth:
        return "faster than memory allows: the estimate is wrong", "impossible"
    return "above the roof: part of its data stays in the cache", "above-roof"


def _unproven(measured: Measured, book: Rulebook) -> tuple[str, str] | None:
    """Bytes that every such kernel exceeds cannot show that this one is slow."""
    if measured.work.bound != "lower" or measured.above_ridge:
        return None
    enough = ROOF_BANDWIDTH if book.at_roof is None else book.at_roof["bandwidth"]
    if measured.busy_share >= enough:
        return None
    limit = measured.work.reason or "it reads its input more than once"
    return f"bytes are a lower bound only ({limit})", ""


def figures_of(measured: Measured) -> str:
    """Its rates against the data sheet, in words."""
    parts = []
    moved, share = measured.gbps, measured.bandwidth_share
    if share is not None and moved is not None:
        speed = f"{moved / 1e3:.3g} TB/s" if moved >= 1e3 else f"{moved:.3g} GB/s"
        said = f"{speed}, {share:.0%} of the data sheet"
        if measured.work.most is not None:
            said += f" (up to {measured.busy_share:.0%} if an argument is input and output)"
        parts.append(said)
    done, share = measured.tflops, measured.rate_share
    if share is not None and done is not None:
        parts.append(f"{done:.3g} TFLOP/s {measured.precision}, {share:.0%} of the data sheet")
    return "; ".join(parts)
