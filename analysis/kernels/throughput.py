"""Model flops of a step, the rate they are done at, and the share of the card's peak (MFU).

Only over whole steps that are no warm-up. Flops are those of the recorded operators: what is
computed anew in a backward pass (activation checkpointing) is in them. Each operator call
counts once, however many kernels it launched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.kernels.coverage import has_flops
from whichlayer.analysis.kernels.peaks import DeviceMatch, device_entry, match_device
from whichlayer.analysis.kernels.units import judged_operator
from whichlayer.analysis.results import Analysis, Role
from whichlayer.analysis.steps.model import StepFigures

Int64 = NDArray[np.int64]

#: Below this share of known flops, by kernel time, their sum says little about a step.
LEAST_COVERED: Final = 0.9


@dataclass(frozen=True, slots=True)
class Throughput:
    """What steps compute; None where a figure is not known, and ``reason`` says why.

    Attributes:
        steps: how many were measured.
        step_ns: their mean length.
        flops_per_step: of all devices together.
        tflops: achieved, per device.
        precision: in which most of the flops ran.
        peak_tflops: dense peak of ``precision``.
        mfu: ``tflops`` over ``peak_tflops``.
        covered_share: of the time of kernels that have flops, where they are known.
        reason: why a figure is missing, or empty.
    """

    steps: int = 0
    step_ns: int | None = None
    flops_per_step: int | None = None
    tflops: float | None = None
    precision: str | None = None
    peak_tflops: float | None = None
    mfu: float | None = None
    covered_share: float | None = None
    reason: str = ""


def throughput_of(analysis: Analysis) -> Throughput:
    """The throughput over an analysis' steps."""
    table = analysis.steps
    rows = [] if table is None else [row for row in table.rows if row.whole and not row.warm_up]
    rows = [row for row in rows if row.total_ns > 0]
    if not rows:
        return Throughput(reason=_without_steps(analysis))
    inside = _within(analysis, rows)
    matrix, known = _times(analysis, inside)
    step_ns = sum(row.duration_ns for row in rows) // len(rows)
    found = Throughput(len(rows), step_ns, covered_share=known / matrix if matrix else None)
    if not matrix:
        return _but(found, "no kernel of these steps does products, convolutions or attention")
    if known < LEAST_COVERED * matrix:
        return _but(
            found,
            f"flops are known for {known / matrix:.0%} of the time of the kernels that have any: "
            "too little to speak for a step",
        )
    by_precision = _flops(analysis, inside)
    total = by_precision.total()
    # Flops per nanosecond are gigaflops a second.
    rate = total / sum(row.total_ns for row in rows) / 1e3
    found = replace(found, flops_per_step=total // len(rows), tflops=rate)
    return _over_peak(analysis, found, by_precision)


def _but(found: Throughput, reason: str) -> Throughput:
    return replace(found, reason=reason)


def _without_steps(analysis: Analysis) -> str:
    table = analysis.steps
    if not len(analysis.activities.row):
        return "no GPU activity in the recording"
    if table is None or not table.found.steps:
        record = table.found.record if table is not None else ""
        return "no steps in the recording" + (f": {record}" if record else "")
    if not table.rows:
        return f"no step in this {analysis.options.whole}"
    more = "choose a longer one" if analysis.options.span_ns else "record more steps"
    return f"no whole step beside the warm-up in this {analysis.options.whole}: {more}"


def _within(analysis: Analysis, rows: Sequence[StepFigures]) -> NDArray[np.bool_]:
    """Which activities run in one of these steps: bool (n,)."""
    activities = analysis.activities
    inside = np.zeros(len(activities.row), np.bool_)
    for device in range(len(analysis.devices)):
        here = np.flatnonzero(activities.device == device)
        start = np.array([row.spans[device][0] for row in rows], np.int64)
        end = np.array([row.spans[device][1] for row in rows], np.int64)
        at = np.searchsorted(start, activities.start_ns[here], "right") - 1
        inside[here] = (at >= 0) & (activities.start_ns[here] < end[np.maximum(at, 0)])
    chosen: NDArray[np.bool_] = inside & (activities.role == Role.COMPUTE) & (activities.group >= 0)
    return chosen


def _times(analysis: Analysis, inside: NDArray[np.bool_]) -> tuple[int, int]:
    """Time of activities that have flops, and of those whose flops are known."""
    activities, groups = analysis.activities, analysis.kernels
    time = np.zeros(len(groups), np.int64)
    np.add.at(time, activities.group[inside], activities.owned_ns[inside])
    matrix = sum(ns for ns, group in zip(time.tolist(), groups, strict=True) if has_flops(group))
    known = sum(
        ns for ns, group in zip(time.tolist(), groups, strict=True) if group.flops is not None
    )
    return matrix, known


def _flops(analysis: Analysis, inside: NDArray[np.bool_]) -> Counter[str | None]:
    """Flops by precision; all kernels of one operator call together count once."""
    activities, groups = analysis.activities, analysis.kernels
    knows = np.array([group.flops is not None for group in groups], np.bool_)
    chosen = np.flatnonzero(inside)
    chosen = chosen[knows[activities.group[chosen]]]
    owner = judged_operator(analysis.trace, activities.op_row[chosen])
    keys = owner * len(analysis.devices) + activities.device[chosen]
    keys = np.where(owner >= 0, keys, -1 - np.arange(len(keys)))
    _, first = np.unique(keys, return_index=True)
    calls = np.bincount(activities.group[chosen[first]], minlength=len(groups))
    found: Counter[str | None] = Counter()
    for count, group in zip(calls.tolist(), groups, strict=True):
        if count and group.flops is not None:
            found[group.precision] += count * group.flops
    return found


def _over_peak(
    analysis: Analysis, found: Throughput, by_precision: Counter[str | None]
) -> Throughput:
    precision = by_precision.most_common(1)[0][0] if by_precision else None
    if precision is None:
        return _but(found, "the kernels' names do not tell in which precision most flops ran")
    found = replace(found, precision=precision)
    matches = {match.model: match for match in device_matches(analysis)}
    if len(matches) != 1:
        return _but(found, "the devices differ: no one peak to compare with")
    (match,) = matches.values()
    peak = match.rate(precision)
    if not peak:
        return _but(found, f"no {precision} peak is known: {match.note}")
    if precision in match.unconfirmed:
        return _but(found, f"the card's {precision} peak is not confirmed")
    return replace(found, peak_tflops=peak, mfu=(found.tflops or 0.0) / peak)


def device_matches(analysis: Analysis) -> list[DeviceMatch]:
    """The peaks of each device of an analysis."""
    header, options = analysis.trace.header, analysis.options
    return [
        match_device(device_entry(device.number, header), header, options)
        for device in analysis.devices
    ]
