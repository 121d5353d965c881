"""Judge every GPU activity: what it loses against a well-made kernel, and who owns that.

Time is what the recording holds, each instant counted once; a window only scales it, so the
same kernel is judged alike whatever stretch of the trace is looked at.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.intervals import Measure, union
from whichlayer.analysis.kernels.calls import Calls
from whichlayer.analysis.kernels.chained import Chained, find_chained, no_chains
from whichlayer.analysis.kernels.copy_kinds import asked_for
from whichlayer.analysis.kernels.drift import Drift, find_drift
from whichlayer.analysis.kernels.elementwise_chains import find_elementwise
from whichlayer.analysis.kernels.group_calls import GroupInput
from whichlayer.analysis.kernels.groups import build_groups
from whichlayer.analysis.kernels.judged import JudgedCalls
from whichlayer.analysis.kernels.launch_shapes import LaunchShapes
from whichlayer.analysis.kernels.measure import Floor, Measured
from whichlayer.analysis.kernels.overlaps import find_clusters, owned_times
from whichlayer.analysis.kernels.peaks import DeviceMatch
from whichlayer.analysis.kernels.populations import (
    Among,
    Populations,
    describe,
    effective_times,
    find_floors,
)
from whichlayer.analysis.kernels.reuse import reusing_memory
from whichlayer.analysis.kernels.rulebook import Rulebook
from whichlayer.analysis.kernels.rules import (
    kernel_drift,
    unfused_attention,
    unfused_elementwise,
)
from whichlayer.analysis.kernels.ruling import (
    Ruling,
    bound_of,
    figures_of,
    flags_of,
    rule_on,
    with_roof_flags,
)
from whichlayer.analysis.kernels.units import Units, calls_of, gather_units
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.reader.memory import no_garbage_collection
from whichlayer.analysis.results import KernelGroup, Options, Role
from whichlayer.analysis.rule import Rule
from whichlayer.analysis.settings import thresholds
from whichlayer.analysis.trace.columns import Trace

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
UInt8 = NDArray[np.uint8]
Float64 = NDArray[np.float64]
Bool = NDArray[np.bool_]


class _Variant(IntEnum):
    """Why units of one population may be judged apart."""

    ALONE = 0
    OVERLAPPED = 1
    CHAINED = 2
    ELEMENTWISE = 3


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is said of each activity, in the order they were given.

    Attributes:
        loss_ns: int64 (n,), of ``owned_ns``, what a well-made kernel would not have taken.
        judged: bool (n,).
        layer: uint8 (n,), owner of the loss: NONE where there is none, UNKNOWN where no rule
            explains it or nothing is known.
        group: int32 (n,), index into ``groups``, -1 outside the window.
        groups: by total time, longest first.
        floors: launch floor of each device.
        populations: what was judged, by what, of calls in the window.
    """

    loss_ns: Int64
    judged: Bool
    layer: UInt8
    group: Int32
    groups: tuple[KernelGroup, ...]
    floors: tuple[Floor, ...] = ()
    populations: tuple[JudgedCalls, ...] = ()


@dataclass(frozen=True, slots=True)
class _Verdicts:
    """By population and variant (``population * len(_Variant) + variant``)."""

    measured: list[Measured | None]
    rulings: list[Ruling]


@dataclass(frozen=True, slots=True)
class _Timing:
    """By unit: what it owns, by how much it is judged, and what else matters to that."""

    time: Int64
    effective: Float64
    spoilt: Bool
    cluster: Int64
    chained: Chained
    elementwise: Chained


