"""Which calls and which work a replay consists of, in order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.catalogue import cause_code
from whichlayer.analysis.gaps.host import Marks
from whichlayer.analysis.replay.schedule import NEVER, CallKind, Calls, Int64, Work
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

#: Calls that free device or pinned memory wait for the device as well.
FREES = re.compile(r"^(cuda|hip)(Free|FreeHost|HostFree|HostUnregister)$|^cuMemFree(Host)?(_v2)?$")

#: Where a thread waits for the loader's worker processes, which work at their own pace.
_GETS = re.compile(r"(^|/)multiprocessing/(queues|connection)\.py\(|(^|/)queue\.py\(\d+\): get\b")
#: The call around it, where no frames were recorded.
_LOADER = re.compile(r"_MultiProcessingDataLoaderIter")
#: Shorter than this, a batch was there already, and the call is only slow Python.
_WAITED_NS = 1_000_000


@dataclass(frozen=True, slots=True)
class _Column:
    """Calls before they are in order: one row each."""

    row: Int64
    kind: Int64
    lane: Int64
    begin_ns: Int64
    end_ns: Int64


def calls_and_work(
    trace: Trace, marks: Marks, devices: Sequence[Activities], point: tuple[int, int] | None
) -> tuple[Calls, Work]:
    """The calls of the launching threads and the work of the devices.

    Args:
        trace: the recording.
        marks: of this trace.
        devices: whose work is replayed.
        point: (row, instant) of a slice whose end is looked at, or None.
    """
    launch = np.concatenate([d.launch for d in devices]).astype(np.int64)
    start = np.concatenate([d.start_ns for d in devices])
    lane = np.concatenate([d.lane for d in devices])
    launches, loose = np.unique(launch[launch >= 0]), np.flatnonzero(launch < 0)
    queued = _queued_at_latest(trace, start, lane, launch)
    found = _of_threads(trace, marks, launches, point)
    none = np.full(len(loose), -1, np.int64)
    found = _Column(
        np.concatenate((found.row, none)),
        np.concatenate((found.kind, np.full(len(loose), CallKind.DEVICE))),
        np.concatenate((found.lane, none)),
        np.concatenate((found.begin_ns, queued[loose])),
        np.concatenate((found.end_ns, queued[loose])),
    )
    # Work without a launch goes first among what begins at its instant.
    order = np.lexsort((found.row, found.begin_ns))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    owner = np.empty(len(launch), np.int64)
    owner[loose] = place[len(order) - len(loose) :]
    owner[launch >= 0] = place[np.searchsorted(launches, launch[launch >= 0])]
    counts = np.bincount(owner, minlength=len(order))
    return _calls(found, order, counts), _work(devices, owner)


def _of_threads(
    trace: Trace, marks: Marks, launches: Int64, point: tuple[int, int] | None
) -> _Column:
    """The calls of the launching threads, launches first in the order of their rows."""
    threads = np.unique(trace.lane_id[launches])
    if point is not None:
        threads = np.unique(np.append(threads, trace.lane_id[point[0]]))
    waits = _waiting_calls(trace, marks, threads, launches)
    peers = _waits_for_workers(trace, threads)
    rows = np.concatenate((launches, waits, peers)).astype(np.int64)
    kinds = (CallKind.LAUNCH, CallKind.WAIT, CallKind.PEER)
    kind = np.repeat(kinds, [len(launches), len(waits), len(peers)]).astype(np.int64)
    kind[among(rows, np.fromiter(marks.blocking, np.int64, len(marks.blocking)))] = CallKind.COPY
    begin, end = trace.start_ns[rows], trace.end_ns[rows]
    if point is not None:
        rows, kind = np.append(rows, point[0]), np.append(kind, CallKind.POINT)
        begin, end = np.append(begin, point[1]), np.append(end, point[1])
    return _Column(rows, kind, trace.lane_id[rows].astype(np.int64), begin, end)


def _calls(found: _Column, order: Int64, counts: Int64) -> Calls:
    kind, begin, end = found.kind[order], found.begin_ns[order], found.end_ns[order]
    queues = among(kind, (CallKind.LAUNCH, CallKind.DEVICE))
    return Calls(
        row=found.row[order].astype(np.int32),
        kind=kind.astype(np.uint8),
        lane=found.lane[order].astype(np.int32),
        begin_ns=begin,
        enter_ns=np.where(queues, end, begin),
        leave_ns=end,
        first_work=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
    )


def _waiting_calls(
    trace: Trace, marks: Marks, threads: NDArray[np.integer], launches: Int64
) -> Int64:
    """Rows of calls on these threads that wait for the device and queue nothing.

    Where one wait is inside another, the outer one counts.
    """
    frees = [i for i, text in enumerate(trace.strings) if FREES.match(text)]
    wanted = (marks.code == cause_code("host-sync")) | among(trace.name_id, frees)
    wanted &= (trace.kind == SliceKind.RUNTIME) & ~trace.stray
    wanted[launches] = False
    rows = np.flatnonzero(wanted)
    rows = rows[among(trace.lane_id[rows], threads)]
    around = np.concatenate((rows, np.fromiter(marks.blocking, np.int64, len(marks.blocking))))
    inside = among(trace.parent[rows], around)
    return np.asarray(rows[~inside], np.int64)


def _waits_for_workers(trace: Trace, threads: NDArray[np.integer]) -> Int64:
    """The outermost slices in which these threads waited for the loader's workers."""
    gets = [i for i, text in enumerate(trace.strings) if _GETS.search(text)]
    rows = np.flatnonzero(among(trace.name_id, gets) & (trace.kind == SliceKind.PYTHON))
    if not len(rows):
        calls = [i for i, text in enumerate(trace.strings) if _LOADER.search(text)]
        kinds = (SliceKind.ANNOTATION, SliceKind.CPU_OP)
        rows = np.flatnonzero(among(trace.name_id, calls) & among(trace.kind, kinds))
    rows = rows[among(trace.lane_id[rows], threads) & ~trace.stray[rows]]
    rows = rows[trace.end_ns[rows] - trace.start_ns[rows] >= _WAITED_NS]
    found, reach, lane = [], 0, -1
    for row in rows.tolist():
        if trace.lane_id[row] != lane:
            lane, reach = int(trace.lane_id[row]), 0
        if trace.start_ns[row] >= reach:
            found.append(row)
            reach = int(trace.end_ns[row])
    return np.array(found, np.int64)


