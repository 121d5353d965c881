"""Lays the states of several threads over one another, instant by instant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.gaps.host import Doing, HostStates
from whichlayer.analysis.gaps.relabel import any_of, at_times
from whichlayer.analysis.intervals import BLOCK, merged

Int64 = NDArray[np.int64]

#: A thread in one of these does nothing itself.
PASSIVE = (int(Doing.NOTHING), int(Doing.WAITING), int(Doing.LOCKED), int(Doing.RESTING))
#: A bare annotation says less than another thread's operators.
_SAYS_LITTLE = (*PASSIVE, int(Doing.ANNOTATED))


def overlaid(layers: Sequence[HostStates]) -> HostStates:
    """The first thread that visibly works, instant by instant.

    Args:
        layers: of one thread each, in order of precedence; at least one.
    """
    if len(layers) == 1:
        return layers[0]
    size = sum(len(layer.start_ns) for layer in layers)
    time = np.empty(size, np.int64)
    state, row = np.empty(size, np.int32), np.empty(size, np.int32)
    plain = all(layer.drain is layer.state for layer in layers)
    drain = state if plain else np.empty(size, np.int32)
    filled = 0
    for block in _blocks([layer.start_ns for layer in layers]):
        ranges = zip(layers, block, strict=True)
        times = merged(*(layer.start_ns[low:high] for layer, (low, high) in ranges))
        into = slice(filled, filled + len(times))
        filled += len(times)
        time[into] = times
        state[into], told, row[into] = _first_at_work(layers, block, times)
        if not plain:
            drain[into] = told
    state = state[:filled]
    return HostStates(time[:filled], state, state if plain else drain[:filled], row[:filled])


def _blocks(starts: Sequence[Int64]) -> Iterator[list[tuple[int, int]]]:
    """Ranges of each array, cut at the same instants; together they are all of each."""
    longest = max(starts, key=len)
    cuts = longest[BLOCK::BLOCK]
    at = [
        np.concatenate(([0], start.searchsorted(cuts), [len(start)])).tolist() for start in starts
    ]
    for i in range(len(cuts) + 1):
        yield [(each[i], each[i + 1]) for each in at]


def _first_at_work(
    layers: Sequence[HostStates], block: Sequence[tuple[int, int]], time: Int64
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """State, drain and row of the thread that counts, at each instant of a block."""
    looked_up = [
        at_times(_cut(layer, max(low - 1, 0), high), time)
        for layer, (low, high) in zip(layers, block, strict=True)
    ]
    state, drain, row = looked_up[0]
    open_ = any_of(state, _SAYS_LITTLE)
    if not open_.any():
        return state, drain, row
    for other_state, other_drain, other_row in looked_up[1:]:
        take = open_ & ~any_of(other_state, _SAYS_LITTLE)
        state[take], drain[take], row[take] = other_state[take], other_drain[take], other_row[take]
        open_ &= ~take
    for other_state, other_drain, other_row in looked_up[1:]:
        take = open_ & any_of(state, PASSIVE) & (other_state == Doing.ANNOTATED)
        take |= open_ & (state == Doing.NOTHING) & (other_state == Doing.WAITING)
        state[take], drain[take], row[take] = other_state[take], other_drain[take], other_row[take]
    return state, drain, row


def _cut(states: HostStates, low: int, high: int) -> HostStates:
    """Some stretches of a thread."""
    state = states.state[low:high]
    drain = state if states.drain is states.state else states.drain[low:high]
    return HostStates(states.start_ns[low:high], state, drain, states.row[low:high])