@no_garbage_collection()
@reusing_memory()
def judge(
    trace: Trace,
    *,
    row: Int32,
    device: Int32,
    start_ns: Int64,
    end_ns: Int64,
    role: UInt8,
    op_row: Int32,
    owned_ns: Int64,
    peaks: Sequence[DeviceMatch],
    total_ns: int,
    options: Options | None = None,
) -> Judgement:
    """Judge all GPU activities of a trace.

    Collectives and transfers to or from the host are grouped, never judged: their cost is
    that of the gaps they leave.

    Args:
        trace: the recording.
        row: int32 (n,), trace rows of the activities.
        device: int32 (n,), index into ``peaks``.
        start_ns: int64 (n,).
        end_ns: int64 (n,).
        role: uint8 (n,), a ``Role``.
        op_row: int32 (n,), operator that launched each, -1 where unknown.
        owned_ns: int64 (n,), the instants of the window that each accounts for.
        peaks: one per device.
        total_ns: window times devices, for shares.
        options: thresholds of rules, and rules that are off.
    """
    options = options or Options()
    book = Rulebook.of(options)
    distinct, match_of_device = _distinct(peaks)
    match = match_of_device[device]
    calls, launches = calls_of(trace), LaunchShapes(trace)
    units = gather_units(trace, row, op_row, role == Role.COMPUTE, match, calls)
    units, populations = describe(trace, row, units, match, distinct, launches, calls)
    populations.keep_copies(asked_for(trace, op_row[units.members[units.offsets[units.first]]]))
    time, span, cluster = _times(units, device, start_ns, end_ns, row, role)
    floors = find_floors(trace, row, units, populations, time, distinct)
    effective, overlapped, spoilt = effective_times(units, populations, cluster, time, span)
    beside = _beside_collectives(units, device, start_ns, end_ns, role, span)
    overlapped, spoilt = overlapped | beside, spoilt | beside
    chained, elementwise = no_chains(len(time)), no_chains(len(time))
    if unfused_attention.RULE.id not in book.off:
        chained = find_chained(
            trace, units, populations, effective, spoilt, distinct, floors,
            thresholds(options, unfused_attention.RULE.id),
        )  # fmt: skip
    if unfused_elementwise.RULE.id not in book.off:
        elementwise = find_elementwise(
            trace, units, populations, effective, spoilt | overlapped | chained.member, distinct,
            floors, thresholds(options, unfused_elementwise.RULE.id),
        )  # fmt: skip
    timing = _Timing(time, effective, spoilt, cluster, chained, elementwise)
    variant = np.where(chained.member, _Variant.CHAINED, overlapped.astype(np.int64))
    variant[elementwise.member] = _Variant.ELEMENTWISE
    place = units.population * len(_Variant) + variant
    begun = start_ns[units.members[units.offsets[:-1]]]
    drift = find_drift(
        trace, place, begun, effective, len(_Variant) * len(populations),
        thresholds(options, kernel_drift.RULE.id),
    )  # fmt: skip
    verdicts = _rule(
        units, populations, place, timing, drift, distinct, floors, book,
        _asked(units, cluster, place, len(_Variant) * len(populations), owned_ns),
    )  # fmt: skip
    fraction, judged = _losses(verdicts, place, timing)
    return _spread(
        trace, verdicts, units, place, fraction, judged, launches, calls,
        GroupInput(row, start_ns, end_ns, role, op_row, owned_ns, total_ns),
        tuple(floors[int(index)] for index in match_of_device[: len(peaks)]),
    )  # fmt: skip


def _distinct(peaks: Sequence[DeviceMatch]) -> tuple[list[DeviceMatch], Int64]:
    """Devices with equal peaks are one, so that their kernels share groups."""
    found: list[DeviceMatch] = []
    index = np.zeros(max(1, len(peaks)), np.int64)
    for at, peak in enumerate(peaks):
        if peak not in found:
            found.append(peak)
        index[at] = found.index(peak)
    return found or [DeviceMatch(None, "no device", "")], index


def _times(
    units: Units, device: Int32, start: Int64, end: Int64, row: Int32, role: UInt8
) -> tuple[Int64, Int64, Int64]:
    """By unit: nanoseconds owned over the whole recording, run, and the cluster it is in."""
    order = _in_order(device, start, end, row)
    compute = order[role[order] == Role.COMPUTE]
    owned, cover = owned_times(device[compute], start[compute], end[compute])
    duration = (end - start)[compute]
    unit = units.of_activity[compute]
    count = len(units.population)
    time, span = np.zeros(count, np.int64), np.zeros(count, np.int64)
    np.add.at(time, unit, owned)
    np.add.at(span, unit, duration)
    return time, span, find_clusters(unit, owned, duration, cover)


