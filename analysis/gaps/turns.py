"""Threads of a process that take turns at calling the runtime: one waits while the other works.

Where operators are recorded, autograd's thread is told by them. Of calls alone, a thread that
waits for another shows in their order: many calls of one, then many of the other. Threads that
work side by side make theirs in between each other's.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

#: Threads take turns whose turns are of so many calls on the average.
_CALLS = 5


def taking_turns(trace: Trace, lane: int, other: int) -> bool:
    """Whether two threads call the runtime by turns and not side by side."""
    mine, theirs = _calls(trace, lane), _calls(trace, other)
    whose = np.repeat([0, 1], [len(mine), len(theirs)])
    order = np.argsort(np.concatenate((mine, theirs)), kind="stable")
    turns = 1 + int(np.count_nonzero(np.diff(whose[order])))
    return turns > 1 and 2 * min(len(mine), len(theirs)) >= _CALLS * turns


def _calls(trace: Trace, lane: int) -> NDArray[np.int64]:
    """When a thread began its calls: int64 (n,)."""
    span = slice(*trace.lane_rows[lane : lane + 2].tolist())
    return np.asarray(trace.start_ns[span][trace.kind[span] == SliceKind.RUNTIME], np.int64)
