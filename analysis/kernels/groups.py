"""Groups of kernels for people: one row of the kernel table each."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.kernels.calls import OpCall
from whichlayer.analysis.kernels.marks import tensor_cores
from whichlayer.analysis.kernels.measure import Measured
from whichlayer.analysis.kernels.names import short_name
from whichlayer.analysis.kernels.numbering import number_pairs
from whichlayer.analysis.kernels.ruling import Ruling
from whichlayer.analysis.kernels.units import bytes_of
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import KernelGroup, Role
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]

_OCCUPANCY = "est. achieved occupancy %"
_SHAPES_SHOWN = 4


@dataclass(frozen=True, slots=True)
class GroupInput:
    """The activities as they were given, see :func:`whichlayer.analysis.kernels.judge.judge`."""

    row: Int32
    start_ns: Int64
    end_ns: Int64
    role: NDArray[np.uint8]
    op_row: Int32
    owned_ns: Int64
    total_ns: int

    def in_window(self) -> NDArray[np.bool_]:
        """Which activities touch the window: those that own some of it, or lie beneath others."""
        owning = np.flatnonzero(self.owned_ns > 0)
        if not len(owning):
            return np.zeros(len(self.row), np.bool_)
        low, high = self.start_ns[owning].min(), self.end_ns[owning].max()
        inside: NDArray[np.bool_] = (self.start_ns < high) & (self.end_ns >= low)
        return inside


def build_groups(
    trace: Trace,
    given: GroupInput,
    population: Int64,
    loss: Int64,
    measured: list[Measured],
    rulings: list[Ruling],
) -> tuple[Int32, tuple[KernelGroup, ...]]:
    """Group of each activity (int32 (n,), -1 outside the window) and the groups by total time.

    Args:
        trace: the recording.
        given: the activities.
        population: int64 (n,), population of each, -1 for collectives and transfers.
        loss: int64 (n,).
        measured: by population.
        rulings: by population.
    """
    group = np.full(len(given.row), -1, np.int32)
    index = np.flatnonzero(given.in_window())
    if not len(index):
        return group, ()
    second = _second_key(trace, given, population)[index]
    inverse, count = number_pairs(trace.name_id[given.row[index]], second)
    total = np.zeros(count, np.int64)
    np.add.at(total, inverse, given.owned_ns[index])
    lost = np.zeros(count, np.int64)
    np.add.at(lost, inverse, loss[index])
    by_time = np.lexsort((np.arange(count), -total))
    place = np.empty(count, np.int64)
    place[by_time] = np.arange(count)
    group[index] = place[inverse]
    order = np.argsort(group[index], kind="stable")
    members = np.split(index[order], np.cumsum(np.bincount(group[index]))[:-1])
    groups = []
    for at, rows in enumerate(members):
        which = int(population[rows[0]])
        old = int(by_time[at])
        make = _Maker(trace, given, rows, int(total[old]), int(lost[old]))
        if which < 0:
            groups.append(make.unjudged())
        else:
            groups.append(make.judged(measured[which], rulings[which]))
    return group, tuple(groups)


def _second_key(trace: Trace, given: GroupInput, population: Int64) -> Int64:
    """Tells groups of one name apart: the population, else the operator's arguments."""
    details = np.where(given.op_row >= 0, trace.detail_id[given.op_row], -1).astype(np.int64)
    copies = trace.kind[given.row] != SliceKind.KERNEL
    details = np.where(copies, trace.detail_id[given.row], details)
    return np.where(population >= 0, population, -2 - details)


