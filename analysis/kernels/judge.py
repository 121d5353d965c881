"""Judge every GPU activity: what it loses against a well-made kernel, and who owns that.

Time is what the recording holds, each instant counted once; a window only scales it, so the
same kernel is judged alike whatever stretch of the trace is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.kernels.floor import STREAMING, TRIVIAL_NS, find_floor
from whichlayer.analysis.kernels.groups import GroupInput, build_groups
from whichlayer.analysis.kernels.marks import precision_of
from whichlayer.analysis.kernels.measure import Floor, Measured
from whichlayer.analysis.kernels.overlaps import find_clusters, owned_times
from whichlayer.analysis.kernels.peaks import DeviceMatch
from whichlayer.analysis.kernels.ruling import Ruling, rule_on
from whichlayer.analysis.kernels.units import Units, gather_units, work_of_unit
from whichlayer.analysis.kernels.work import Work
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import KernelGroup, Role
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
UInt8 = NDArray[np.uint8]
Float64 = NDArray[np.float64]
Bool = NDArray[np.bool_]

#: A cluster is not judged where kernels of unknown work take more than this share of it.
_UNKNOWN_SHARE: Final = 0.2
#: The slowest FP32 product and the fastest differ by clocks; beyond this it was not FP32.
_NOT_FP32: Final = 1.05

Settings = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is said of each activity, in the order they were given.

    Attributes:
        loss_ns: int64 (n,), of ``owned_ns``, what a well-made kernel would not have taken.
        judged: bool (n,).
        layer: uint8 (n,), owner of the loss: NONE at the roof, UNKNOWN where no rule
            explains it or nothing is known.
        group: int32 (n,), index into ``groups``, -1 outside the window.
        groups: by total time, longest first.
        floors: launch floor of each device.
    """

    loss_ns: Int64
    judged: Bool
    layer: UInt8
    group: Int32
    groups: tuple[KernelGroup, ...]
    floors: tuple[Floor, ...] = ()


