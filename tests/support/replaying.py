"""Replays of a recording for tests, with the parts that an analysis keeps to itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis import Analysis
from whichlayer.analysis.activities import collect_activities
from whichlayer.analysis.gaps.blocking import blocking_copies
from whichlayer.analysis.gaps.composite import Drivers
from whichlayer.analysis.gaps.host import Marks
from whichlayer.analysis.replay.build import build_schedule
from whichlayer.analysis.replay.engine import replay
from whichlayer.analysis.replay.recoverable import Replayer
from whichlayer.analysis.replay.removal import nothing
from whichlayer.analysis.replay.schedule import Schedule
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.window import bounds_on


@dataclass(frozen=True, slots=True)
class Base:
    """A replay of a whole recording with nothing taken away.

    Attributes:
        error_ns: int64 (m,), replayed minus recorded start of every activity.
        linked: share of the activities whose launch is in the file.
    """

    schedule: Schedule
    error_ns: NDArray[np.int64]
    linked: float


def base_replay(trace: Trace) -> Base | None:
    """Replay a recording as it is; None without GPU activity."""
    devices = collect_activities(trace)
    if not devices:
        return None
    marks = Marks(trace, blocking_copies(trace))
    point = (trace.steps[-1].row, trace.steps[-1].end_ns) if trace.steps else None
    schedule = build_schedule(trace, marks, Drivers(trace, marks), devices, point)
    replayed = replay(schedule, 0, nothing(schedule))
    launches = np.concatenate([device.launch for device in devices])
    return Base(schedule, replayed.start_ns - schedule.work.start_ns, float((launches >= 0).mean()))


def replayer_of(analysis: Analysis) -> Replayer:
    """What an analysis replays its window with."""
    trace, window, options = analysis.trace, analysis.window, analysis.options
    marks = Marks(trace, blocking_copies(trace))
    devices = collect_activities(trace)
    bounds = [bounds_on(trace, device, window, options) for device in devices]
    return Replayer(trace, marks, Drivers(trace, marks), devices, window, bounds, options)
