"""Groups of kernels for people: one row of the kernel table each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.kernels.attainable import attainable_gbps, fits_cache
from whichlayer.analysis.kernels.calls import Calls, OpCall
from whichlayer.analysis.kernels.counters import LaunchNumbers
from whichlayer.analysis.kernels.group_calls import GroupCalls, GroupInput, Members
from whichlayer.analysis.kernels.launch_shapes import LaunchShapes
from whichlayer.analysis.kernels.marks import tensor_cores
from whichlayer.analysis.kernels.measure import Measured
from whichlayer.analysis.kernels.names import short_name
from whichlayer.analysis.kernels.numbering import first_of, number_pairs
from whichlayer.analysis.kernels.occupancy import LaunchShape, Residency, residency
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
# Members of an IntEnum are looked up slowly, and compared with NumPy's numbers more slowly.
_KERNEL, _COMM = int(SliceKind.KERNEL), int(Role.COMM)


def build_groups(
    trace: Trace,
    given: GroupInput,
    population: Int64,
    loss: Int64,
    measured: Sequence[Measured | None],
    rulings: Sequence[Ruling],
    shapes: LaunchShapes,
    calls: Calls,
) -> tuple[Int32, tuple[KernelGroup, ...]]:
    """Group of each activity (int32 (n,), -1 outside the window) and the groups by total time.

    Args:
        trace: the recording.
        given: the activities.
        population: int64 (n,), population of each, -1 for collectives and transfers.
        loss: int64 (n,).
        measured: by population; None where no activity has it.
        rulings: by population.
        shapes: how kernels were launched.
        calls: of operators.
    """
    group = np.full(len(given.row), -1, np.int32)
    index = np.flatnonzero(given.in_window())
    if not len(index):
        return group, ()
    second = _second_key(trace, given, population)[index]
    inverse, count = number_pairs(trace.name_id[given.row[index]], second)
    total = np.zeros(count, np.int64)
    np.add.at(total, inverse, given.owned_ns[index])
    # Of groups that take as long the one that ran first; numbers of names and arguments depend on
    # what else was read of the file.
    first = first_of(inverse, count)
    by_time = np.lexsort((first, trace.name_id[given.row[index[first]]], -total))
    place = np.empty(count, np.int64)
    place[by_time] = np.arange(count)
    group[index] = place[inverse]
    lost = np.zeros(count, np.int64)
    np.add.at(lost, place[inverse], loss[index])
    members = Members.sorted_by(group[index], given.row[index], given, index)
    describe = _Describer(trace, given.total_ns, calls)
    lead, found = index[members.lead], list(members.calls())
    owner = [measured[which] if which >= 0 else None for which in population[lead].tolist()]
    seen = _seen(trace, given.op_row[lead], found, owner, shapes)
    columns = zip(
        found, seen, owner, population[lead].tolist(), given.role[lead].tolist(),
        total[by_time].tolist(), lost.tolist(), strict=True,
    )  # fmt: skip
    groups = []
    for call, one, own, which, role, total_ns, lost_ns in columns:
        if own is None:
            groups.append(describe.unjudged(call, one, role, total_ns))
        else:
            groups.append(describe.judged(call, one, total_ns, lost_ns, own, rulings[which]))
    return group, tuple(groups)


def _second_key(trace: Trace, given: GroupInput, population: Int64) -> Int64:
    """Tells groups of one name apart: the population, else the operator's arguments."""
    details = np.where(given.op_row >= 0, trace.detail_id[given.op_row], -1).astype(np.int64)
    copies = trace.kind[given.row] != SliceKind.KERNEL
    details = np.where(copies, trace.detail_id[given.row], details)
    return np.where(population >= 0, population, -2 - details)


class _Seen(NamedTuple):
    """What the recording holds of a group's calls.

    Attributes:
        name: of the kernel.
        kernel: it is one, and no copy.
        operator: ``name_id`` and ``detail_id`` of the operator, or None.
        typical: ``detail_id`` of the typical call.
        shape: how that was launched, or None.
    """

    name: str
    kernel: bool
    operator: tuple[int, int] | None
    typical: int
    shape: LaunchShape | None


def _seen(
    trace: Trace,
    op_row: Int32,
    calls: Sequence[GroupCalls],
    measured: Sequence[Measured | None],
    shapes: LaunchShapes,
) -> list[_Seen]:
    lead = np.array([call.lead for call in calls], np.int64)
    typical = np.array([call.typical for call in calls], np.int64)
    known = (op_row >= 0).tolist()
    pairs = zip(trace.name_id[op_row].tolist(), trace.detail_id[op_row].tolist(), strict=True)
    return list(
        map(
            _Seen,
            [trace.strings[name] for name in trace.name_id[lead].tolist()],
            (trace.kind[lead] == _KERNEL).tolist(),
            [pair if is_known else None for pair, is_known in zip(pairs, known, strict=True)],
            trace.detail_id[typical].tolist(),
            shapes.of(typical, [one.peaks.vendor if one is not None else "" for one in measured]),
        )
    )


