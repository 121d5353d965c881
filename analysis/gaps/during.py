"""What threads did during stretches of time, all of them looked up together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.gaps.catalogue import cause_code
from whichlayer.analysis.gaps.host import HostStates
from whichlayer.analysis.gaps.part import first_largest
from whichlayer.analysis.intervals import blocks_of, ragged_arange

Int64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Stretches:
    """What threads did during stretches of time, cut where it changes.

    Attributes:
        which: int64 (n,), the stretch of time that each is a part of; in order.
        start_ns, end_ns: int64 (n,).
        state: int32 (n,), a cause code or a ``Doing``.
        row: int32 (n,), the slice that explains most of it, -1 for none.
    """

    which: Int64
    start_ns: Int64
    end_ns: Int64
    state: NDArray[np.int32]
    row: NDArray[np.int32]

    @classmethod
    def none(cls) -> Stretches:
        """Of no stretch of time."""
        times, codes = np.empty(0, np.int64), np.empty(0, np.int32)
        return cls(times, times, times, codes, codes)

    @classmethod
    def together(cls, each: Sequence[Stretches]) -> Stretches:
        """All of them, in order of the stretches of time."""
        order = np.argsort(np.concatenate([found.which for found in each]), kind="stable")
        return cls(
            np.concatenate([found.which for found in each])[order],
            np.concatenate([found.start_ns for found in each])[order],
            np.concatenate([found.end_ns for found in each])[order],
            np.concatenate([found.state for found in each])[order],
            np.concatenate([found.row for found in each])[order],
        )


def stretches_between(states: HostStates, start: Int64, end: Int64) -> Stretches:
    """What one thread did during stretches of time, none of them empty; rows are left open."""
    times = states.start_ns
    first = np.searchsorted(times, start, "right")
    counts = np.searchsorted(times, end, "left") - first + 1
    which = np.repeat(np.arange(len(start)), counts)
    opens = np.cumsum(counts) - counts
    at = ragged_arange(first, counts)
    # Before its first slice nothing is known of a thread.
    known = np.concatenate(([cause_code("unattributed")], states.state)).astype(np.int32)
    inner = np.append(times, 0)
    begin, finish = inner[at - 1], inner[at]
    begin[opens] = start
    finish[opens + counts - 1] = end
    return Stretches(which, begin, finish, known[at], np.full(len(at), -1, np.int32))


def longest_rows(fine: HostStates, start: Int64, end: Int64) -> NDArray[np.int32]:
    """The slice that explains the longest part of each ``[start, end)``, -1 for none."""
    times, row = fine.start_ns, fine.row
    first = np.maximum(np.searchsorted(times, start, "right") - 1, 0)
    counts = np.searchsorted(times, end, "left") - first
    found = np.full(len(start), -1, np.int32)
    single = counts == 1
    found[single] = row[first[single]]
    several = np.flatnonzero(counts > 1)
    for block in blocks_of(counts[several]):
        which = several[block]
        size = counts[which]
        opens = np.cumsum(size) - size
        at = ragged_arange(first[which], size)
        begin = np.maximum(times[at], np.repeat(start[which], size))
        length = np.append(begin[1:], 0) - begin
        closes = opens + size - 1
        length[closes] = end[which] - begin[closes]
        length[row[at] < 0] = -1
        found[which] = row[at[first_largest(length, opens)]]
    return found
