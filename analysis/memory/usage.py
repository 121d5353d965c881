"""Allocated and reserved memory of a window: its peak and when, what allocated, and churn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.findings.where import where_of
from whichlayer.analysis.kernels.peaks import device_entry
from whichlayer.analysis.kernels.rules.memory_near_limit import RULE as NEAR_LIMIT
from whichlayer.analysis.memory.churn import RULE as CHURN
from whichlayer.analysis.memory.device_calls import asked_again, device_calls
from whichlayer.analysis.memory.events import AllocatorEvents, allocators_of
from whichlayer.analysis.memory.places import innermost_at, operator_around
from whichlayer.analysis.results import Analysis, Where
from whichlayer.analysis.settings import threshold
from whichlayer.analysis.steps.phase_names import phase_of
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

#: What to record where no memory is.
RECORD_MEMORY: Final = "record with torch.profiler.profile(profile_memory=True) to see memory"
#: Operators and single allocations that are named.
_NAMED: Final = 5
#: What was given back and asked for again but once may be the end of a phase.
_NO_ACCIDENT: Final = 2


@dataclass(frozen=True, slots=True)
class Allocation:
    """One allocation."""

    time_ns: int
    bytes: int
    where: Where


@dataclass(frozen=True, slots=True)
class OperatorMemory:
    """What the calls of one operator allocated up to the peak.

    Freed memory counts: addresses would tell what is still held, and are not compared.
    """

    operator: str
    bytes: int
    allocations: int
    where: Where


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """One allocator in the window.

    Attributes:
        type: ``cuda``, ``hip``, ``cpu`` …, or empty where it is not recorded.
        device: number of the device, -1 where there is none.
        events: in the window.
        first_bytes, last_bytes: allocated after the first and the last event.
        peak_bytes, peak_ns: the most that was allocated, and when that was first so.
        peak_reserved: the most that the allocator held from the device; None unknown.
        peak_step: number of the step at the peak, or None.
        peak_phase: ``forward``, ``backward`` … at the peak, or empty.
        peak_where: what allocated then.
        total_bytes: memory of the device; None unknown.
        near_limit: the peak of what is reserved (allocated where that is unknown) reaches the
            setting of ``memory-near-limit``; None where the device's memory is unknown.
        taken_bytes, given_bytes: allocated and freed in the window.
        taken, given: how often.
        turnover: ``taken_bytes`` a step over ``peak_bytes``; of a window without steps, in all.
        device_calls: calls for this allocator in which the device itself was asked for memory or
            given it back; a pool of the driver (``cudaMallocAsync``) is not the device.
        asked_again: how often memory was given back to the device and asked for again, after the
            first step.
        churns: the settings of ``memory-churn`` are reached.
        by_operator: those that allocated most until the peak.
        largest: the largest single allocations of the window.
        allocator: as :class:`whichlayer.analysis.trace.columns.Instants` numbers it.
    """

    type: str
    device: int
    events: int
    first_bytes: int
    last_bytes: int
    peak_bytes: int
    peak_ns: int
    peak_reserved: int | None
    peak_step: int | None
    peak_phase: str
    peak_where: Where
    total_bytes: int | None
    near_limit: bool | None
    taken_bytes: int
    given_bytes: int
    taken: int
    given: int
    turnover: float | None
    device_calls: int
    asked_again: int
    churns: bool
    by_operator: tuple[OperatorMemory, ...]
    largest: tuple[Allocation, ...]
    allocator: int = -1


def memory_use(analysis: Analysis) -> tuple[MemoryUse, ...]:
    """Every allocator with events in the window; empty where memory was not recorded."""
    window = analysis.window
    found = []
    for events in allocators_of(analysis.trace):
        inside = (events.time_ns >= window.start_ns) & (events.time_ns <= window.end_ns)
        if inside.any():
            found.append(_use(analysis, events, np.flatnonzero(inside)))
    return tuple(found)


def why_no_memory(analysis: Analysis) -> str:
    """Why nothing is known of memory, or empty."""
    if not allocators_of(analysis.trace):
        return f"no memory events in this recording: {RECORD_MEMORY}"
    return (
        ""
        if memory_use(analysis)
        else f"no memory was allocated or freed in the {analysis.options.whole}"
    )


def _use(analysis: Analysis, events: AllocatorEvents, chosen: NDArray[np.intp]) -> MemoryUse:
    trace, window, options = analysis.trace, analysis.window, analysis.options
    allocated, reserved = events.allocated[chosen], events.reserved[chosen]
    size, time = events.size[chosen], events.time_ns[chosen]
    lane = trace.instants.lane_id[events.index[chosen]]
    rows = innermost_at(trace, lane, time)
    peak = int(np.argmax(allocated))
    held = int(np.nanmax(reserved)) if np.isfinite(reserved).any() else None
    held = held or None  # the CPU's allocator reserves nothing
    taken, given = size > 0, size < 0
    total = _device_memory(analysis, events.device) if events.on_gpu else None
    most = int(allocated[peak])
    allocator = int(trace.instants.allocator[events.index[0]])
    calls = len(device_calls(trace, window, allocator)) if events.on_gpu else 0
    again = len(asked_again(trace, window, allocator)) if calls else 0
    turnover = float(size[taken].sum()) / max(len(window.steps), 1) / most if most else None
    least = threshold(options, CHURN.id, "turnover"), threshold(options, CHURN.id, "calls")
    full = threshold(options, NEAR_LIMIT.id, "full")
    return MemoryUse(
        type=events.type,
        device=events.device if events.on_gpu else -1,
        events=len(chosen),
        first_bytes=int(allocated[0]),
        last_bytes=int(allocated[-1]),
        peak_bytes=most,
        peak_ns=int(time[peak]),
        peak_reserved=held,
        peak_step=_step_at(analysis, int(time[peak])),
        peak_phase=_phase_at(trace, int(rows[peak])),
        peak_where=where_of(trace, int(rows[peak])),
        total_bytes=total,
        near_limit=None if total is None else max(held or 0, most) >= full * total,
        taken_bytes=int(size[taken].sum()),
        given_bytes=-int(size[given].sum()),
        taken=int(taken.sum()),
        given=int(given.sum()),
        turnover=turnover,
        device_calls=calls,
        asked_again=again,
        churns=turnover is not None and turnover >= least[0] and _often(again, analysis, least[1]),
        by_operator=_by_operator(trace, rows[: peak + 1], size[: peak + 1]),
        largest=_largest(trace, rows, size, time),
        allocator=allocator,
    )


def _often(again: int, analysis: Analysis, a_step: float) -> bool:
    """Whether memory was asked for again so often that it is no accident."""
    return again >= max(a_step * (len(analysis.window.steps) - 1), _NO_ACCIDENT)


def _by_operator(
    trace: Trace, rows: NDArray[np.int64], size: NDArray[np.float64]
) -> tuple[OperatorMemory, ...]:
    operators = operator_around(trace, rows)
    counts = np.flatnonzero((size > 0) & (operators >= 0))
    if not len(counts):
        return ()
    names, group = np.unique(trace.name_id[operators[counts]], return_inverse=True)
    total = np.bincount(group, weights=size[counts])
    times = np.bincount(group)
    found = []
    for one in np.argsort(-total, kind="stable")[:_NAMED].tolist():
        mine = counts[group == one]
        biggest = int(rows[mine[np.argmax(size[mine])]])
        name = trace.strings[int(names[one])]
        found.append(
            OperatorMemory(name, int(total[one]), int(times[one]), where_of(trace, biggest))
        )
    return tuple(found)


def _largest(
    trace: Trace,
    rows: NDArray[np.int64],
    size: NDArray[np.float64],
    time: NDArray[np.int64],
) -> tuple[Allocation, ...]:
    taken = np.flatnonzero(size > 0)
    order = taken[np.argsort(-size[taken], kind="stable")[:_NAMED]]
    return tuple(
        Allocation(int(time[one]), int(size[one]), where_of(trace, int(rows[one])))
        for one in order.tolist()
    )


def _step_at(analysis: Analysis, time_ns: int) -> int | None:
    inside = (
        step.number
        for step in analysis.window.steps
        if step.on_host and step.start_ns <= time_ns <= step.end_ns
    )
    return next(inside, None)


def _phase_at(trace: Trace, row: int) -> str:
    """The innermost slice that tells a phase, by its name."""
    if row < 0:
        return ""
    for one in (row, *trace.enclosing(row)):
        phase = phase_of(SliceKind(int(trace.kind[one])), trace.name(one))
        if phase is not None:
            return phase.id
    return ""


def _device_memory(analysis: Analysis, number: int) -> int | None:
    """Bytes of a GPU, by the number that the allocator gives it; None where unknown."""
    entry = device_entry(number, analysis.trace.header) or {}
    size = entry.get("totalGlobalMem")
    if not isinstance(size, int) or isinstance(size, bool) or not 0 < size < 1 << 50:
        return None
    return size