@dataclass(slots=True)
class _Populations:
    """Figures by population; ``measured`` and ``rulings`` are filled in as they are found."""

    work: list[Work]
    operator: list[str]
    kernels: list[tuple[str, ...]]
    match: list[int]
    demand: list[tuple[float, float]]
    precision: list[str | None]
    measured: list[Measured] = field(default_factory=list)
    rulings: list[Ruling] = field(default_factory=list)

    def add(
        self, operator: str, kernels: tuple[str, ...], work: Work, match: int, peak: DeviceMatch
    ) -> None:
        """Append a population: how long its bytes and its flops take goes to ``demand``."""
        precision = None
        if work.flops is not None and work.precision is not None:
            precision = precision_of(
                kernels, work.precision, peak.vendor, has_tf32="tf32" in peak.tflops
            )
        measured = _measure(operator, kernels, work, precision, 1, 1, 0.0, Floor(), peak)
        self.work.append(work)
        self.operator.append(operator)
        self.kernels.append(kernels)
        self.match.append(match)
        self.demand.append((measured.memory_ns, measured.compute_ns))
        self.precision.append(precision)


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
    settings: Settings | None = None,
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
        settings: thresholds by rule id that replace the defaults.
    """
    order = np.lexsort((row, end_ns, start_ns, device))
    compute = order[role[order] == Role.COMPUTE]
    distinct, match_of_device = _distinct(peaks)
    match = match_of_device[device]
    units = gather_units(trace, row, op_row, role == Role.COMPUTE, match)
    owned = np.zeros(len(row), np.int64)
    owned[compute], cover = owned_times(device[compute], start_ns[compute], end_ns[compute])
    duration = end_ns - start_ns
    of_unit = units.of_activity
    time = _sum_by(of_unit, owned)
    span = _sum_by(of_unit, duration)
    cluster = find_clusters(of_unit[compute], owned[compute], duration[compute], cover)
    units, populations = _describe(trace, row, units, match, distinct)
    floors = _floors(trace, row, units, populations, time, distinct)
    effective, overlapped, spoilt = _effective_times(units, populations, cluster, time, span)
    population = units.population * 2 + overlapped
    _rule(units, populations, population, effective, spoilt, distinct, floors, settings)
    fraction, judged = _losses(populations, population, cluster, effective, time)
    return _spread(
        trace, populations, units, population, fraction, judged,
        GroupInput(row, start_ns, end_ns, role, op_row, owned_ns, total_ns),
        tuple(floors[int(index)] for index in match_of_device),
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


def _sum_by(key: Int64, value: Int64) -> Int64:
    chosen = key >= 0
    total = np.zeros(int(key.max(initial=-1)) + 1, np.int64)
    np.add.at(total, key[chosen], value[chosen])
    return total


def _describe(
    trace: Trace, row: Int32, units: Units, match: Int64, peaks: list[DeviceMatch]
) -> tuple[Units, _Populations]:
    """Work and precision of every population, from one unit of each.

    Calls that differ only in what does not matter to a kernel (call stack, thread, a scalar)
    become one population here.
    """
    places: dict[tuple[object, ...], int] = {}
    of_old = np.zeros(len(units.first), np.int64)
    first: list[int] = []
    found = _Populations([], [], [], [], [], [])
    for index, unit in enumerate(units.first.tolist()):
        members = units.activities(unit)
        at = int(match[members[0]])
        names = [trace.name(int(item)) for item in row[members]]
        operator, shapes, work = work_of_unit(trace, row, units, unit)
        identity = (operator, shapes, work, at, tuple(sorted(names)))
        place = places.setdefault(identity, len(first))
        of_old[index] = place
        if place < len(first):
            continue
        first.append(unit)
        found.add(operator, tuple(sorted(set(names))), work, at, peaks[at])
    merged = replace(
        units,
        population=of_old[units.population] if len(of_old) else units.population,
        first=np.array(first, np.int64),
    )
    return merged, found


def _measure(
    operator: str,
    kernels: tuple[str, ...],
    work: Work,
    precision: str | None,
    calls: int,
    launches: int,
    time_ns: float,
    floor: Floor,
    peak: DeviceMatch,
) -> Measured:
    """A measurement, with the precision that its speed proves where its name is silent."""
    measured = Measured(operator, kernels, work, calls, launches, time_ns, floor, peak, precision)
    if precision is not None or work.precision != "fp32" or work.flops is None:
        return measured
    as_fp32 = replace(measured, precision="fp32")
    fp32 = peak.rate("fp32")
    if not fp32 or not as_fp32.above_ridge:
        return as_fp32  # bound by memory whichever it was
    if time_ns > 0 and (as_fp32.rate_share or 0.0) > _NOT_FP32:
        return replace(measured, precision="tf32")
    return measured


def _floors(
    trace: Trace,
    row: Int32,
    units: Units,
    populations: _Populations,
    time: Int64,
    peaks: list[DeviceMatch],
) -> list[Floor]:
    trivial = np.zeros(len(populations.work), np.bool_)
    for index, work in enumerate(populations.work):
        bandwidth = peaks[int(populations.match[index])].bandwidth_gbps or 1000.0
        small = work.bytes is not None and work.bytes / bandwidth <= TRIVIAL_NS
        lead = int(row[units.activities(int(units.first[index]))[0]])
        kernel = trace.kind[lead] == SliceKind.KERNEL
        trivial[index] = small and kernel and work.category in STREAMING
    chosen = trivial[units.population] & (units.launches == 1)
    of_match = np.array(populations.match, np.int64)[units.population]
    return [
        find_floor(time[chosen & (of_match == index)].astype(np.float64))
        for index in range(len(peaks))
    ]


def _effective_times(
    units: Units, populations: _Populations, cluster: Int64, time: Int64, span: Int64
) -> tuple[Float64, Bool, Bool]:
    """Time by which each unit is judged, whether it overlaps others, whether that spoils it.

    Units that ran side by side share the time of their cluster by the work they do on the
    resource that binds the cluster, so that none of them looks slow because of the others.
    """
    effective = time.astype(np.float64)
    size = np.bincount(cluster, minlength=len(cluster))
    overlapped = size[cluster] > 1
    spoilt = np.zeros(len(cluster), np.bool_)
    if not overlapped.any():
        return effective, overlapped, spoilt
    demand = np.array(populations.demand, np.float64)[units.population]
    memory, compute = demand[:, 0], demand[:, 1]
    work = np.maximum(memory, compute)
    known = np.array([item.known for item in populations.work], np.bool_)[units.population]

    def total(value: Float64) -> Float64:
        sums = np.bincount(cluster, weights=value, minlength=len(cluster))
        return sums.astype(np.float64)[cluster]

    binding = np.maximum(total(memory), total(compute))
    shared = total(effective)
    unknown = total(np.where(known, 0.0, span.astype(np.float64)))
    spoilt = overlapped & (unknown > _UNKNOWN_SHARE * shared)
    scaled = np.divide(shared * work, binding, out=np.zeros_like(work), where=binding > 0)
    effective = np.where(overlapped & ~spoilt, scaled, effective)
    result: Float64 = np.where(spoilt, span.astype(np.float64), effective)
    return result, overlapped, spoilt


def _rule(
    units: Units,
    populations: _Populations,
    population: Int64,
    effective: Float64,
    spoilt: Bool,
    peaks: list[DeviceMatch],
    floors: list[Floor],
    settings: Settings | None,
) -> None:
    """Judge each population, those that overlap others apart from those that do not."""
    count = 2 * len(populations.work)
    calls = np.bincount(population, minlength=count)
    times = np.bincount(population, weights=effective, minlength=count)
    bad = np.bincount(population, weights=spoilt, minlength=count)
    for index in range(count):
        base, overlapped = divmod(index, 2)
        at = int(populations.match[base])
        number = int(calls[index])
        measured = _measure(
            populations.operator[base], populations.kernels[base], populations.work[base],
            populations.precision[base], number, int(units.launches[units.first[base]]),
            float(times[index]) / max(1, number), floors[at], peaks[at],
        )  # fmt: skip
        measured = replace(measured, overlapped=bool(overlapped))
        populations.measured.append(measured)
        if not number:
            ruling = Ruling(False, "", Layer.UNKNOWN, "unknown", 0.0, 0.0, "")
        else:
            ruling = rule_on(measured, settings)
        if ruling.judged and bad[index]:
            said = "overlaps kernels whose work is not known"
            ruling = replace(ruling, judged=False, rule="", layer=Layer.UNKNOWN, why=said)
        populations.rulings.append(ruling)


def _losses(
    populations: _Populations,
    population: Int64,
    cluster: Int64,
    effective: Float64,
    time: Int64,
) -> tuple[Float64, Bool]:
    """Lost share of each unit's time and whether it is judged."""
    rulings = populations.rulings
    judged = np.array([ruling.judged for ruling in rulings], np.bool_)[population]
    ideal = np.array([ruling.ideal_ns for ruling in rulings], np.float64)[population]
    roof = np.array([ruling.roof_ns for ruling in rulings], np.float64)[population]
    lost = np.where(judged & (effective > roof), np.maximum(0.0, effective - ideal), 0.0)
    count = len(cluster)
    lost_by = np.bincount(cluster, weights=lost, minlength=count)
    time_by = np.bincount(cluster, weights=np.where(judged, effective, 0.0), minlength=count)
    share = np.divide(lost_by, time_by, out=np.zeros(count), where=time_by > 0)
    return np.where(judged, np.minimum(share[cluster], 1.0), 0.0), judged


def _spread(
    trace: Trace,
    populations: _Populations,
    units: Units,
    population: Int64,
    fraction: Float64,
    judged: Bool,
    given: GroupInput,
    floors: tuple[Floor, ...],
) -> Judgement:
    """From units back to activities, and the groups that people read."""
    unit = units.of_activity
    inside = unit >= 0
    at = np.maximum(unit, 0)
    count = len(given.row)
    loss = np.zeros(count, np.int64)
    is_judged = np.zeros(count, np.bool_)
    layer = np.full(count, Layer.NONE, np.uint8)
    of_activity = np.full(count, -1, np.int64)
    if inside.any():
        loss[inside] = np.floor(fraction[at] * given.owned_ns).astype(np.int64)[inside]
        is_judged[inside] = judged[at][inside]
        layers = np.array([ruling.layer for ruling in populations.rulings], np.uint8)
        layer[inside] = layers[population[at]][inside]
        of_activity[inside] = population[at][inside]
    loss = np.minimum(loss, given.owned_ns)
    group, groups = build_groups(
        trace, given, of_activity, loss, populations.measured, populations.rulings
    )
    return Judgement(loss, is_judged, layer, group, groups, floors)
