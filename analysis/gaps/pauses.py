"""What a thread does where it neither runs an operator nor launches: Python, nothing, or dispatch.

Between two operators every program pauses, and recorded stacks and slow hosts stretch each
pause, so a short one is dispatch. It is none where the user's own code runs in it, which is
recorded, nor where the thread launches nothing for milliseconds of mostly pauses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.findings.where import is_users_frame
from whichlayer.analysis.gaps.host import Doing, HostStates
from whichlayer.analysis.gaps.relabel import any_of
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
#: Less than this between two stretches of Python is no stretch of its own.
CRUMB_NS = 20_000
#: Shorter waits are none: a lock that is free is taken in a microsecond.
_SHORTEST_WAIT_NS = 20_000
#: A thread that dispatches launches something within this time.
_NO_LAUNCH_NS = 5_000_000

#: The end of what has none.
_NEVER = np.iinfo(np.int64).max

_BUILT_IN = "<built-in"


@dataclass(frozen=True, slots=True)
class Pauses:
    """Some of a thread's stretches, and the runs that they make up.

    Attributes:
        at: intp (n,), which stretches.
        length: int64 (n,), how long each lasts; 0 for the thread's last.
        run: intp (n,), the run that each belongs to.
        run_lasts: int64 (runs,), how long each run lasts; the thread's last has no end.
    """

    at: NDArray[np.intp]
    length: Int64
    run: NDArray[np.intp]
    run_lasts: Int64

    @classmethod
    def of(cls, states: HostStates, member: Bool) -> Pauses:
        """The stretches that are members, and their runs."""
        start = states.start_ns
        at = np.flatnonzero(member)
        opens = np.concatenate(([True], at[1:] != at[:-1] + 1))[: len(at)]
        after = at + 1
        after[-1:] = np.minimum(after[-1:], len(start) - 1)
        length = start[after] - start[at]
        first = np.flatnonzero(opens)
        closes = at[np.append(first[1:], len(at))[: len(first)] - 1] + 1
        ends = start[np.minimum(closes, len(start) - 1)]
        ends[closes == len(start)] = _NEVER
        return cls(at, length, np.cumsum(opens) - 1, ends - start[at[first]])

    @property
    def lasts(self) -> Int64:
        """How long the run of each stretch lasts: int64 (n,)."""
        return np.asarray(self.run_lasts[self.run])


def shortest_ns(options: Options) -> float:
    """Shorter stretches without an operator are the framework between two: dispatch."""
    return 1000 * threshold(options, "python-overhead", "min_us")


def usual_pause(pauses: Int64, least_ns: float) -> float:
    """Up to how long this thread pauses between operators without that meaning anything.

    Args:
        pauses: int64 (n,), how long each lasts.
        least_ns: shorter pauses never mean anything (:func:`shortest_ns`).
    """
    if len(pauses) < _FEWEST:
        return least_ns
    median, most = np.percentile(pauses, [50, 90])
    usual = int(min(_OF_MOST * most, _OF_MEDIAN * median))
    return max(least_ns, min(usual, _LONGEST_NS))


def users_python(
    pauses: Pauses,
    states: HostStates,
    trace: Trace,
    doing: NDArray[np.int32],
    options: Options,
) -> Bool:
    """Stretches in which the user's own Python runs, of pauses that hold enough of it.

    A frame of PyTorch's or of a package between two operators is dispatch; a function of
    Python's own counts for whoever calls it.

    Args:
        pauses: the stretches.
        states: of the thread.
        trace: the recording.
        doing: int32 (stretches,), their states.
        options: what is the user's own, and how long a pause means something.
    """
    found = np.zeros(len(pauses.at), np.bool_)
    row = states.row[pauses.at]
    at = np.flatnonzero((doing == Doing.PYTHON) & (row >= 0))
    if not len(at):
        return found
    users, built_in = _frames(trace, options.source_roots)
    up = row[at].astype(np.int64)
    while len(at):
        frame = trace.kind[up] == SliceKind.PYTHON
        name = trace.name_id[up]
        found[at[frame & users[name]]] = True
        parent = trace.parent[up].astype(np.int64)
        going = (~frame | built_in[name]) & (parent >= 0)
        at, up = at[going], parent[going]
    total = np.bincount(pauses.run[found], pauses.length[found], minlength=len(pauses.run_lasts))
    return np.asarray(found & (total[pauses.run] >= shortest_ns(options)))


def lasting_waits(pauses: Pauses, doing: NDArray[np.int32], options: Options) -> Bool:
    """Stretches of recorded waits, of pauses that hold enough of them: no dispatch either.

    Args:
        pauses: the stretches.
        doing: int32 (stretches,), their states.
        options: how long a pause means something.
    """
    waits = any_of(doing, (Doing.LOCKED, Doing.RESTING))
    if not waits.any():
        return waits
    goes_on = np.zeros(len(waits), np.bool_)
    goes_on[1:] = waits[1:] & waits[:-1] & (pauses.at[1:] == pauses.at[:-1] + 1)
    each = np.cumsum(~goes_on) - 1
    waits &= np.bincount(each, pauses.length)[each] >= _SHORTEST_WAIT_NS
    total = np.bincount(pauses.run[waits], pauses.length[waits], minlength=len(pauses.run_lasts))
    return np.asarray(waits & (total[pauses.run] >= shortest_ns(options)))


def between_waits(pauses: Pauses, waits: Bool) -> Bool:
    """Crumbs beside waits of pauses that are mostly waits: a loop that sleeps and looks again.

    Args:
        pauses: the stretches.
        waits: which of them are waits that last (:func:`lasting_waits`).
    """
    if not waits.any():
        return waits
    total = np.bincount(pauses.run[waits], pauses.length[waits], minlength=len(pauses.run_lasts))
    mostly = (2 * total >= pauses.run_lasts)[pauses.run]
    return np.asarray(mostly & ~waits & (pauses.length < CRUMB_NS) & beside(pauses.at, waits))


def beside(at: NDArray[np.intp], chosen: Bool) -> Bool:
    """Whether the stretch right before or after each is a chosen one."""
    touch = at[1:] == at[:-1] + 1
    found = np.zeros(len(at), np.bool_)
    found[1:] |= touch & chosen[:-1]
    found[:-1] |= touch & chosen[1:]
    return found


def without_launches(
    pauses: Pauses, states: HostStates, trace: Trace, lanes: Sequence[int]
) -> Bool:
    """Pauses of times without a launch of these threads that are mostly pauses."""
    launches = _launch_starts(trace)
    none = np.empty(0, np.int64)
    starts = np.sort(np.concatenate([none, *(launches[n] for n in lanes if n in launches)]))
    if len(starts) < 2:
        return np.zeros(len(pauses.at), np.bool_)
    between = np.searchsorted(starts, states.start_ns[pauses.at], "right")
    paused = np.bincount(between, pauses.length, minlength=len(starts) + 1)
    whole = np.concatenate(([0], np.diff(starts), [0]))
    return np.asarray((whole[between] >= _NO_LAUNCH_NS) & (2 * paused >= whole)[between])


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
    is_launch = np.zeros(len(trace), np.bool_)
    is_launch[trace.launch[trace.launch >= 0]] = True
    rows = np.flatnonzero(is_launch)
    at = np.searchsorted(rows, trace.lane_rows).tolist()
    return {
        lane: trace.start_ns[rows[low:high]]
        for lane, (low, high) in enumerate(pairwise(at))
        if high > low
    }