def _queued_at_latest(trace: Trace, start: Int64, lane: NDArray[np.int32], launch: Int64) -> Int64:
    """When each activity was queued, at the latest: streams run in order."""
    queued = np.where(launch >= 0, trace.start_ns[launch], start)
    for stream in np.unique(lane[launch < 0]):
        mine = np.flatnonzero(lane == stream)
        mine = mine[np.argsort(start[mine], kind="stable")]
        later = np.minimum.accumulate(queued[mine][::-1])[::-1]
        queued[mine] = np.where(launch[mine] < 0, later, queued[mine])
    return queued


def _work(devices: Sequence[Activities], owner: Int64) -> Work:
    """The activities of all devices by their call, each call's by start.

    Args:
        devices: whose work it is.
        owner: int64 (m,), the call of each activity, device after device.
    """
    start = np.concatenate([d.start_ns for d in devices])
    order = np.lexsort((start, owner))
    start, end = start[order], np.concatenate([d.end_ns for d in devices])[order]
    device = np.repeat(np.arange(len(devices)), [len(d) for d in devices])
    _, number = np.unique(np.concatenate([d.lane for d in devices]), return_inverse=True)
    stream = number.astype(np.int32)[order]
    before, previous = _earlier_work(stream, end)
    return Work(
        row=np.concatenate([d.row for d in devices])[order].astype(np.int32),
        call=owner[order],
        start_ns=start,
        end_ns=end,
        device=device[order].astype(np.int32),
        stream=stream,
        role=np.concatenate([d.role for d in devices])[order],
        before_ns=before,
        before_work=previous,
    )


def _earlier_work(stream: NDArray[np.int32], end: Int64) -> tuple[Int64, Int64]:
    """When each stream's earlier work had ended, and which came last."""
    before = np.full(len(stream), NEVER, np.int64)
    previous = np.full(len(stream), -1, np.int64)
    by_stream = np.argsort(stream, kind="stable")
    edges = np.flatnonzero(np.diff(stream[by_stream])) + 1
    for mine in np.split(by_stream, edges):
        before[mine[1:]] = np.maximum.accumulate(end[mine])[:-1]
        previous[mine[1:]] = mine[:-1]
    return before, previous