@dataclass(frozen=True, slots=True)
class _Maker:
    """Builds one group."""

    trace: Trace
    given: GroupInput
    members: NDArray[np.intp]
    total_ns: int
    lost_ns: int

    def unjudged(self) -> KernelGroup:
        """A collective or a transfer: what it costs is told by the gaps around it."""
        trace, lead = self.trace, int(self.given.row[self.members[0]])
        name = trace.name(lead)
        kernel = trace.kind[lead] == SliceKind.KERNEL
        size = -1 if kernel else bytes_of(trace.detail(lead))
        operator, shapes = self._operator()
        communicates = self.given.role[self.members[0]] == Role.COMM
        return KernelGroup(
            name=name,
            short_name=short_name(name),
            operator=operator,
            shapes=shapes if kernel else _size_text(size),
            calls=len(self.members),
            total_ns=self.total_ns,
            share=self.total_ns / self.given.total_ns if self.given.total_ns > 0 else 0.0,
            bytes=size if size >= 0 else None,
            flops=None,
            gbps=self._copy_speed(size),
            tflops=None,
            bandwidth_fraction=None,
            flops_fraction=None,
            roof_fraction=None,
            bound="unknown",
            precision=None,
            tensor_cores=False if not kernel or communicates else None,
            occupancy=self._occupancy(lead),
            lost_ns=0,
            layer=Layer.NONE,
            rule="",
            why=(
                "communication: its cost is the gap it leaves"
                if communicates
                else "a transfer: its cost is the gap it leaves"
            ),
            flags=(),
            rows=np.sort(self.given.row[self.members]).astype(np.int32),
        )

    def judged(self, measured: Measured, ruling: Ruling) -> KernelGroup:
        """A group of the device's own work."""
        base = self.unjudged()
        known = measured.time_ns > 0
        lost = self.lost_ns if ruling.judged else 0
        settled = ruling.judged and not lost
        return replace(
            base,
            operator=base.operator or measured.operator,
            bytes=measured.work.bytes,
            flops=measured.work.flops,
            gbps=measured.gbps,
            tflops=measured.tflops,
            bandwidth_fraction=measured.bandwidth_share,
            flops_fraction=measured.rate_share,
            roof_fraction=self._roof_share(measured, ruling, lost) if known else None,
            bound=ruling.bound,
            precision=measured.precision,
            tensor_cores=tensor_cores(base.name, measured.peaks.vendor),
            lost_ns=lost,
            layer=Layer.NONE if settled else ruling.layer,
            rule=ruling.rule,
            why=_why(measured, ruling),
            flags=ruling.flags,
        )

    def _roof_share(self, measured: Measured, ruling: Ruling, lost: int) -> float | None:
        """Ideal time over time, by the very ideal that the loss was measured against."""
        if lost > 0:
            return 1 - lost / self.total_ns
        if ruling.bound == "unknown":
            return None
        share = measured.ideal_ns(measured.rate) / measured.time_ns
        return min(share, 1.0) if ruling.judged else share

    def _operator(self) -> tuple[str, str]:
        row = int(self.given.op_row[self.members[0]])
        if row < 0:
            return "", ""
        name = self.trace.name(row)
        return name, shapes_text(OpCall.from_detail(name, self.trace.detail(row)))

    def _copy_speed(self, size: int) -> float | None:
        spans = self.given.end_ns[self.members] - self.given.start_ns[self.members]
        total = int(spans.sum())
        return size * len(self.members) / total if size >= 0 and total > 0 else None

    def _occupancy(self, lead: int) -> float | None:
        value = self.trace.detail(lead).get(_OCCUPANCY)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return float(value) if 0 <= value <= 100 else None


def _why(measured: Measured, ruling: Ruling) -> str:
    said = ruling.why if ruling.judged else f"not judged: {ruling.why}"
    if measured.work.known and measured.launches > 1:
        said += f"; {measured.operator} as a whole, over its {measured.launches} kernels"
    if measured.work.known and ruling.judged and measured.work.reason:
        said += f" ({measured.work.reason})"
    return said


def shapes_text(call: OpCall) -> str:
    """Types and shapes of an operator's tensors in short, such as ``bf16[128,64] fp32[64]``."""
    parts: list[str] = []
    for index in range(call.arguments):
        tensor = call.tensor(index)
        shapes = call.shapes(index) if tensor is None else None
        if tensor is not None and tensor.shape:
            parts.append(f"{tensor.dtype}[{','.join(map(str, tensor.shape))}]")
        elif shapes:
            parts.append(f"{len(shapes)} x [{','.join(map(str, shapes[0]))}]")
    more = " …" if len(parts) > _SHAPES_SHOWN else ""
    return " ".join(parts[:_SHAPES_SHOWN]) + more


def _size_text(size: int) -> str:
    if size < 0:
        return ""
    value = float(size)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} GB"
