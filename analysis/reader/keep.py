"""What is kept of a file of which a part is wanted.

The whole text is read, whatever part of it is wanted: JSON has no index. What can be spared is
most of what an event costs once it is there: its arguments, its name, its place among the
columns. Of slices that lie outside only those are kept that tell about the recording as a
whole, and of the others nothing but their times, for origin and strays are of all slices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from whichlayer.analysis.trace.classify import annotation_names
from whichlayer.analysis.trace.columns import Bool, Int64, UInt8
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind

#: Kinds that are kept wherever they lie: what ran on the GPU and which call launched it is needed
#: for figures of the whole recording, and the steps are among the annotations.
EVERYWHERE: Final = frozenset(
    {
        *GPU_WORK,
        SliceKind.GPU_ANNOTATION,
        SliceKind.GPU_SYNC,
        SliceKind.RUNTIME,
        SliceKind.OVERHEAD,
        SliceKind.PROFILER,
        SliceKind.ANNOTATION,
    }
)

_IS_KEPT: Final = np.isin(np.arange(len(SliceKind)), list(EVERYWHERE))

#: Kinds that are annotations where their name says so.
_MAY_BE_NAMED: Final = np.isin(np.arange(len(SliceKind)), (SliceKind.CPU_OP, SliceKind.OTHER))


@dataclass(frozen=True, slots=True)
class Keep:
    """The stretch of which everything is kept.

    Attributes:
        low_ns, high_ns: the stretch, on the clock that the times are on.
    """

    low_ns: int
    high_ns: int

    def inside(self, start_ns: Int64, end_ns: Int64) -> Bool:
        """Which slices touch the stretch: bool (n,)."""
        found: Bool = (start_ns < self.high_ns) & (end_ns >= self.low_ns)
        return found

    def holds(self, time_ns: Int64) -> Bool:
        """Which instants lie in the stretch: bool (n,)."""
        found: Bool = (time_ns < self.high_ns) & (time_ns >= self.low_ns)
        return found


def kept_outside(kind: UInt8, names: Sequence[str]) -> Bool:
    """Which slices are kept although they lie outside: bool (n,).

    Args:
        kind: uint8 (n,), a ``SliceKind`` each, by category.
        names: n names.
    """
    kept: Bool = _IS_KEPT[kind]
    rows = np.flatnonzero(_MAY_BE_NAMED[kind])
    kept[rows] = annotation_names([names[row] for row in rows.tolist()])
    return kept


@dataclass(slots=True)
class Dropped:
    """Slices of which only their times were kept; times are on the file's own clock.

    Attributes:
        kinds: the kinds that were among them; none of ``EVERYWHERE``.
    """

    kinds: set[SliceKind] = field(default_factory=set)
    _start: list[Int64] = field(default_factory=list)
    _end: list[Int64] = field(default_factory=list)

    def add(self, start_ns: Int64, end_ns: Int64, kind: UInt8) -> None:
        """Takes some more."""
        if len(start_ns):
            self._start.append(start_ns)
            self._end.append(end_ns)
            self.kinds.update(SliceKind(one) for one in np.bincount(kind).nonzero()[0].tolist())

    def take(self, other: Dropped) -> None:
        """Takes those of another."""
        self.kinds |= other.kinds
        self._start += other._start
        self._end += other._end

    @property
    def last_ns(self) -> int:
        """When the last of them ends."""
        return max((int(end.max()) for end in self._end), default=0)

    def times(self) -> tuple[Int64, Int64]:
        """Starts and ends, in no order: int64 (n,) each."""
        none = np.empty(0, np.int64)
        return np.concatenate([none, *self._start]), np.concatenate([none, *self._end])