def _beside_collectives(
    units: Units, device: Int32, start: Int64, end: Int64, role: UInt8, span: Int64
) -> Bool:
    """Units that share the card with a collective for more than a tenth of their time.

    A collective takes bandwidth and SMs; how slow its neighbour would be alone is not known.
    """
    shared = np.zeros(len(span), np.int64)
    for number in np.unique(device[role == Role.COMM]).tolist():
        here = device == number
        collective = here & (role == Role.COMM)
        busy = Measure(union(start[collective], end[collective]))
        compute = here & (role == Role.COMPUTE)
        covered = busy.between(start[compute], end[compute])
        np.add.at(shared, units.of_activity[compute], covered)
    return shared * BESIDE > span


#: One part in this many of a unit's time beside a collective leaves it unjudged.
BESIDE = 10


def _in_order(device: Int32, start: Int64, end: Int64, row: Int32) -> NDArray[np.intp]:
    """Indices by device, start, end and row; sorting is skipped where they are so already."""
    columns = [np.diff(column.astype(np.int64)) for column in (device, start, end, row)]
    tied = np.ones(max(0, len(row) - 1), np.bool_)
    for step in columns:
        if (step[tied] < 0).any():
            return np.lexsort((row, end, start, device))
        tied &= step == 0
    return np.arange(len(row))


def _rule(
    units: Units,
    populations: Populations,
    place: Int64,
    timing: _Timing,
    drift: Drift,
    peaks: list[DeviceMatch],
    floors: list[Floor],
    book: Rulebook,
    asked: Bool,
) -> _Verdicts:
    """Judge each population, units that overlap others or form a chain apart from the rest.

    ``asked`` tells, by place, those that anybody asks for, which saves judging all others.
    """
    count = len(_Variant) * len(populations)
    calls = np.bincount(place, minlength=count)
    times = np.bincount(place, weights=timing.effective, minlength=count)
    bad = np.bincount(place, weights=timing.spoilt, minlength=count)
    sizes = np.zeros(count, np.int64)
    np.maximum.at(sizes, place, timing.chained.size + timing.elementwise.size)
    among = _among(units, populations, timing.time, drift)
    launches = units.launches[units.first].tolist()
    found = _Verdicts([None] * count, [_NOTHING] * count)
    for index in np.flatnonzero(asked & (calls > 0)).tolist():
        base, variant = divmod(index, len(_Variant))
        at, number = populations.match[base], int(calls[index])
        measured = populations.measured(
            base, peaks[at], floors[at], number, launches[base], float(times[index]) / number,
            among(index), overlapped=variant == _Variant.OVERLAPPED,
        )  # fmt: skip
        if variant >= _Variant.CHAINED:
            chain = _CHAIN_RULES[_Variant(variant)]
            ruling = _chain_ruling(measured, chain, int(sizes[index]), book)
        else:
            ruling = rule_on(measured, book)
        if ruling.judged and bad[index]:
            flags = with_roof_flags(measured, ruling.flags)
            ruling = replace(
                ruling, judged=False, rule="", layer=Layer.UNKNOWN, why=_SPOILT, flags=flags
            )
        found.measured[index] = measured
        found.rulings[index] = ruling
    return found


def _asked(units: Units, cluster: Int64, place: Int64, count: int, owned_ns: Int64) -> Bool:
    """Places with a unit in the window, or beside one that is: bool (places,)."""
    inside = (units.of_activity >= 0) & (owned_ns > 0)
    near = np.zeros(int(cluster.max(initial=-1)) + 1, np.bool_)
    near[cluster[units.of_activity[inside]]] = True
    found = np.zeros(count, np.bool_)
    found[place[near[cluster]]] = True
    return found


def _among(
    units: Units, populations: Populations, time: Int64, drift: Drift
) -> Callable[[int], Among]:
    """How each population and variant stands among all others."""
    count = len(populations)
    own = np.bincount(units.population, weights=time, minlength=count)
    whole = max(float(own.sum()), 1.0)
    by_kind = {"": 0.0}
    for kind, taken in zip(populations.kind, own.tolist(), strict=True):
        if kind:
            by_kind[kind] = by_kind.get(kind, 0.0) + taken
    ratio = np.where(drift.proven, drift.ratio, np.nan).tolist()
    earlier, share = drift.earlier_ns.tolist(), (own / whole).tolist()

    def among(index: int) -> Among:
        base = index // len(_Variant)
        moved = None if math.isnan(ratio[index]) else ratio[index]
        kind = by_kind[populations.kind[base]] / whole
        return Among(share[base], kind, moved, earlier[index])

    return among


