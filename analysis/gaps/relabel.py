"""Gives a thread's stretches another name where a span of time says more about them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.gaps.catalogue import cause_ids
from whichlayer.analysis.gaps.host import Doing, HostStates
from whichlayer.analysis.intervals import distinct, merged

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Spans:
    """Stretches of time that do not overlap, in order.

    Attributes:
        start_ns, end_ns: int64 (n,).
        row: int32 (n,), the slice that tells of each; -1 leaves a stretch's own.
    """

    start_ns: Int64
    end_ns: Int64
    row: Int32

    def __len__(self) -> int:
        return len(self.start_ns)


def disjoint(spans: list[tuple[int, int, int]]) -> Spans:
    """(start, end, row) in any order as spans; of two that overlap the earlier comes first."""
    kept: list[tuple[int, int, int]] = []
    for start, end, row in sorted(spans):
        if kept:
            start = max(start, kept[-1][1])
        if end > start:
            kept.append((start, end, row))
    table = np.array(kept, np.int64).reshape(-1, 3)
    return Spans(table[:, 0], table[:, 1], table[:, 2].astype(np.int32))


def any_of(state: Int32, codes: Collection[int]) -> NDArray[np.bool_]:
    """Where a state is one of a few; ``numpy.isin`` takes five times as long."""
    # States of no cause are negative: they count from the end of the table.
    table = np.zeros(len(cause_ids()) + len(Doing), np.bool_)
    table[[int(code) for code in codes]] = True
    return np.asarray(table[state])


def at_times(states: HostStates, time: Int64) -> tuple[Int32, Int32, Int32]:
    """State, drain and row of a thread at each instant."""
    if not len(states.start_ns):
        nothing = np.full(len(time), Doing.NOTHING, np.int32)
        return nothing, nothing.copy(), np.full(len(time), -1, np.int32)
    index = np.searchsorted(states.start_ns, time, "right") - 1
    before = index < 0
    index = np.maximum(index, 0)
    state, drain, row = states.state[index], states.drain[index], states.row[index]
    state[before] = drain[before] = Doing.NOTHING
    row[before] = -1
    return state, drain, row


def relabelled(states: HostStates, spans: Spans, code: int, among: Collection[int]) -> HostStates:
    """The same stretches, but one cause where they are inside a span and in certain states.

    Args:
        states: of one thread.
        spans: where.
        code: the cause that takes their place.
        among: the states that give way.
    """
    if not len(spans) or not len(states.start_ns):
        return states
    time = merged(states.start_ns, distinct(np.concatenate((spans.start_ns, spans.end_ns))))
    state, drain, row = at_times(states, time)
    at = np.searchsorted(spans.start_ns, time, "right") - 1
    inside = (at >= 0) & (time < spans.end_ns[np.maximum(at, 0)])
    take = inside & any_of(state, among)
    state[take] = drain[take] = code
    told = spans.row[np.maximum(at, 0)]
    row = np.where(take & (told >= 0), told, row)
    return HostStates(time, state, drain, row)
