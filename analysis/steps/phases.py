"""Each step's time by phase, on its thread and on the devices; both add up exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.intervals import union
from whichlayer.analysis.results import Gaps, Kernels, State
from whichlayer.analysis.steps.model import Phase
from whichlayer.analysis.steps.phase_marks import Stretches, phase_marks
from whichlayer.analysis.steps.pieces import Pieces, total_by
from whichlayer.analysis.trace.columns import Step, Trace

Int64 = NDArray[np.int64]
_PHASES = len(Phase)


@dataclass(frozen=True, slots=True)
class HostPhases:
    """What phase the program is in, from instant to instant.

    Attributes:
        trace: the recording.
        start_ns: int64 (n,), sorted; before the first and where nothing tells, ``OTHER``.
        phase: int64 (n,), from each of these on.
    """

    trace: Trace
    start_ns: Int64
    phase: Int64

    def at(self, time_ns: Int64) -> Int64:
        """The phase at some instants: int64 (n,)."""
        place = np.searchsorted(self.start_ns, time_ns, "right")
        return np.concatenate(([Phase.OTHER], self.phase))[place]

    def by_step(self, steps: Sequence[Step]) -> Int64:
        """Time of each step on its thread by phase: int64 (steps, phases)."""
        begin = np.array([step.start_ns for step in steps], np.int64)
        end = np.array([step.end_ns for step in steps], np.int64)
        cuts = np.unique(np.concatenate((self.start_ns, begin, end)))
        low, high = cuts[:-1], cuts[1:]
        owner = np.searchsorted(begin, low, "right") - 1
        inside = (owner >= 0) & (low < end[np.maximum(owner, 0)])
        keys = owner[inside] * _PHASES + self.at(low[inside])
        return total_by(keys, (high - low)[inside], len(steps) * _PHASES).reshape(-1, _PHASES)

    def of_pieces(self, pieces: Pieces, gaps: Gaps, kernels: Kernels) -> Int64:
        """Time of each step on the devices by phase: int64 (steps, phases).

        Work is of the phase that launched it; idle time of the phase whose work it waits for.
        """
        launch = np.full(len(pieces.ref), -1, np.int64)
        gap = pieces.state == State.GAP
        launch[gap] = gaps.launch_row[pieces.ref[gap]]
        busy = pieces.state <= State.UNJUDGED
        launch[busy] = self.trace.launch[kernels.row[pieces.ref[busy]]]
        after = (pieces.state == State.SPACING) & (pieces.following >= 0)
        launch[after] = self.trace.launch[kernels.row[pieces.following[after]]]
        phase = np.full(len(launch), Phase.OTHER, np.int64)
        known = launch >= 0
        phase[known] = self.at(self.trace.start_ns[launch[known]])
        keys = pieces.step * _PHASES + phase
        return total_by(keys, pieces.length_ns, pieces.steps * _PHASES).reshape(-1, _PHASES)


def host_phases(trace: Trace, steps: Sequence[Step]) -> HostPhases | None:
    """The phases of the process that runs the steps; None where nothing tells them."""
    if not steps or not steps[0].on_host or trace.part is not None:
        return None
    marks = phase_marks(trace, steps)
    return _painted(trace, marks) if any(len(one.start_ns) for one in marks) else None


def _painted(trace: Trace, marks: Sequence[Stretches]) -> HostPhases:
    """One phase per instant, that of the strongest mark."""
    marks = sorted(marks, key=lambda one: one.strength)
    sets = [union(one.start_ns, one.end_ns) for one in marks]
    cuts = np.unique(np.concatenate([edge for one in sets for edge in (one.start, one.end)]))
    phase = np.full(len(cuts), Phase.OTHER, np.int64)
    for mark, one in zip(marks, sets, strict=True):
        if len(one):
            place = np.searchsorted(one.start, cuts, "right") - 1
            inside = (place >= 0) & (cuts < one.end[np.maximum(place, 0)])
            phase[inside] = mark.phase
    return HostPhases(trace, cuts, phase)
