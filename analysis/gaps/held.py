"""Calls that hold the host far longer than dispatch can: loading that happens once, or unknown.

An operator is dispatched in microseconds. One that holds its thread for milliseconds, with no
call inside that would explain it, does something else. The first call of an operator loads
its kernels and initialises its library, and a first allocation call the context; what holds a
later call is not recorded.
"""

from __future__ import annotations

import numpy as np

from whichlayer.analysis.gaps.catalogue import cause_code
from whichlayer.analysis.gaps.first_calls import is_first_call
from whichlayer.analysis.gaps.host import Doing, HostStates
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
    if not len(state):
        return states
    opens = np.flatnonzero(
        np.concatenate(([True], (state[1:] != state[:-1]) | (row[1:] != row[:-1])))
    )
    start = states.start_ns[opens]
    lasts = np.append(start[1:], states.start_ns[-1]) - start
    owner = row[opens]
    told = (state[opens] == Doing.DISPATCH) & (owner >= 0)
    kind = trace.kind[np.maximum(owner, 0)]
    told &= (kind == SliceKind.CPU_OP) | (kind == SliceKind.RUNTIME)
    held = np.flatnonzero(told & (lasts >= LEAST_NS))
    held = held[~np.isin(owner[held], trace.launch)]
    if not len(held):
        return states
    changed = state.copy()
    ends = np.append(opens[1:], len(state))
    for at in held.tolist():
        call = int(owner[at])
        first = int(trace.end_ns[call] - trace.start_ns[call]) >= FIRST_NS
        first = first and is_first_call(trace, call)
        changed[opens[at] : ends[at]] = cause_code("module-load" if first else "unattributed")
    drain = np.where(states.drain == state, changed, states.drain).astype(np.int32)
    return HostStates(states.start_ns, changed, drain, row)
