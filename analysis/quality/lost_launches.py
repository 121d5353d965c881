"""Launches whose kernels are missing from a recording."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.quality.launch_calls import launch_rows
from whichlayer.analysis.results import Window
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind

Bool = NDArray[np.bool_]
Int32 = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class LostLaunches:
    """The launches that count, and which of them have lost their kernels.

    Attributes:
        row: int32 (n,), trace rows of launch calls, captures left out, sorted by start.
        lost: bool (n,), no activity of the recording can be theirs.
    """

    row: Int32
    lost: Bool


@dataclass(frozen=True, slots=True)
class StepShare:
    """How many of a step's launches are lost."""

    name: str
    launches: int
    lost: int

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.lost / self.launches


def lost_launches(trace: Trace) -> LostLaunches:
    """The launches without a kernel that neither capture nor a failed join explains."""
    rows = launch_rows(trace)
    launched = np.zeros(len(trace), np.bool_)
    launched[trace.launch[trace.launch >= 0]] = True
    inner = rows[among(trace.parent[rows], rows)]
    # A runtime call and the driver's inside it are one launch, whichever has the kernel.
    launched[trace.parent[inner][launched[inner]]] = True
    rows = rows[~among(rows, inner)]
    rows = rows[launched[rows] | ~_capturing(trace, rows)]
    rows = rows[np.argsort(trace.start_ns[rows], kind="stable")]
    lost = ~launched[rows]
    if lost.any():
        lost[lost] = _unmatched(trace.start_ns[rows[lost]], _orphans(trace))
    return LostLaunches(rows, lost)


def shares_by_step(trace: Trace, window: Window, launches: LostLaunches) -> Iterator[StepShare]:
    """The share of each step of the window; of the whole window where it has none.

    Without steps, launches after a thread's last that has a kernel do not count: the window
    ends with the last activity, and theirs came later.
    """
    start = trace.start_ns[launches.row]
    counts = np.concatenate(([0], np.cumsum(launches.lost)))
    steps = [step for step in window.steps if step.on_host]
    for step in steps:
        first, stop = np.searchsorted(start, [step.start_ns, step.end_ns]).tolist()
        if stop > first:
            yield StepShare(step.name, stop - first, int(counts[stop] - counts[first]))
    if not steps:
        inside = (start < window.end_ns) & ~_after_last(trace, launches)
        if inside.any():
            lost = int((inside & launches.lost).sum())
            yield StepShare("the window", int(inside.sum()), lost)


def _after_last(trace: Trace, launches: LostLaunches) -> Bool:
    """Launches that follow the last of their thread that has a kernel."""
    lane = trace.lane_id[launches.row]
    position = np.arange(len(lane))
    last = np.full(len(trace.lanes), len(lane))
    found = ~launches.lost
    last[lane] = np.where(among(lane, lane[found]), -1, len(lane))
    np.maximum.at(last, lane[found], position[found])
    return np.asarray(position > last[lane])


def _capturing(trace: Trace, rows: Int32) -> Bool:
    """Launches made while some thread of their process captures a graph."""
    calls = np.flatnonzero(trace.kind == SliceKind.RUNTIME)
    begins = _named(trace, calls, "StreamBeginCapture")
    ends = _named(trace, calls, "StreamEndCapture")
    result = np.zeros(len(rows), np.bool_)
    for process in {trace.lanes[i].pid for i in np.unique(trace.lane_id[rows]).tolist()}:
        lanes = [i for i, lane in enumerate(trace.lanes) if lane.pid == process]
        opened = np.sort(trace.start_ns[begins[among(trace.lane_id[begins], lanes)]])
        closed = np.sort(trace.end_ns[ends[among(trace.lane_id[ends], lanes)]])
        if not len(opened) and not len(closed):
            continue
        mine = among(trace.lane_id[rows], lanes)
        at = trace.start_ns[rows[mine]]
        # A capture that was open when the recording began has an end alone.
        before = max(0, len(closed) - len(opened))
        depth = np.searchsorted(opened, at, "right") - np.searchsorted(closed, at, "right")
        result[mine] = depth + before > 0
    return result


def _named(trace: Trace, calls: NDArray[np.intp], word: str) -> NDArray[np.intp]:
    ids = [i for i in np.unique(trace.name_id[calls]).tolist() if word in trace.strings[i]]
    return calls[among(trace.name_id[calls], ids)]


def _orphans(trace: Trace) -> NDArray[np.int64]:
    """Starts of kernels whose launch is not known, sorted."""
    alone = among(trace.kind, GPU_WORK) & (trace.launch < 0) & ~trace.stray
    return np.sort(trace.start_ns[alone])


def _unmatched(launches: NDArray[np.int64], orphans: NDArray[np.int64]) -> Bool:
    """Launches that stay without a kernel when each later orphan serves one launch at most.

    Args:
        launches: int64 (n,), starts, sorted.
        orphans: int64 (m,), starts, sorted.
    """
    later = len(orphans) - np.searchsorted(orphans, launches, "left")
    following = np.arange(len(launches), 0, -1)
    excess = (following - later)[::-1]
    before = np.concatenate(([0], np.maximum.accumulate(excess)[:-1]))
    return np.asarray((excess > np.maximum(before, 0))[::-1])
