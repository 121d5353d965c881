"""The stretches of a process's time that tell what phase of a step it is in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.steps.model import Phase
from whichlayer.analysis.steps.phase_names import phase_of
from whichlayer.analysis.trace.columns import Step, StepSource, Trace
from whichlayer.analysis.trace.kinds import SliceKind

Int64 = NDArray[np.int64]
Rows = NDArray[np.intp]

#: The autograd thread needs this long from one operator to the next at most (measured: hand-overs
#: take up to 3 ms; what is longer is somebody else's time).
HAND_OVER_NS = 3_000_000

_TELLING = (SliceKind.ANNOTATION, SliceKind.PYTHON, SliceKind.CPU_OP)
_TO_DEVICE = ("HtoD", "Host -> Device", "Host To Device", "HostToDevice")


class Strength(IntEnum):
    """Which of several marks of one instant counts: the strongest."""

    HAND_OVER = 0  # between two operators of the backward pass
    BEFORE_BACKWARD = 1  # operators that a backward pass follows
    COPY_IN = 2  # an operator that copies from the host
    FORWARD = 3
    BACKWARD = 4  # recomputes forward in it, with activation checkpointing
    OPTIMIZER = 5
    INPUT = 6


@dataclass(frozen=True, slots=True)
class Stretches:
    """Time of one phase, in any order, overlapping or not.

    Attributes:
        strength: of all of them.
        phase: that they tell.
        start_ns, end_ns: int64 (n,).
    """

    strength: Strength
    phase: Phase
    start_ns: Int64
    end_ns: Int64


_BY_NAME = (
    (Phase.FORWARD, Strength.FORWARD),
    (Phase.BACKWARD, Strength.BACKWARD),
    (Phase.OPTIMIZER, Strength.OPTIMIZER),
    (Phase.INPUT, Strength.INPUT),
)


def phase_marks(trace: Trace, steps: Sequence[Step]) -> list[Stretches]:
    """What tells phases in the process that runs some steps; nothing where nothing does.

    Args:
        trace: the recording.
        steps: on the host, at least one.
    """
    lane = steps[0].lane_id
    process = trace.lanes[lane].pid
    ours = np.array([one.pid == process for one in trace.lanes], np.bool_)
    rows = np.flatnonzero(among(trace.kind, _TELLING) & ours[trace.lane_id] & ~trace.stray)
    told = _told(trace, rows)
    if steps[0].source is StepSource.INFERRED:
        lane = _telling_lane(trace, lane, rows[(told >= 0) & (told != Phase.BACKWARD)])
    # What other threads prepare meanwhile is not what the step is at; backward is theirs.
    told[(told != Phase.BACKWARD) & (trace.lane_id[rows] != lane)] = -1
    found = []
    for phase, strength in _BY_NAME:
        mine = rows[told == phase]
        if len(mine):
            found.append(Stretches(strength, phase, trace.start_ns[mine], trace.end_ns[mine]))
    backward = rows[(told == Phase.BACKWARD) & (trace.kind[rows] == SliceKind.CPU_OP)]
    if len(backward):
        ends = [edge for step in steps for edge in (step.start_ns, step.end_ns)]
        updates = trace.start_ns[rows[_updating(trace, rows)]]
        barriers = np.sort(np.concatenate((np.array(ends, np.int64), updates)))
        found.append(_hand_overs(trace, backward, barriers))
        found += _by_structure(trace, lane, backward, barriers)
    return found


def _updating(trace: Trace, rows: Rows) -> NDArray[np.bool_]:
    """Which annotations are optimiser steps: what comes before them leads to no backward pass."""
    ids = np.unique(trace.name_id[rows[trace.kind[rows] == SliceKind.ANNOTATION]]).tolist()
    names = [i for i in ids if trace.strings[i].startswith("Optimizer.step#")]
    return among(trace.name_id[rows], names)


def _telling_lane(trace: Trace, lane: int, rows: Rows) -> int:
    """The thread with most of these slices; the given one without any."""
    return int(np.bincount(trace.lane_id[rows]).argmax()) if len(rows) else lane


def _told(trace: Trace, rows: Rows) -> NDArray[np.int8]:
    """The phase that the name of each slice tells, -1 for none; each name is looked at once."""
    keys = trace.name_id[rows].astype(np.int64) * len(SliceKind) + trace.kind[rows]
    unique, place = np.unique(keys, return_inverse=True)
    phases = np.full(len(unique), -1, np.int8)
    for index, key in enumerate(unique.tolist()):
        name, kind = divmod(key, len(SliceKind))
        phase = phase_of(SliceKind(kind), trace.strings[name])
        phases[index] = -1 if phase is None else phase
    told: NDArray[np.int8] = phases[place]
    return told


def _hand_overs(trace: Trace, backward: Rows, barriers: Int64) -> Stretches:
    """From each operator of the backward pass to the next of its thread and step."""
    start, end = trace.end_ns[backward[:-1]], trace.start_ns[backward[1:]]
    lane = trace.lane_id[backward]
    near = (lane[1:] == lane[:-1]) & (end > start) & (end - start <= HAND_OVER_NS)
    near &= _next(barriers, start) >= end
    return Stretches(Strength.HAND_OVER, Phase.BACKWARD, start[near], end[near])


def _by_structure(trace: Trace, lane: int, backward: Rows, barriers: Int64) -> Iterator[Stretches]:
    """What operators of the main thread tell by what follows them and what they copy."""
    rows = _operators(trace, lane, backward)
    if not len(rows):
        rows = _operators(trace, _main_lane(trace, lane, backward), backward)
    if not len(rows):
        return
    own = among(rows, _copying_in(trace))
    yield Stretches(
        Strength.COPY_IN, Phase.INPUT, trace.start_ns[rows[own]], trace.end_ns[rows[own]]
    )
    # Forward is what leads up to a backward pass of the same step, pauses included.
    start = trace.start_ns[rows]
    end = np.append(start[1:], trace.end_ns[rows[-1]])
    begins = _next(np.sort(trace.start_ns[backward]), start)
    leads = begins < _next(barriers, start)
    yield Stretches(
        Strength.BEFORE_BACKWARD, Phase.FORWARD, start[leads], np.minimum(end, begins)[leads]
    )


def _next(times: Int64, after: Int64) -> Int64:
    """The first of some sorted times after each instant, the far future where there is none."""
    far = np.append(times, np.iinfo(np.int64).max)
    found: Int64 = far[np.searchsorted(times, after, "right")]
    return found


def _operators(trace: Trace, lane: int, backward: Rows) -> Rows:
    """The outermost operators of a thread that are none of a backward pass."""
    first, last = trace.lane_rows[lane : lane + 2].tolist()
    rows = np.arange(first, last)
    rows = rows[(trace.kind[first:last] == SliceKind.CPU_OP) & ~trace.stray[first:last]]
    rows = rows[_on_top(trace, rows)]
    found: Rows = rows[~among(rows, backward)]
    return found


def _main_lane(trace: Trace, lane: int, backward: Rows) -> int:
    """The thread of the process with the most operators that runs no backward pass."""
    process = trace.lanes[lane].pid
    counts = np.bincount(trace.lane_id[trace.kind == SliceKind.CPU_OP], minlength=len(trace.lanes))
    counts[np.unique(trace.lane_id[backward])] = 0
    counts[[one.pid != process for one in trace.lanes]] = 0
    return int(counts.argmax())


def _on_top(trace: Trace, rows: Rows) -> NDArray[np.bool_]:
    """Operators that lie in no other operator, whatever annotations and frames are around."""
    up = trace.parent[rows]
    inside = np.zeros(len(rows), np.bool_)
    while bool((up >= 0).any()):
        one = np.maximum(up, 0)
        inside |= (up >= 0) & (trace.kind[one] == SliceKind.CPU_OP)
        up = np.where((up >= 0) & ~inside, trace.parent[one], -1)
    return ~inside


def _copying_in(trace: Trace) -> Rows:
    """The outermost operators in which copies from the host were launched."""
    rows = np.flatnonzero((trace.kind == SliceKind.MEMCPY) & (trace.launch >= 0))
    names = [
        i
        for i in np.unique(trace.name_id[rows]).tolist()
        if any(word in trace.strings[i] for word in _TO_DEVICE)
    ]
    up = np.unique(trace.launch[rows[among(trace.name_id[rows], names)]])
    found = np.full(len(up), -1, np.int64)
    while bool((up >= 0).any()):
        one = np.maximum(up, 0)
        found = np.where((up >= 0) & (trace.kind[one] == SliceKind.CPU_OP), up, found)
        up = np.where(up >= 0, trace.parent[one], -1)
    return np.unique(found[found >= 0]).astype(np.intp)
