"""What a thread does where it neither runs an operator nor launches: Python, nothing, or dispatch.

Between two operators every program pauses, and recorded stacks and slow hosts stretch each
pause, so a short one is dispatch. It is none where the user's own code runs in it, which is
recorded, nor where the thread launches nothing for milliseconds of mostly pauses.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.findings.where import is_users_frame
from whichlayer.analysis.gaps.host import Doing, HostStates
from whichlayer.analysis.gaps.remembered import once_per_trace
from whichlayer.analysis.options import Options
from whichlayer.analysis.settings import threshold
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Bool = NDArray[np.bool_]
Int64 = NDArray[np.int64]

#: Pauses this much longer than nine in ten of the thread's own, or than the median one, are
#: something of their own: the latter because slow pauses may be more than one in ten.
_OF_MOST, _OF_MEDIAN = 5, 10
#: Longer than this is never an ordinary pause between two operators.
_LONGEST_NS = 1_000_000
#: Fewer pauses do not tell what is usual.
_FEWEST = 20
#: A thread that dispatches launches something within this time.
_NO_LAUNCH_NS = 5_000_000

_BUILT_IN = "<built-in"


def shortest_ns(options: Options) -> float:
    """Shorter stretches without an operator are the framework between two: dispatch."""
    return 1000 * threshold(options, "python-overhead", "min_us")


def usual_pause(lasts: Int64, weak: Bool, least_ns: float) -> float:
    """Up to how long this thread pauses between operators without that meaning anything.

    Args:
        lasts: int64 (n,), for each stretch how long the pause is that it belongs to.
        weak: bool (n,), which stretches are pauses.
        least_ns: shorter pauses never mean anything (:func:`shortest_ns`).
    """
    starts = weak & np.concatenate(([True], ~weak[:-1]))
    pauses = lasts[starts]
    if len(pauses) < _FEWEST:
        return least_ns
    median, most = np.percentile(pauses, [50, 90])
    usual = int(min(_OF_MOST * most, _OF_MEDIAN * median))
    return max(least_ns, min(usual, _LONGEST_NS))


def users_python(states: HostStates, trace: Trace, weak: Bool, options: Options) -> Bool:
    """Stretches in which the user's own Python runs, of pauses that hold enough of it.

    A frame of PyTorch's or of a package between two operators is dispatch; a function of
    Python's own counts for whoever calls it.
    """
    found = np.zeros(len(states.start_ns), np.bool_)
    at = np.flatnonzero(weak & (states.state == Doing.PYTHON) & (states.row >= 0))
    if not len(at):
        return found
    users, built_in = _frames(trace, options.source_roots)
    up = states.row[at].astype(np.int64)
    while len(at):
        frame = trace.kind[up] == SliceKind.PYTHON
        name = trace.name_id[up]
        found[at[frame & users[name]]] = True
        parent = trace.parent[up].astype(np.int64)
        going = (~frame | built_in[name]) & (parent >= 0)
        at, up = at[going], parent[going]
    length = np.append(np.diff(states.start_ns), 0)
    pause = np.cumsum(weak & np.concatenate(([True], ~weak[:-1])))
    total = np.bincount(pause[found], length[found], minlength=int(pause[-1]) + 1)
    return np.asarray(found & (total[pause] >= shortest_ns(options)))


def without_launches(states: HostStates, trace: Trace, weak: Bool, lanes: Sequence[int]) -> Bool:
    """Pauses of times without a launch of these threads that are mostly pauses."""
    launches = _launch_starts(trace)
    none = np.empty(0, np.int64)
    starts = np.sort(np.concatenate([none, *(launches[n] for n in lanes if n in launches)]))
    if len(starts) < 2:
        return np.zeros(len(weak), np.bool_)
    length = np.append(np.diff(states.start_ns), 0)
    between = np.searchsorted(starts, states.start_ns, "right")
    paused = np.bincount(between[weak], length[weak], minlength=len(starts) + 1)
    whole = np.concatenate(([0], np.diff(starts), [0]))
    return np.asarray(weak & (whole[between] >= _NO_LAUNCH_NS) & (2 * paused >= whole)[between])


@once_per_trace
def _known_frames(trace: Trace) -> dict[tuple[str, ...], tuple[Bool, Bool]]:
    """What :func:`_frames` has found, by the roots."""
    return {}


def _frames(trace: Trace, roots: tuple[str, ...]) -> tuple[Bool, Bool]:
    """Which names are frames of the user's code, and which are functions of Python's own."""
    known = _known_frames(trace)
    if roots not in known:
        users = np.array([is_users_frame(text, roots) for text in trace.strings], np.bool_)
        built_in = np.array([text.startswith(_BUILT_IN) for text in trace.strings], np.bool_)
        known[roots] = users, built_in
    return known[roots]


@once_per_trace
def _launch_starts(trace: Trace) -> dict[int, Int64]:
    """When each thread launched GPU work."""
    rows = np.unique(trace.launch[trace.launch >= 0])
    lane = trace.lane_id[rows]
    return {one: trace.start_ns[rows[lane == one]] for one in np.unique(lane).tolist()}
