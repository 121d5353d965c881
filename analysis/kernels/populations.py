"""Populations of calls: what they have to do, and how long that takes on their card."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.kernels.attention_chains import Part
from whichlayer.analysis.kernels.calls import Calls
from whichlayer.analysis.kernels.copy_kinds import copy_kind
from whichlayer.analysis.kernels.floor import STREAMING, TRIVIAL_NS, find_floor
from whichlayer.analysis.kernels.launch_shapes import LaunchShapes
from whichlayer.analysis.kernels.marks import precision_of
from whichlayer.analysis.kernels.measure import Floor, Measured, memory_ns
from whichlayer.analysis.kernels.occupancy import LaunchShape, Residency, residency
from whichlayer.analysis.kernels.peaks import DeviceMatch
from whichlayer.analysis.kernels.units import Units, describe_unit, unit_heads
from whichlayer.analysis.kernels.work import OpCall, Work
from whichlayer.analysis.quick_values import quick
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
Float64 = NDArray[np.float64]
Bool = NDArray[np.bool_]

#: A cluster is not judged where kernels of unknown work take more than this share of it.
_UNKNOWN_SHARE: Final = 0.2
#: Clocks let an FP32 product exceed its data sheet by a few percent; beyond that it is TF32.
_NOT_FP32: Final = 1.05
_NO_FLOOR: Final = Floor()


@dataclass(slots=True)
class Populations:
    """Columns by population, see :class:`whichlayer.analysis.kernels.units.Units`.

    Attributes:
        work, operator, kernels, precision: as in ``Measured``.
        part: what the search for attention chains sees.
        kind: as in ``Measured``.
        result: shape of the largest tensor, which a pointwise result has.
        inputs: shape and bytes of each tensor.
        blocks, residency: of its longest kernel, as in ``Measured``.
        match: which peaks apply.
        demand: (memory, compute) nanoseconds that the work takes at best.
    """

    work: list[Work] = field(default_factory=list)
    operator: list[str] = field(default_factory=list)
    kernels: list[tuple[str, ...]] = field(default_factory=list)
    precision: list[str | None] = field(default_factory=list)
    part: list[Part] = field(default_factory=list)
    kind: list[str] = field(default_factory=list)
    result: list[tuple[int, ...]] = field(default_factory=list)
    inputs: list[tuple[tuple[tuple[int, ...], int], ...]] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)
    residency: list[Residency | None] = field(default_factory=list)
    match: list[int] = field(default_factory=list)
    demand: list[tuple[float, float]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.work)

    def add(
        self,
        call: OpCall,
        kernels: tuple[str, ...],
        work: Work,
        match: int,
        peaks: DeviceMatch,
        shape: LaunchShape | None = None,
    ) -> None:
        """Append one population."""
        precision = None
        if work.flops is not None and work.precision is not None:
            precision = precision_of(
                kernels, work.precision, peaks.vendor, has_tf32="tf32" in peaks.tflops
            )
        tensors = call.tensors()
        shapes = tuple([tensor.shape for tensor in tensors])
        items = [tensor.item_bytes for tensor in tensors]
        counts = [math.prod(shape) for shape in shapes]
        self.work.append(work)
        self.operator.append(call.name)
        self.kernels.append(kernels)
        self.precision.append(precision)
        self.part.append(Part(call.name, work.category, shapes, items[0] if items else 0))
        self.kind.append(copy_kind(call, work))
        self.result.append(shapes[counts.index(max(counts))] if counts else ())
        sizes = [count * item for count, item in zip(counts, items, strict=True)]
        self.inputs.append(tuple(zip(shapes, sizes, strict=True)))
        self.blocks.append(shape.blocks if shape is not None else 0)
        self.residency.append(
            residency(shape, peaks.sm, peaks.units) if shape is not None and peaks.sm else None
        )
        self.match.append(match)
        self.demand.append(_demand(call, kernels, work, peaks, precision))

    def keep_copies(self, asked: Bool) -> None:
        """Forget the kind of copies that nobody asked for: bool (n,)."""
        pairs = zip(self.kind, asked.tolist(), strict=True)
        self.kind = [kind if kept else "" for kind, kept in pairs]

    def measured(
        self,
        index: int,
        peaks: DeviceMatch,
        floor: Floor,
        calls: int,
        launches: int,
        time_ns: float,
        among: Among,
        *,
        overlapped: bool = False,
    ) -> Measured:
        """One population with its time."""
        found = Measured(
            self.operator[index], self.kernels[index], self.work[index], calls, launches, time_ns,
            floor, peaks, self.precision[index], overlapped, self.kind[index], self.blocks[index],
            self.residency[index], among.share, among.kind_share, among.drift, among.earlier_ns,
        )  # fmt: skip
        return with_proven_precision(found)


@quick
@dataclass(frozen=True, slots=True)
class Among:
    """A population among all others; attributes as in ``Measured``."""

    share: float = 0.0
    kind_share: float = 0.0
    drift: float | None = None
    earlier_ns: float = 0.0


def with_proven_precision(measured: Measured) -> Measured:
    """A measurement, with the precision that its speed proves where its names are silent.

    FP32 operands run as FP32 or TF32. Where even FP32 arithmetic would not limit the call the
    difference does not matter; a rate above the FP32 peak proves TF32.
    """
    work = measured.work
    if measured.precision is not None or work.precision != "fp32" or work.flops is None:
        return measured
    as_fp32 = replace(measured, precision="fp32")
    if as_fp32.rate is None or not as_fp32.above_ridge:
        return as_fp32
    if measured.time_ns > 0 and (as_fp32.rate_share or 0.0) > _NOT_FP32:
        return replace(measured, precision="tf32")
    return measured


def describe(
    trace: Trace,
    row: Int32,
    units: Units,
    match: Int64,
    peaks: list[DeviceMatch],
    launches: LaunchShapes,
    calls: Calls,
) -> tuple[Units, Populations]:
    """Work and precision of every population, from one unit of each.

    Calls that differ only in what does not matter to a kernel (call stack, thread, a scalar)
    become one population here.
    """
    places: dict[tuple[object, ...], int] = {}
    of_old = np.zeros(len(units.first), np.int64)
    first: list[int] = []
    found = Populations()
    heads = list(unit_heads(trace, row, units))
    matches = match[units.members[units.offsets[units.first]]].tolist()
    longest = np.array([_longest(trace, head.rows) for head in heads], np.int64)
    shapes = launches.of(longest, [peaks[at].vendor for at in matches])
    strings = trace.strings
    lists = zip(units.first.tolist(), matches, heads, shapes, strict=True)
    for index, (unit, at, head, shape) in enumerate(lists):
        call, told, work = describe_unit(trace, head, calls)
        names = tuple(sorted(head.names))
        identity = (call.name, told, work, at, names)
        place = places.setdefault(identity, len(first))
        of_old[index] = place
        if place == len(first):
            first.append(unit)
            kernels = tuple(sorted({strings[name] for name in names}))
            found.add(call, kernels, work, at, peaks[at], shape)
    population = of_old[units.population] if len(of_old) else units.population
    return replace(units, population=population, first=np.array(first, np.int64)), found


def _longest(trace: Trace, rows: list[int]) -> int:
    if len(rows) == 1:
        return rows[0]
    return rows[int(np.argmax(trace.end_ns[rows] - trace.start_ns[rows]))]


def _demand(
    call: OpCall, kernels: tuple[str, ...], work: Work, peaks: DeviceMatch, precision: str | None
) -> tuple[float, float]:
    """(memory, compute) nanoseconds that the work takes at best."""
    if work.flops is None:
        return memory_ns(work, peaks), 0.0
    bare = Measured(call.name, kernels, work, 1, 1, 0.0, _NO_FLOOR, peaks, precision)
    found = with_proven_precision(bare)
    return found.memory_ns, found.compute_ns


def find_floors(
    trace: Trace,
    row: Int32,
    units: Units,
    populations: Populations,
    time: Int64,
    peaks: list[DeviceMatch],
) -> list[Floor]:
    """The launch floor under each set of peaks, from units of one trivial kernel."""
    trivial = np.zeros(len(populations), np.bool_)
    leads = row[units.members[units.offsets[units.first]]]
    kernel = (trace.kind[leads] == SliceKind.KERNEL).tolist()
    speeds = [peak.bandwidth_gbps or 1000.0 for peak in peaks]
    for index, work in enumerate(populations.work):
        if work.bytes is None or work.category not in STREAMING:
            continue
        small = work.bytes / speeds[populations.match[index]] <= TRIVIAL_NS
        trivial[index] = small and kernel[index]
    chosen = trivial[units.population] & (units.launches == 1)
    of_match = np.array(populations.match, np.int64)[units.population]
    return [
        find_floor(time[chosen & (of_match == index)].astype(np.float64))
        for index in range(len(peaks))
    ]


def effective_times(
    units: Units, populations: Populations, cluster: Int64, time: Int64, span: Int64
) -> tuple[Float64, Bool, Bool]:
    """Time by which each unit is judged, whether it overlaps others, whether that spoils it.

    Units that ran side by side share the time of their cluster by the work they do on the
    resource that binds the cluster, so that none of them looks slow because of the others.

    Args:
        units: the units.
        populations: their populations.
        cluster: int64 (units,), from ``find_clusters``.
        time: int64 (units,), nanoseconds that each owns.
        span: int64 (units,), nanoseconds that its activities ran.
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
    result: Float64 = np.where(overlapped & ~spoilt, scaled, effective)
    return np.where(spoilt, span.astype(np.float64), result), overlapped, spoilt
