"""Runs of elementwise operators that one fused kernel could do, and what that would save."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.kernels.chained import Chained, no_chains, program_order
from whichlayer.analysis.kernels.inside import inside_slices
from whichlayer.analysis.kernels.measure import Floor
from whichlayer.analysis.kernels.numbering import number_pairs
from whichlayer.analysis.kernels.peaks import DeviceMatch
from whichlayer.analysis.kernels.populations import Populations
from whichlayer.analysis.kernels.ruling import BANDWIDTH_SLACK
from whichlayer.analysis.kernels.units import Units
from whichlayer.analysis.trace.columns import Trace

Bool = NDArray[np.bool_]
Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

_FUSIBLE: Final = ("pointwise", "norm")
#: What was compiled already, or has a rule and a fix of its own (fused optimizers), or only
#: happens to follow each other (gradients added up, parameter by parameter).
_ELSEWHERE: Final = (
    "Torch-Compiled Region",
    "CompiledFunction",
    "## Call CompiledFxGraph",
    "Call CompiledFxGraph",
    "CompiledFxGraph",
    "Optimizer.",
    "torch::autograd::AccumulateGrad",
    "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
)
#: What autograd's operators are called, in files of 2020 as in those of today.
_BACKWARD: Final = re.compile(r"Backward\d*$|_backward$|AccumulateGrad")
#: A norm that is slower than this for its own work is a slow kernel before it is unfused.
_SOUND: Final = 0.6
#: Norms up to so many trivial kernels long are too short to be called slow.
_SHORT: Final = 3.0


def find_elementwise(
    trace: Trace,
    units: Units,
    populations: Populations,
    effective: Float64,
    taken: Bool,
    peaks: list[DeviceMatch],
    floors: list[Floor],
    settings: Mapping[str, float],
) -> Chained:
    """Members of runs of elementwise operators that would gain from being fused.

    Args:
        trace: the recording.
        units: its units.
        populations: their populations.
        effective: float64 (units,), nanoseconds by which each is judged.
        taken: bool (units,), belongs to another chain or is not judged alone.
        peaks: of the devices.
        floors: likewise.
        settings: of the rule.
    """
    count = len(units.population)
    found = no_chains(count)
    fusible = np.array([_is_fusible(populations, at, peaks) for at in range(len(populations))])
    if not fusible.any():
        return found
    order = program_order(units)
    kind = units.population[order]
    usable = fusible[kind] & ~taken[order]
    usable &= _is_sound(units, populations, effective, peaks, floors)[kind]
    passed = _passed_bytes(trace, units, populations, order, usable)
    inside = np.flatnonzero(passed >= 0)
    outside = inside_slices(
        trace, units.operator_row[order[np.union1d(inside, inside + 1)]], _ELSEWHERE
    )
    barred = np.zeros(len(order), np.bool_)
    barred[np.union1d(inside, inside + 1)] = outside
    linked = (passed >= 0) & ~barred[:-1] & ~barred[1:]
    run = np.concatenate(([0], np.cumsum(~linked)))
    size = np.bincount(run)
    chosen = size[run] >= settings["least"]
    if not chosen.any():
        return found
    took = np.bincount(run, weights=effective[order])
    total = np.array([work.bytes or 0 for work in populations.work], np.float64)[kind]
    # Without gradients nothing between the operators is stored; with them it may be needed.
    saved = np.where(linked, passed, 0) * (1.0 if _has_backward(trace) else 2.0)
    external = np.bincount(run, weights=total)
    external -= np.bincount(run[1:], weights=saved, minlength=len(size))
    match = np.array(populations.match, np.int64)[kind]
    bandwidth = np.array([peak.bandwidth_gbps or np.nan for peak in peaks])[match]
    floor = np.array([one.excused_ns for one in floors])[match]
    lead = np.searchsorted(run, np.arange(len(size)))
    ideal = floor[lead] + np.maximum(external, 0) / (settings["bandwidth"] * bandwidth[lead])
    worth = (size >= settings["least"]) & (took >= settings["gain"] * ideal)
    members = worth[run]
    rows, runs = order[members], run[members]
    found.member[rows] = True
    found.fraction[rows] = ((took - ideal) / np.maximum(took, 1.0))[runs]
    found.size[rows] = size[runs]
    return found


def _is_fusible(populations: Populations, at: int, peaks: list[DeviceMatch]) -> bool:
    """Whether a population is elementwise, with bytes and bandwidth that a verdict may rest on."""
    work, peak = populations.work[at], peaks[populations.match[at]]
    elementwise = work.category in _FUSIBLE or populations.kind[at] == "cast"
    known = work.bytes is not None and work.bound != "lower"
    confirmed = peak.bandwidth_gbps is not None and "bandwidth" not in peak.unconfirmed
    return elementwise and known and confirmed and bool(populations.part[at].shapes)


def _is_sound(
    units: Units,
    populations: Populations,
    effective: Float64,
    peaks: list[DeviceMatch],
    floors: list[Floor],
) -> Bool:
    """Populations whose figures hold, but for norms that are slow for their own work.

    Bytes that seem to move faster than memory are in doubt, and so is what fusing them saves.
    """
    count = len(populations)
    calls = np.bincount(units.population, minlength=count)
    taken = np.bincount(units.population, weights=effective, minlength=count)
    sound = np.ones(count, np.bool_)
    for at, work in enumerate(populations.work):
        if work.bytes is None or not calls[at] or not taken[at]:
            sound[at] = False
            continue
        match = populations.match[at]
        launches = int(units.launches[units.first[at]])
        one, floor = float(taken[at]) / int(calls[at]), floors[match]
        share = work.bytes / (peaks[match].bandwidth_gbps or math.inf) / one
        if work.category != "norm" or share > BANDWIDTH_SLACK:
            sound[at] = share <= BANDWIDTH_SLACK
            continue
        moving = one - launches * floor.excused_ns
        short = one <= _SHORT * launches * floor.ns
        sound[at] = short or share * one >= _SOUND * moving
    return sound


def _passed_bytes(
    trace: Trace, units: Units, populations: Populations, order: Int64, usable: Bool
) -> Int64:
    """Bytes that each operator hands to the next one: int64 (n - 1,), -1 where none."""
    lane = trace.lane_id[units.operator_row[order]]
    kind = units.population[order]
    passed = np.full(max(0, len(order) - 1), -1, np.int64)
    # The very same call again is a loop (over parameters, of a benchmark) and no chain.
    other = kind[:-1] != kind[1:]
    near = np.flatnonzero(usable[:-1] & usable[1:] & (lane[:-1] == lane[1:]) & other)
    if not len(near):
        return passed
    pairs, number = number_pairs(kind[near], kind[near + 1])
    of_pair = np.full(number, -1, np.int64)
    first = np.zeros(number, np.int64)
    first[pairs] = np.arange(len(near))
    for pair, at in enumerate(near[first].tolist()):
        of_pair[pair] = _handed(populations, int(kind[at]), int(kind[at + 1]))
    passed[near] = of_pair[pairs]
    return passed


def _handed(populations: Populations, giver: int, taker: int) -> int:
    """Bytes of the taker's tensor that has the shape of the giver's result, -1 for none."""
    if populations.match[giver] != populations.match[taker]:
        return -1
    result = populations.result[giver]
    for shape, size in populations.inputs[taker]:
        if shape == result:
            return size
    return -1


def _has_backward(trace: Trace) -> bool:
    return any(_BACKWARD.search(name[-64:]) for name in trace.strings)
