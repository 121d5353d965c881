"""Queue depth: how many launch calls of a device are unfinished, as an exact step function.

A call counts from its start until the last activity that it launched has ended: what runs is
part of the depth, so that depth 0 means that the device can only wait for the host. A graph
launch counts once, whatever it holds. The unit is that of the driver's own queue, which takes
about a thousand calls before it makes the next one wait.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.intervals import Intervals, clip, union
from whichlayer.analysis.launches.calls import LaunchCalls

Int64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """Unfinished calls over time.

    Attributes:
        time_ns: int64 (n,), strictly increasing; each depth holds until the next time.
        depth: int64 (n,), the last is 0; before the first time the depth is 0 too.
        area: int64 (n,), depth times nanoseconds before each time.
    """

    time_ns: Int64
    depth: Int64
    area: Int64

    def at(self, time_ns: Int64) -> Int64:
        """The depth at each instant."""
        place = np.searchsorted(self.time_ns, time_ns, "right")
        return np.concatenate(([0], self.depth))[place]

    def before(self, time_ns: Int64) -> Int64:
        """The depth just before each instant."""
        place = np.searchsorted(self.time_ns, time_ns, "left")
        return np.concatenate(([0], self.depth))[place]

    def area_until(self, time_ns: Int64) -> Int64:
        """Depth times nanoseconds before each instant, exact."""
        if not len(self.time_ns):
            return np.zeros_like(time_ns)
        place = np.maximum(np.searchsorted(self.time_ns, time_ns, "right") - 1, 0)
        beyond = np.maximum(time_ns - self.time_ns[place], 0)
        return np.asarray(self.area[place] + self.depth[place] * beyond)

    def greatest(self, edges: Int64) -> Int64:
        """The greatest depth in each ``[edges[i], edges[i + 1])``; edges strictly increase."""
        found = self.at(edges[:-1])
        first = np.searchsorted(self.time_ns, edges[:-1], "left")
        stop = np.searchsorted(self.time_ns, edges[1:], "left")
        some = np.flatnonzero(stop > first)
        if len(some):
            bounds = np.stack((first[some], stop[some]), axis=1).ravel()
            inside = np.maximum.reduceat(np.append(self.depth, 0), bounds)[::2]
            found[some] = np.maximum(found[some], inside)
        return found

    def unfinished(self) -> Intervals:
        """When anything is unfinished."""
        busy = self.depth > 0
        first = busy & ~np.concatenate(([False], busy[:-1]))[: len(busy)]
        last = ~busy & np.concatenate(([False], busy[:-1]))[: len(busy)]
        return Intervals(self.time_ns[first], self.time_ns[last])

    def within(self, low_ns: int, high_ns: int) -> tuple[Int64, Int64]:
        """(depth, nanoseconds at it) in ``[low, high)``, by stretch."""
        time = np.concatenate(([low_ns], np.clip(self.time_ns, low_ns, high_ns), [high_ns]))
        return np.concatenate(([0], self.depth)), np.diff(time)


def queue_depth(calls: LaunchCalls) -> QueueDepth:
    """The queue depth of a device over the whole recording."""
    queued, done = np.sort(calls.queued_ns), np.sort(calls.done_ns)
    edges = np.sort(np.concatenate((queued, done)))
    time = edges[np.concatenate(([True], edges[1:] != edges[:-1]))[: len(edges)]]
    depth = np.searchsorted(queued, time, "right") - np.searchsorted(done, time, "right")
    area = np.concatenate(([0], np.cumsum(depth[:-1] * np.diff(time))))[: len(time)]
    return QueueDepth(time, depth.astype(np.int64), area.astype(np.int64))


def weighted_quantile(value: Int64, weight: Int64, share: float) -> int:
    """The least value with at least this share of the weight at or below it.

    Args:
        value: int64 (n,).
        weight: int64 (n,), none negative and not all 0.
        share: from 0 to 1.
    """
    order = np.argsort(value, kind="stable")
    reached = np.cumsum(weight[order])
    place = int(np.searchsorted(reached, share * int(reached[-1]), "left"))
    return int(value[order][min(place, len(value) - 1)])


def starved(depth: QueueDepth, busy: Intervals, low_ns: int, high_ns: int) -> int:
    """Nanoseconds in which nothing is unfinished and nothing runs: the host is late."""
    held = depth.unfinished()
    either = union(np.concatenate((held.start, busy.start)), np.concatenate((held.end, busy.end)))
    return high_ns - low_ns - clip(either, low_ns, high_ns).total
