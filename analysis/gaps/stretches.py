"""Cuts one thread's time into stretches of one state.

At each instant the innermost slice says what runs; what *explains* it may be further out (any
operator inside the loader call is loading), so states are inherited inwards. Where a thread's
slices nest, which is nearly everywhere, who encloses whom is known; where they cross, a stack
is walked from slice to slice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.gaps.blocking import BlockingCopy
from whichlayer.analysis.gaps.catalogue import cause_code
from whichlayer.analysis.gaps.host import Doing, HostStates, Marks
from whichlayer.analysis.intervals import blocks, merged
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]

#: A blocking copy's call before it is split into its wait and its copy.
_BLOCKED = -100


@dataclass(frozen=True, slots=True)
class _Nesting:
    """Which slice of a thread is around which, and which is the innermost when.

    Attributes:
        outer: int32 (n,), the slice around each when it begins, -1 for none.
        level: int32 (n,), greater than that of ``outer``.
        time: int64 (m,), every edge of a slice once, ascending.
        innermost: int32 (m,), the innermost slice from each time on, -1 for none.
    """

    outer: Int32
    level: Int32
    time: Int64
    innermost: Int32


def host_states(trace: Trace, marks: Marks, lane: int) -> HostStates:
    """Cut one thread's time by what it does.

    Args:
        trace: the recording.
        marks: of this trace.
        lane: a lane of kind ``CPU_THREAD``.
    """
    first, last = int(trace.lane_rows[lane]), int(trace.lane_rows[lane + 1])
    if first == last:
        none = np.empty(0, np.int32)
        return HostStates(np.empty(0, np.int64), none, none, none)
    nesting = _by_parents(trace, first, last) or _by_stack(trace, first, last)
    state, why = _explained(trace, marks, first, last, nesting)
    # What is inside of no slice, -1, takes the last.
    state = np.append(state, np.int32(Doing.NOTHING))[nesting.innermost]
    row = np.append(why, np.int32(-1))[nesting.innermost]
    if (state == _BLOCKED).any():
        return _split_blocking(nesting.time, state, row, marks.blocking, trace)
    return HostStates(nesting.time, state, state, row)


def _by_parents(trace: Trace, first: int, last: int) -> _Nesting | None:
    """The nesting that the trace itself knows; None where slices cross."""
    start, end = trace.start_ns[first:last], trace.end_ns[first:last]
    parent = np.maximum(trace.parent[first:last] - first, -1)
    siblings = np.argsort(parent, kind="stable")
    one, next_ = siblings[:-1], siblings[1:]
    if ((parent[one] == parent[next_]) & (start[next_] < end[one])).any():
        return None
    time = merged(start, end)
    innermost = np.empty(len(time), np.int32)
    for block in blocks(len(time)):
        begun = np.searchsorted(start, time[block], "right") - 1
        innermost[block] = _climbed(begun, time[block], end, parent)
    # A slice without length is over before the next begins at the same instant.
    outer = np.empty(len(parent), np.int32)
    for block in blocks(len(parent)):
        outer[block] = _climbed(parent[block], start[block], end, parent)
    return _Nesting(outer, trace.depth[first:last], time, innermost)


def _climbed(
    index: NDArray[np.signedinteger], time: Int64, end: Int64, parent: Int32
) -> NDArray[np.signedinteger]:
    """Each slice, or the first around it that has not ended at its time."""
    index = index.copy()
    at = np.flatnonzero(index >= 0)
    now = index[at]
    while len(at):
        ended = end[now] <= time[at]
        at = at[ended]
        index[at] = now = parent[now[ended]]
        inside = now >= 0
        at, now = at[inside], now[inside]
    return index


def _by_stack(trace: Trace, first: int, last: int) -> _Nesting:
    """The nesting as a stack finds it: what ends inside a later slice still is around it."""
    ends = trace.end_ns[first:last].tolist()
    outer, level = [-1] * len(ends), [0] * len(ends)
    stack: list[int] = []
    times: list[int] = []
    innermost: list[int] = []

    def leave_until(time: int | None) -> None:
        while stack and (time is None or ends[stack[-1]] <= time):
            left = ends[stack.pop()]
            while stack and ends[stack[-1]] <= left:
                stack.pop()
            times.append(left)
            innermost.append(stack[-1] if stack else -1)

    for i, begin in enumerate(trace.start_ns[first:last].tolist()):
        leave_until(begin)
        if stack:
            outer[i], level[i] = stack[-1], level[stack[-1]] + 1
        stack.append(i)
        times.append(begin)
        innermost.append(i)
    leave_until(None)
    time, inner = np.array(times, np.int64), np.array(innermost, np.int32)
    last_said = np.concatenate((time[1:] > time[:-1], [True]))
    return _Nesting(
        np.array(outer, np.int32), np.array(level, np.int32), time[last_said], inner[last_said]
    )


def _explained(
    trace: Trace, marks: Marks, first: int, last: int, nesting: _Nesting
) -> tuple[Int32, Int32]:
    """The state of each slice, and the trace row that explains it (-1 for none)."""
    state = marks.code[first:last].copy()
    why = np.where(state != Doing.NOTHING, np.arange(first, last), -1).astype(np.int32)
    told = (trace.kind[first:last] == SliceKind.ANNOTATION) & (state >= 0)
    blocking = np.array([row - first for row in marks.blocking if first <= row < last], np.int64)
    is_blocking = np.zeros(last - first, np.bool_)
    is_blocking[blocking] = True
    cpu_operator = cause_code("cpu-operator")
    compiles, loads = cause_code("recompile"), cause_code("module-load")
    order = np.argsort(nesting.level, kind="stable")
    levels = np.flatnonzero(np.diff(nesting.level[order])) + 1
    for rows in np.split(order, levels):
        inner = rows[nesting.outer[rows] >= 0]
        around = nesting.outer[inner]
        code, outer, outer_why = state[inner], state[around], why[around]
        # The loader's inner frames are the same call; its annotation says most.
        same = (code >= 0) & (outer == code)
        known = outer_why >= 0
        says_more = told[inner] & known & ~told[np.where(known, outer_why - first, 0)]
        why[inner] = np.where(same & ~says_more, outer_why, why[inner])
        # A mark explains all that runs inside it; an operator explains the annotations it
        # holds, but Python that it calls for long is Python; a step explains nothing. The
        # work of a CPU operator says less than any mark around it, and whatever a compile
        # loads, measures and waits for would not be without it.
        framed = trace.kind[np.maximum(outer_why, 0)] == SliceKind.PYTHON
        whole = (outer == compiles) | ((outer == loads) & framed)
        open_ = ~same & ((code < 0) | (code == cpu_operator) | whole)
        inherits = (code == Doing.NOTHING) | ((outer == Doing.DISPATCH) & (code == Doing.ANNOTATED))
        takes = open_ & ((outer >= 0) | (outer == _BLOCKED) | inherits)
        state[inner] = np.where(takes, outer, code)
        why[inner] = np.where(takes, outer_why, why[inner])
        framed = trace.kind[np.maximum(why[rows], 0)] == SliceKind.PYTHON
        theirs = (state[rows] == compiles) | ((state[rows] == loads) & framed)
        blocked = rows[is_blocking[rows] & ~theirs]
        state[blocked], why[blocked] = _BLOCKED, blocked + first
    return state, why


def _split_blocking(
    start: Int64,
    state: Int32,
    row: Int32,
    blocking: dict[int, BlockingCopy],
    trace: Trace,
) -> HostStates:
    """Split each blocking copy's call where its copy begins.

    Idle inside the first part of a host-to-device call cannot be a wait for the device, which
    has nothing to do: it is the staging of the copy. What follows the call is the copy's too:
    one that does not block, from pinned memory, would not have waited for earlier work either.
    """
    sync, pageable = cause_code("host-sync"), cause_code("h2d-pageable")
    drain = state.copy()
    ends = np.append(start[1:], start[-1])
    at = np.flatnonzero(state == _BLOCKED)
    copies = [blocking[why] for why in row[at].tolist()]
    copied = trace.start_ns[[copy.copy for copy in copies]]
    direct = np.array([pageable if copy.to_device else sync for copy in copies], np.int32)
    state[at] = direct
    drain[at] = direct
    cut = (start[at] < copied) & (copied < ends[at])
    after = at[cut] + 1
    return HostStates(
        np.insert(start, after, copied[cut]),
        np.insert(state, after, direct[cut]),
        np.insert(drain, after, direct[cut]),
        np.insert(row, after, row[at[cut]]),
    )
