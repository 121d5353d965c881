"""The answer to a query: slices in order of time, and what they have in common."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.search.distinct import DistinctNames
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Bool = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class HitGroup:
    """The hits of one name and kind.

    Attributes:
        kind: what they are.
        name, short: full and short name.
        count: how many.
        total_ns: their durations added up; nested ones count each.
        first: the first of them, as index into the hits.
    """

    kind: SliceKind
    name: str
    short: str
    count: int
    total_ns: int
    first: int


class Hits:
    """Slices that a query finds.

    Attributes:
        mask: bool (n,), by row of the trace.
        rows: int32 (hits,), trace rows by start; those that start together, longer ones first.
        start_ns, end_ns: int64 (hits,).
    """

    def __init__(self, trace: Trace, names: DistinctNames, mask: Bool) -> None:
        """Order the slices that the mask (by trace row) chooses."""
        self.mask = mask
        rows = np.flatnonzero(mask).astype(np.int32)
        start, end = trace.start_ns[rows], trace.end_ns[rows]
        # Rows are sorted by lane, then start: a stable sort of a few sorted stretches is quick.
        order = np.argsort(start, kind="stable")
        if len(rows) and (np.diff(start[order]) == 0).any():
            order = np.lexsort((-end, start))
        self.rows: Int32 = rows[order]
        self.start_ns: Int64 = start[order]
        self.end_ns: Int64 = end[order]
        self._names = names

    def __len__(self) -> int:
        return len(self.rows)

    def at_or_after(self, time_ns: int) -> int:
        """The first hit that starts at an instant or later; the number of hits if none does."""
        return int(np.searchsorted(self.start_ns, time_ns, "left"))

    def beside(self, time_ns: int, forward: bool) -> int:
        """The next hit that starts after an instant, or the last that starts before it.

        Returns:
            Index of a hit; -1 or the number of hits where there is none on that side.
        """
        if forward:
            return int(np.searchsorted(self.start_ns, time_ns, "right"))
        return self.at_or_after(time_ns) - 1

    def alike(self, hit: int) -> Int32:
        """The hits with the name and the kind of one: int32 (n,), indices in order."""
        pair = self._names.pair[self.rows]
        return np.flatnonzero(pair == pair[hit]).astype(np.int32)

    @cached_property
    def total_ns(self) -> int:
        """Durations added up."""
        return int((self.end_ns - self.start_ns).sum())

    @cached_property
    def groups(self) -> tuple[HitGroup, ...]:
        """The hits by name and kind, most time first."""
        if not len(self):
            return ()
        pair = self._names.pair[self.rows]
        found, first, where = np.unique(pair, return_index=True, return_inverse=True)
        count = np.bincount(where, minlength=len(found))
        # Sums of int64 by a float64 weight would not be exact.
        total = np.zeros(len(found), np.int64)
        np.add.at(total, where, self.end_ns - self.start_ns)
        order = np.lexsort((first, -total))
        return tuple(
            HitGroup(
                SliceKind(int(self._names.kind[found[i]])),
                self._names.name(int(found[i])),
                self._names.short(int(found[i])),
                int(count[i]),
                int(total[i]),
                int(first[i]),
            )
            for i in order.tolist()
        )
