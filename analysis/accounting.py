"""Every instant of a device, counted exactly once.

Time is cut at every edge of an activity. An instant is *compute* if a kernel that is no
collective, an on-device copy or a memset runs; else *comm* if a collective runs; else *copy*
if a transfer runs; else *idle*. Where activities overlap, the instant belongs to the one of
that role that started first.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.intervals import distinct
from whichlayer.analysis.results import Role

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]


class Instant(IntEnum):
    """What an instant of a device is; the first three equal ``Role``."""

    COMPUTE = 0
    COMM = 1
    COPY = 2
    IDLE = 3


@dataclass(frozen=True, slots=True)
class Partition:
    """A stretch of a device's time, cut so that each part is one thing.

    Parts touch and never overlap. Idle parts are split at zero-length activities too.

    Attributes:
        start_ns, end_ns: int64 (n,), ``start_ns[i + 1] == end_ns[i]``.
        what: uint8 (n,), an ``Instant``.
        owner: int32 (n,), index into the ``Activities`` the part belongs to, -1 if idle.
    """

    start_ns: Int64
    end_ns: Int64
    what: NDArray[np.uint8]
    owner: Int32

    def total(self, what: Instant) -> int:
        """Time of one kind."""
        chosen = self.what == what
        return int((self.end_ns[chosen] - self.start_ns[chosen]).sum())

    def owned_ns(self, activities: int) -> Int64:
        """The time that belongs to each activity: int64 (activities,)."""
        busy = self.owner >= 0
        owned = np.zeros(activities, np.int64)
        np.add.at(owned, self.owner[busy], (self.end_ns - self.start_ns)[busy])
        return owned


def partition(activities: Activities, low: int, high: int) -> Partition:
    """Cut ``[low, high)`` of a device into compute, comm, copy and idle.

    Args:
        activities: of one device, sorted by start.
        low: first nanosecond.
        high: the nanosecond after the last; ``high <= low`` gives no parts.
    """
    if high <= low:
        none = np.empty(0, np.int64)
        return Partition(none, none, np.empty(0, np.uint8), np.empty(0, np.int32))
    edges = np.concatenate(([low, high], activities.start_ns, activities.end_ns))
    edges = distinct(np.clip(edges, low, high))
    start, end = edges[:-1], edges[1:]
    what = np.full(len(start), Instant.IDLE, np.uint8)
    owner = np.full(len(start), -1, np.int32)
    for role in (Role.COPY, Role.COMM, Role.COMPUTE):
        index = _first_started(activities, role, start)
        found = index >= 0
        what[found] = role
        owner[found] = index[found]
    return _merge(start, end, what, owner)


def _first_started(activities: Activities, role: Role, time: Int64) -> Int32:
    """Index of the activity of a role that owns each instant, or -1."""
    index = np.flatnonzero(activities.role == role)
    result = np.full(len(time), -1, np.int32)
    if not len(index):
        return result
    start, end = activities.start_ns[index], activities.end_ns[index]
    reach = np.maximum.accumulate(end)
    # Whatever started earlier and still runs covers this one's beginning.
    own_start = np.maximum(start, np.concatenate(([start[0]], reach[:-1])))
    keep = end > own_start
    index, own_start, own_end = index[keep], own_start[keep], end[keep]
    if not len(index):
        return result
    at = np.searchsorted(own_start, time, "right") - 1
    inside = (at >= 0) & (time < own_end[np.maximum(at, 0)])
    result[inside] = index[at[inside]]
    return result


def _merge(start: Int64, end: Int64, what: NDArray[np.uint8], owner: Int32) -> Partition:
    """Join neighbours that belong to the same activity."""
    same = (owner[1:] == owner[:-1]) & (what[1:] == what[:-1]) & (owner[1:] >= 0)
    first = np.concatenate(([True], ~same))
    last = np.concatenate((~same, [True]))
    return Partition(start[first], end[last], what[first], owner[first])
