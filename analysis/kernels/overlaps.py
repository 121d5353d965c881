"""Whose instants are whose when kernels overlap, and which units must be judged together.

An instant belongs to the compute activity that started first. Two kernels that run side by
side share the card: each alone would look slow, so units that hide each other for most of
their time form a cluster with one ideal, that of their summed bytes and flops. Slight
overlaps (programmatic launches on Blackwell) leave units on their own.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]

#: A unit that loses more than this share of an activity to earlier ones is judged with them.
_HIDDEN: Final = 0.5


def owned_times(device: NDArray[np.int32], start: Int64, end: Int64) -> tuple[Int64, Int64]:
    """Time that each activity owns over the whole recording, and who covers its start.

    Args:
        device: int32 (n,), sorted; activities of a device sorted by start.
        start: int64 (n,).
        end: int64 (n,).

    Returns:
        int64 (n,) nanoseconds, and int64 (n,) index of the activity that runs on when this
        one starts, -1 where none does.
    """
    owned = np.zeros(len(start), np.int64)
    cover = np.full(len(start), -1, np.int64)
    bounds = np.flatnonzero(np.diff(device)) + 1
    for low, high in zip(
        np.concatenate(([0], bounds)), np.concatenate((bounds, [len(start)])), strict=True
    ):
        if high <= low:
            continue
        s, e = start[low:high], end[low:high]
        reach = np.maximum.accumulate(e)
        raised = np.concatenate(([True], e[1:] > reach[:-1]))
        holder = np.maximum.accumulate(np.where(raised, np.arange(high - low), 0))
        before = np.concatenate(([s[0]], reach[:-1]))
        own_start = np.maximum(s, before)
        owned[low:high] = np.maximum(0, e - own_start)
        covered = np.concatenate(([False], before[1:] > s[1:]))
        cover[low:high] = np.where(covered, np.concatenate(([0], holder[:-1])) + low, -1)
    return owned, cover


def find_clusters(unit: Int64, owned: Int64, duration: Int64, cover: Int64) -> Int64:
    """Cluster of each unit: int64 (units,), the smallest unit in it.

    Args:
        unit: int64 (n,), unit of each activity.
        owned: int64 (n,), what it owns.
        duration: int64 (n,), how long it ran.
        cover: int64 (n,), the activity that runs when it starts, -1 for none.
    """
    label = np.arange(int(unit.max(initial=-1)) + 1, dtype=np.int64)
    hidden = (cover >= 0) & (owned < _HIDDEN * duration)
    one, two = unit[hidden], unit[cover[hidden]]
    apart = one != two
    one, two = one[apart], two[apart]
    while True:
        low = np.minimum(label[one], label[two])
        before = label.copy()
        np.minimum.at(label, one, low)
        np.minimum.at(label, two, low)
        label = label[label]
        if np.array_equal(label, before):
            return label
