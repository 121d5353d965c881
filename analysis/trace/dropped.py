"""Times of slices that a reader did not keep, packed: a trace has millions of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.trace.columns import Bool, Int64, UInt8
from whichlayer.analysis.trace.kinds import SliceKind

Offsets = NDArray[Any]


@dataclass(frozen=True, slots=True)
class _Times:
    """Times of some slices.

    Attributes:
        first_ns: their first start.
        last_start_ns, last_ns: their last start, and their last end.
        after: start of each after the first, of the narrowest type that holds it.
        length: length of each, likewise.
    """

    first_ns: int
    last_start_ns: int
    last_ns: int
    after: Offsets
    length: Offsets

    @classmethod
    def of(cls, start_ns: Int64, end_ns: Int64) -> _Times:
        """Packs them; there must be some."""
        first = int(start_ns.min())
        return cls(
            first,
            int(start_ns.max()),
            int(end_ns.max()),
            _narrow(start_ns - first),
            _narrow(end_ns - start_ns),
        )

    def start_ns(self) -> Int64:
        return self.after.astype(np.int64) + self.first_ns


@dataclass(slots=True)
class Dropped:
    """Slices of which only their times were kept; times are on the file's own clock.

    Attributes:
        kinds: the kinds that were among them; neither GPU work nor the recording itself.
    """

    kinds: set[SliceKind] = field(default_factory=set)
    _chunks: list[_Times] = field(default_factory=list)

    def __len__(self) -> int:
        return sum(len(chunk.after) for chunk in self._chunks)

    def add(self, start_ns: Int64, end_ns: Int64, kind: UInt8) -> None:
        """Takes some more."""
        if len(start_ns):
            self._chunks.append(_Times.of(start_ns, end_ns))
            self.kinds.update(SliceKind(one) for one in np.bincount(kind).nonzero()[0].tolist())

    def take(self, other: Dropped) -> None:
        """Takes those of another."""
        self.kinds |= other.kinds
        self._chunks += other._chunks

    def without(self, low_ns: int, high_ns: int) -> Dropped:
        """Those that do not touch a stretch."""
        left = Dropped(set(self.kinds))
        for chunk in self._chunks:
            start = chunk.start_ns()
            end = start + chunk.length
            outside: Bool = (start >= high_ns) | (end < low_ns)
            if outside.all():
                left._chunks.append(chunk)
            elif outside.any():
                left._chunks.append(_Times.of(start[outside], end[outside]))
        return left

    def bounds(self) -> tuple[int, int, int]:
        """The first start, the last start and the last end; there must be some."""
        return (
            min(chunk.first_ns for chunk in self._chunks),
            max(chunk.last_start_ns for chunk in self._chunks),
            max(chunk.last_ns for chunk in self._chunks),
        )

    def times(self) -> tuple[Int64, Int64]:
        """Starts and ends, in the same order: int64 (n,) each."""
        none = np.empty(0, np.int64)
        start = np.concatenate([none, *(chunk.start_ns() for chunk in self._chunks)])
        length = np.concatenate([none, *(chunk.length for chunk in self._chunks)])
        return start, start + length


def _narrow(value: Int64) -> Offsets:
    """The same in half the space, where it fits: up to four seconds do."""
    fits = int(value.max()) < 1 << 32
    return value.astype(np.uint32) if fits else value