class _Describer:
    """Puts groups into words and figures; what many of them share is read once."""

    def __init__(self, trace: Trace, total_ns: int, calls: Calls) -> None:
        self._trace = trace
        self._total_ns = total_ns
        self._operators: dict[tuple[int, int], tuple[str, str]] = {}
        self._numbers: dict[str, LaunchNumbers] = {}
        self._calls = calls

    def unjudged(self, call: GroupCalls, seen: _Seen, role: int, total_ns: int) -> KernelGroup:
        """A collective or a transfer: what it costs is told by the gaps around it."""
        name, kernel, detail = seen.name, seen.kernel, self._trace.detail(call.lead)
        size = -1 if kernel else bytes_of(detail)
        operator, shapes = self._operator(seen)
        communicates = role == _COMM
        return KernelGroup(
            name=name,
            short_name=short_name(name),
            operator=operator,
            shapes=shapes if kernel else _size_text(size),
            calls=call.count,
            total_ns=total_ns,
            share=self._share(total_ns),
            bytes=size if size >= 0 else None,
            flops=None,
            gbps=size * call.count / call.span_ns if size >= 0 and call.span_ns > 0 else None,
            tflops=None,
            bandwidth_fraction=None,
            flops_fraction=None,
            roof_fraction=None,
            bound="unknown",
            precision=None,
            tensor_cores=False if not kernel or communicates else None,
            occupancy=None,
            lost_ns=0,
            layer=Layer.NONE,
            rule="",
            why=(
                "communication: its cost is the gap it leaves"
                if communicates
                else "a transfer: its cost is the gap it leaves"
            ),
            flags=(),
            rows=call.rows,
            recorded_occupancy=_recorded_occupancy(detail),
            median_ns=call.median_ns,
            variability=call.variability,
        )

    def judged(
        self,
        call: GroupCalls,
        seen: _Seen,
        total_ns: int,
        lost_ns: int,
        measured: Measured,
        ruling: Ruling,
    ) -> KernelGroup:
        """A group of the device's own work."""
        trace, name, kernel, shape = self._trace, seen.name, seen.kernel, seen.shape
        operator, shapes = self._operator(seen)
        size = -1 if kernel else bytes_of(trace.detail(call.lead))
        lost = lost_ns if ruling.judged else 0
        vendor = measured.peaks.vendor
        fits = _residency(shape, measured)
        cuda = ruling.layer == Layer.CUDA and lost > 0 and kernel
        return KernelGroup(
            name=name,
            short_name=short_name(name),
            operator=operator or measured.operator,
            shapes=shapes if kernel else _size_text(size),
            calls=call.count,
            total_ns=total_ns,
            share=self._share(total_ns),
            bytes=measured.work.bytes,
            flops=measured.work.flops,
            gbps=measured.gbps,
            tflops=measured.tflops,
            bandwidth_fraction=measured.bandwidth_share,
            flops_fraction=measured.rate_share,
            roof_fraction=_roof_share(measured, ruling, lost, total_ns),
            bound=ruling.bound,
            precision=measured.precision,
            tensor_cores=tensor_cores(name, vendor),
            occupancy=100 * fits.occupancy if fits is not None else None,
            lost_ns=lost,
            layer=Layer.NONE if ruling.judged and not lost else ruling.layer,
            rule=ruling.rule,
            why=_why(measured, ruling),
            flags=ruling.flags,
            rows=call.rows,
            recorded_occupancy=_recorded_occupancy(trace.detail_by_id(seen.typical)),
            limiter=fits.limiter if fits is not None else "",
            blocks=shape.blocks if shape is not None else None,
            resident_blocks=fits.resident if fits is not None else None,
            waves=fits.waves if fits is not None else None,
            median_ns=call.median_ns,
            variability=call.variability,
            drift=measured.drift,
            counters=self._counters(call.typical, vendor) if cuda else "",
            attainable_gbps=attainable_gbps(measured),
            fits_cache=fits_cache(measured),
        )

    def _share(self, total_ns: int) -> float:
        return total_ns / self._total_ns if self._total_ns > 0 else 0.0

    def _operator(self, seen: _Seen) -> tuple[str, str]:
        key = seen.operator
        if key is None:
            return "", ""
        found = self._operators.get(key)
        if found is None:
            found = self._trace.strings[key[0]], shapes_text(self._calls.of(*key))
            self._operators[key] = found
        return found

    def _counters(self, row: int, vendor: str) -> str:
        if vendor not in self._numbers:
            self._numbers[vendor] = LaunchNumbers(self._trace, vendor)
        return self._numbers[vendor].command(row)


def _residency(shape: LaunchShape | None, measured: Measured) -> Residency | None:
    peaks = measured.peaks
    if shape is None or peaks.sm is None:
        return None
    known = measured.residency
    if known is not None and (known.shape is shape or known.shape == shape):
        return known
    return residency(shape, peaks.sm, peaks.units)


def _roof_share(measured: Measured, ruling: Ruling, lost: int, total_ns: int) -> float | None:
    """Ideal time over time, by the very ideal that the loss was measured against."""
    if measured.time_ns <= 0:
        return None
    if lost > 0:
        return 1 - lost / total_ns
    if ruling.bound == "unknown":
        return None
    share = measured.ideal_ns(measured.rate) / measured.time_ns
    return min(share, 1.0) if ruling.judged else share


def _recorded_occupancy(detail: Mapping[str, Any]) -> float | None:
    value = detail.get(_OCCUPANCY)
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
        if tensor is not None:
            if tensor.shape:
                parts.append(f"{tensor.dtype}[{','.join(map(str, tensor.shape))}]")
        elif shapes := call.shapes(index):
            parts.append(f"{len(shapes)} x [{','.join(map(str, shapes[0]))}]")
        if len(parts) > _SHAPES_SHOWN:
            break
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
