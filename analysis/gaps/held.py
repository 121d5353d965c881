"""Calls that hold the host far longer than dispatch can: loading that happens once, or unknown.

An operator is dispatched in microseconds. One that holds its thread for milliseconds, with no
call inside that would explain it, does something else. The first call of an operator loads
its kernels and initialises its library, and a first allocation call the context; what holds a
later call is not recorded.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.catalogue import cause_code
from whichlayer.analysis.gaps.first_calls import is_first_call
from whichlayer.analysis.gaps.host import Doing, HostStates
from whichlayer.analysis.intervals import blocks
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

#: An operator's own code never takes this long to dispatch (usual: 2 to 100 µs). Shorter is
#: dispatch, or an interruption that nobody can tell from it.
LEAST_NS = 1_000_000
#: A first call that loads or initialises something takes at least this long in all.
FIRST_NS = 5_000_000
#: A launch call that lasts longer than this does not only launch.
HELD_NS = 5_000_000


def without_held(states: HostStates, trace: Trace) -> HostStates:
    """The same stretches of one thread, but those too long for dispatch named as what they are.

    Args:
        states: of one thread.
        trace: the recording.
    """
    state, row = states.state, states.row
    first, end = _long_runs(states)
    told = (state[first] == Doing.DISPATCH) & (row[first] >= 0)
    first, end = first[told], end[told]
    kind = trace.kind[row[first]]
    held = (kind == SliceKind.CPU_OP) | (kind == SliceKind.RUNTIME)
    held &= ~among(row[first], trace.launch)
    if not held.any():
        return states
    changed = state.copy()
    for low, high in zip(first[held].tolist(), end[held].tolist(), strict=True):
        call = int(row[low])
        once = int(trace.end_ns[call] - trace.start_ns[call]) >= FIRST_NS
        once = once and is_first_call(trace, call)
        changed[low:high] = cause_code("module-load" if once else "unattributed")
    drain = changed
    if states.drain is not state:
        drain = np.where(states.drain == state, changed, states.drain).astype(np.int32)
    return HostStates(states.start_ns, changed, drain, row)


def _long_runs(states: HostStates) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Runs of stretches of one state and slice that last long: first stretch and end of each."""
    start, state, row = states.start_ns, states.state, states.row
    found: list[NDArray[np.int64]] = []
    open_ = np.zeros(min(len(start), 1), np.int64)
    for block in blocks(len(start)):
        low, high = block.start or 1, block.stop
        changes = (state[low:high] != state[low - 1 : high - 1]) | (
            row[low:high] != row[low - 1 : high - 1]
        )
        opens = np.concatenate((open_, np.flatnonzero(changes) + low))
        long = np.flatnonzero(np.diff(start[opens]) >= LEAST_NS)
        found.append(np.stack((opens[long], opens[long + 1])))
        open_ = opens[-1:]
    if len(start) and int(start[-1] - start[open_[0]]) >= LEAST_NS:
        found.append(np.array([open_, [len(start)]], np.int64))
    first, end = np.concatenate([np.empty((2, 0), np.int64), *found], axis=1)
    return first, end
