"""Whose allocator a call of the device was for: its process, and its GPU where that can be told.

Calls name no GPU. Where a process works on one alone, it is that one. Else an allocator reports what
it did right after its call, in the same operator; else the thread may launch on one GPU alone.
Where nothing tells, the call proves nothing of any allocator.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.memory.places import innermost_at, operator_around
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import GPU_WORK

Rows = NDArray[np.int64]
Bool = NDArray[np.bool_]

#: The CPU's allocator, as :class:`whichlayer.analysis.trace.columns.Instants` numbers it.
CPU_ALLOCATOR = 0


def process_of_lanes(trace: Trace) -> Rows:
    """A number for the process of each lane: int64 (lanes,), equal where the process is."""
    known: dict[tuple[str, str], int] = {}
    keys = ((type(lane.pid).__name__, str(lane.pid)) for lane in trace.lanes)
    return np.array([known.setdefault(key, len(known)) for key in keys], np.int64)


def processes_with(trace: Trace, allocator: int) -> Rows:
    """The processes that report an allocator, ascending."""
    instants = trace.instants
    here = (instants.allocator == allocator) & np.isfinite(instants.value)
    lanes = instants.lane_id[here]
    return np.unique(process_of_lanes(trace)[lanes[lanes >= 0]])


def calls_for(trace: Trace, rows: Rows, allocator: int, process: int | None = None) -> Rows:
    """Those of some calls that are known to be for an allocator.

    Args:
        trace: the recording.
        rows: int64 (n,), calls of threads.
        allocator: as :class:`whichlayer.analysis.trace.columns.Instants` numbers it.
        process: one of :func:`processes_with`; None for all of them.

    Returns:
        int64, of ``rows`` and in their order.
    """
    if not len(rows):
        return rows
    owners = process_of_lanes(trace)
    asked = processes_with(trace, allocator) if process is None else np.array([process])
    of_call = owners[trace.lane_id[rows]]
    devices = _launched(trace)
    found = np.zeros(len(rows), np.bool_)
    for one in asked.tolist():
        mine = np.flatnonzero(of_call == one)
        works_on = np.unique(devices[1][owners[devices[0]] == one])
        if len(works_on) > 1 or len(_allocators(trace, owners, one)) > 1:
            mine = mine[_told(trace, rows[mine], allocator, devices)]
        found[mine] = True
    return rows[found]


def _allocators(trace: Trace, owners: Rows, process: int) -> Rows:
    """Allocators of GPUs that a process reports."""
    instants = trace.instants
    gpu = np.isfinite(instants.value) & (instants.allocator != CPU_ALLOCATOR)
    gpu &= instants.lane_id >= 0
    here = np.flatnonzero(gpu)
    return np.unique(instants.allocator[here[owners[instants.lane_id[here]] == process]])


def _launched(trace: Trace) -> tuple[Rows, Rows]:
    """Which lanes launch on which devices: int64 (n,) and int64 (n,), each pair once."""
    device_of = np.array([lane.device for lane in trace.lanes], np.int64)
    work = np.flatnonzero(among(trace.kind, tuple(GPU_WORK)) & (trace.launch >= 0))
    pairs = np.stack((trace.lane_id[trace.launch[work]], device_of[trace.lane_id[work]]))
    lanes, devices = np.unique(pairs.astype(np.int64), axis=1)
    return lanes, devices


def _told(trace: Trace, rows: Rows, allocator: int, launched: tuple[Rows, Rows]) -> Bool:
    """Whether the GPU of each call can be told and is the allocator's: bool (n,)."""
    after = _reported(trace, rows)
    found: Bool = after == allocator
    for at in np.flatnonzero(after < 0).tolist():
        devices = launched[1][launched[0] == trace.lane_id[rows[at]]]
        found[at] = devices.tolist() == [allocator & 0xFFFFFFFF]
    return found


def _reported(trace: Trace, rows: Rows) -> Rows:
    """The GPU allocator that reports next on each call's thread, in the same operator; else -1."""
    instants = trace.instants
    gpu = np.isfinite(instants.value) & (instants.allocator > CPU_ALLOCATOR)
    lanes, ends = trace.lane_id[rows], trace.end_ns[rows]
    found = np.full(len(rows), -1, np.int64)
    around = operator_around(trace, trace.parent[rows].astype(np.int64))
    for lane in np.unique(lanes).tolist():
        reports = np.flatnonzero(gpu & (instants.lane_id == lane))
        here = np.flatnonzero(lanes == lane)
        at = np.searchsorted(instants.time_ns[reports], ends[here])
        here, at = here[at < len(reports)], reports[at[at < len(reports)]]
        inside = innermost_at(trace, np.full(len(at), lane, np.int64), instants.time_ns[at])
        same = (operator_around(trace, inside) == around[here]) & (around[here] >= 0)
        found[here[same]] = instants.allocator[at[same]]
    return found
