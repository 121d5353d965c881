"""Says of a thread's stretches without an operator whether they are dispatch or what they show.

Of a million stretches most are operators and calls: only the others are looked at, and the
pauses that they make up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.findings.where import is_generated
from whichlayer.analysis.gaps.catalogue import cause_code
from whichlayer.analysis.gaps.host import Doing, HostStates
from whichlayer.analysis.gaps.overlay import PASSIVE
from whichlayer.analysis.gaps.pauses import (
    CRUMB_NS,
    Pauses,
    beside,
    between_waits,
    lasting_waits,
    shortest_ns,
    users_python,
    usual_pause,
    without_launches,
)
from whichlayer.analysis.gaps.relabel import any_of
from whichlayer.analysis.gaps.remembered import once_per_trace
from whichlayer.analysis.gaps.silent import is_silent, longest_dispatch
from whichlayer.analysis.options import Options
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Bool = NDArray[np.bool_]
Int64 = NDArray[np.int64]

#: Hand-overs to the autograd thread without an event last up to this (seen: 0.1 to 3 ms).
MAX_HANDOVER_NS = 3_000_000
#: States in which neither an operator nor a call runs.
WEAK = (*PASSIVE, int(Doing.PYTHON), int(Doing.ANNOTATED))


def judge_stretches(
    states: HostStates, trace: Trace, lanes: Sequence[int], options: Options
) -> HostStates:
    """Short stretches without an operator are dispatch; long ones are what they show.

    Args:
        states: of one thread.
        trace: the recording.
        lanes: the thread and those that stand in for it.
        options: what is the user's own, and how long a pause means something.
    """
    if not len(states.start_ns):
        return states
    state = states.state.copy()
    # The autograd engine takes its time to wake a thread and to find the first node.
    waits = Pauses.of(states, state == Doing.WAITING)
    state[waits.at[waits.lasts < MAX_HANDOVER_NS]] = Doing.DISPATCH
    pauses = Pauses.of(states, any_of(state, WEAK))
    at, doing = pauses.at, state[pauses.at]
    told = users_python(pauses, states, trace, doing, options)
    lasting = lasting_waits(pauses, doing, options)
    told |= lasting
    least_ns = shortest_ns(options)
    usual = usual_pause(pauses.run_lasts, least_ns)
    if is_silent(trace, lanes[0]):
        usual = min(usual, longest_dispatch(pauses.run_lasts, least_ns))
    short = (pauses.lasts < usual) & ~told
    idle = short & without_launches(pauses, states, trace, lanes)
    long = ~short | idle
    python = ~short & (doing == Doing.PYTHON)
    noted = np.flatnonzero(long & (doing == Doing.ANNOTATED))
    python[noted] = _names_it(pauses, states, trace, noted)
    lasting |= between_waits(pauses, lasting)
    python &= ~lasting
    # A crumb between a frame's end and the next operator belongs to the Python around it.
    crumb = long & ~python & ~lasting & (pauses.length < CRUMB_NS)
    python |= crumb & beside(at, python)
    wraps = _in_generated_code(states.row[at], trace, python)
    python &= ~wraps
    state[at[~long | wraps]] = Doing.DISPATCH
    state[at[python]] = cause_code("python-overhead")
    state[at[long & ~python & ~wraps]] = cause_code("unattributed")
    drain = state
    if states.drain is not states.state:
        drain = np.where(states.drain == states.state, state, states.drain).astype(np.int32)
    return HostStates(states.start_ns, state, drain, states.row)


def _in_generated_code(row: NDArray[np.int32], trace: Trace, among: Bool) -> Bool:
    """Which stretches are Python that torch.compile wrote: it only dispatches."""
    found = np.zeros(len(row), np.bool_)
    generated = _generated_names(trace)
    at = np.flatnonzero(among & (row >= 0))
    if not generated.any() or not len(at):
        return found
    up = row[at].astype(np.int64)
    while len(at):
        hit = (trace.kind[up] == SliceKind.PYTHON) & generated[trace.name_id[up]]
        found[at[hit]] = True
        up = trace.parent[up].astype(np.int64)
        going = ~hit & (up >= 0)
        at, up = at[going], up[going]
    return found


@once_per_trace
def _generated_names(trace: Trace) -> Bool:
    return np.array([is_generated(text) for text in trace.strings], np.bool_)


def _names_it(pauses: Pauses, states: HostStates, trace: Trace, noted: NDArray[np.intp]) -> Bool:
    """Where an annotation is about little else than this stretch, it says what was done.

    One around a whole iteration says nothing about a hole in it.
    """
    told = states.row[pauses.at[noted]]
    row = np.maximum(told, 0)
    whole = trace.end_ns[row] - trace.start_ns[row]
    return np.asarray((told >= 0) & (2 * pauses.length[noted] >= whole))