_NOTHING = Ruling(False, "", Layer.UNKNOWN, "unknown", 0.0, 0.0, "")
_SPOILT = "shares the card with a collective or with kernels whose work is not known"


_CHAIN_RULES = {
    _Variant.CHAINED: (unfused_attention.RULE, "an attention that is not fused"),
    _Variant.ELEMENTWISE: (
        unfused_elementwise.RULE,
        "a row whose shapes agree, as if each read what the last wrote",
    ),
}


def _chain_ruling(measured: Measured, chain: tuple[Rule, str], size: int, book: Rulebook) -> Ruling:
    rule, what = chain
    said = f"one of {size} operators of {what}; {figures_of(measured)}"
    flags = flags_of(measured, book)
    return Ruling(True, rule.id, rule.layer, bound_of(measured), 0.0, 0.0, said, flags)


def _losses(verdicts: _Verdicts, place: Int64, timing: _Timing) -> tuple[Float64, Bool]:
    """Lost share of each unit's time and whether it is judged.

    The loss of a cluster is at most its time, and falls on those units that lose and own
    instants of it.
    """
    rulings = verdicts.rulings
    effective, cluster = timing.effective, timing.cluster
    judged = np.array([ruling.judged for ruling in rulings], np.bool_)[place]
    ideal = np.array([ruling.ideal_ns for ruling in rulings], np.float64)[place]
    roof = np.array([ruling.roof_ns for ruling in rulings], np.float64)[place]
    lost = np.where(judged & (effective > roof), np.maximum(0.0, effective - ideal), 0.0)
    owned = timing.time.astype(np.float64)

    def total(value: Float64) -> Float64:
        sums = np.bincount(cluster, weights=value, minlength=len(cluster))
        return sums.astype(np.float64)[cluster]

    stretch = np.divide(
        total(owned), total(effective), out=np.ones_like(owned), where=total(effective) > 0
    )
    losing = total(np.where(lost > 0, owned, 0.0))
    share = np.divide(
        total(lost) * np.minimum(stretch, 1.0), losing, out=np.zeros_like(owned), where=losing > 0
    )
    fraction = np.where(lost > 0, np.minimum(share, 1.0), 0.0)
    for chain in (timing.chained, timing.elementwise):
        fraction = np.where(chain.member, chain.fraction, fraction)
    return fraction, judged


def _spread(
    trace: Trace,
    verdicts: _Verdicts,
    units: Units,
    place: Int64,
    fraction: Float64,
    judged: Bool,
    launches: LaunchShapes,
    calls: Calls,
    given: GroupInput,
    floors: tuple[Floor, ...],
) -> Judgement:
    """From units back to activities, and the groups that people read."""
    inside = units.of_activity >= 0
    unit = units.of_activity[inside]
    count = len(given.row)
    loss, is_judged = np.zeros(count, np.int64), np.zeros(count, np.bool_)
    layer = np.full(count, Layer.NONE, np.uint8)
    of_activity = np.full(count, -1, np.int64)
    owned = given.owned_ns[inside]
    loss[inside] = np.minimum(np.floor(fraction[unit] * owned).astype(np.int64), owned)
    is_judged[inside] = judged[unit]
    layers = np.array([ruling.layer for ruling in verdicts.rulings], np.uint8)
    owner = layers[place[unit]] if len(unit) else np.empty(0, np.uint8)
    layer[inside] = np.where(judged[unit] & (fraction[unit] <= 0), Layer.NONE, owner)
    of_activity[inside] = place[unit]
    group, groups = build_groups(
        trace,
        given,
        of_activity,
        loss,
        verdicts.measured,
        verdicts.rulings,
        launches,
        calls,
    )
    populations = _populations(verdicts, place[unit], owned)
    return Judgement(loss, is_judged, layer, group, groups, floors, populations)


def _populations(verdicts: _Verdicts, place: Int64, owned: Int64) -> tuple[JudgedCalls, ...]:
    """What was judged of the window."""
    time = np.bincount(place, weights=owned, minlength=len(verdicts.measured)).tolist()
    found = zip(verdicts.measured, verdicts.rulings, time, strict=True)
    return tuple(JudgedCalls(m, ruling, int(ns)) for m, ruling, ns in found if m and ns > 0)
