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
        sums = np.zeros((len(steps), _PHASES), np.int64)
        for phase in Phase:
            if phase != Phase.OTHER:
                sums[:, phase] = self._until(end, phase) - self._until(begin, phase)
        sums[:, Phase.OTHER] = end - begin - sums.sum(axis=1)
        return sums

    def _until(self, time_ns: Int64, phase: Phase) -> Int64:
        """How much of a phase lies before each instant: int64 (n,)."""
        own = self.phase == phase
        length = np.where(own[:-1], np.diff(self.start_ns), 0)
        before = np.concatenate(([0, 0], np.cumsum(length)))
        place = np.searchsorted(self.start_ns, time_ns, "right")
        begun = np.maximum(place - 1, 0)
        inside = (place > 0) & own[begun]
        return before[place] + np.where(inside, time_ns - self.start_ns[begun], 0)

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
    if not steps or not steps[0].on_host:
        return None
    painted = _painted(trace, phase_marks(trace, steps))
    return painted if len(painted.start_ns) else None


def _painted(trace: Trace, marks: Sequence[Stretches]) -> HostPhases:
    """One phase per instant, that of the strongest mark."""
    marks = sorted(marks, key=lambda one: one.strength)
    sets = [union(one.start_ns, one.end_ns) for one in marks]
    edges = [edge for one in sets for edge in (one.start, one.end)]
    cuts = np.unique(np.concatenate(edges)) if edges else np.empty(0, np.int64)
    phase = np.full(len(cuts), Phase.OTHER, np.int64)
    for mark, one in zip(marks, sets, strict=True):
        if len(one):
            place = np.searchsorted(one.start, cuts, "right") - 1
            inside = (place >= 0) & (cuts < one.end[np.maximum(place, 0)])
            phase[inside] = mark.phase
    return HostPhases(trace, cuts, phase)
