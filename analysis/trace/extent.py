"""What the times of all slices of a recording tell, those that were not kept included."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whichlayer.analysis.trace.columns import Bool, Int64, UInt8
from whichlayer.analysis.trace.dropped import Dropped
from whichlayer.analysis.trace.kinds import SliceKind
from whichlayer.analysis.trace.strays import Others, find_strays, may_be_far, may_end_far


@dataclass(frozen=True, slots=True)
class Extent:
    """Where a recording lies; times are on the file's own clock.

    Attributes:
        stray: bool (n,), which of the slices that were kept are strays.
        strays: how many there are among all.
        origin_ns: the first start that counts; without slices the first instant or sample.
        last_ns: end of the last slice that is neither a stray nor the recording itself; the
            origin without any, and without slices the last instant or sample.
    """

    stray: Bool
    strays: int
    origin_ns: int
    last_ns: int


def extent_of(
    start_ns: Int64,
    end_ns: Int64,
    kind: UInt8,
    dropped: Dropped | None = None,
    marked: tuple[int, int] | None = None,
    broken: Int64 | None = None,
) -> Extent:
    """Where a recording lies.

    Args:
        start_ns: int64 (n,), of the slices that were kept.
        end_ns: int64 (n,).
        kind: uint8 (n,), a ``SliceKind`` each.
        dropped: those that were not.
        marked: the first and the last time of instants and counter samples, which say where a
            recording lies that has no slices.
        broken: rows that are strays whatever their times are among the others.
    """
    if dropped is None or not len(dropped):
        if not len(start_ns) and marked is not None:
            return Extent(np.zeros(0, np.bool_), 0, *marked)
        return _extent(start_ns, end_ns, kind, _with(find_strays(start_ns, end_ns, kind), broken))
    first, last_start, last = dropped.bounds()
    judged = start_ns[kind != SliceKind.PROFILER]
    latest = max(last_start, int(judged.max(initial=last_start)))
    if not may_be_far(min(first, int(judged.min(initial=first))), latest) and not may_end_far(
        latest, last
    ):
        # No slice starts or ends far from the others: those that are not here are no strays.
        others = Others(len(dropped), first, last_start)
        stray = _with(find_strays(start_ns, end_ns, kind, others), broken)
        here = _extent(start_ns, end_ns, kind, stray)
        counted = bool((~here.stray & (kind != SliceKind.PROFILER)).any())
        if counted:
            first, last = min(here.origin_ns, first), max(here.last_ns, last)
        return Extent(here.stray, here.strays, first, last)
    count, (starts, ends) = len(start_ns), dropped.times()
    start_ns, end_ns = np.concatenate((start_ns, starts)), np.concatenate((end_ns, ends))
    kind = np.concatenate((kind, np.full(len(starts), SliceKind.OTHER, np.uint8)))
    every = _extent(start_ns, end_ns, kind, _with(find_strays(start_ns, end_ns, kind), broken))
    return Extent(every.stray[:count], every.strays, every.origin_ns, every.last_ns)


def _with(stray: Bool, broken: Int64 | None) -> Bool:
    if broken is not None:
        stray[broken] = True
    return stray


def _extent(start_ns: Int64, end_ns: Int64, kind: UInt8, stray: Bool) -> Extent:
    counted = ~stray & (kind != SliceKind.PROFILER)
    origin = _origin(start_ns, stray, counted)
    last = int(end_ns[counted].max()) if counted.any() else origin
    return Extent(stray, int(stray.sum()), origin, last)


def _origin(start_ns: Int64, stray: Bool, counted: Bool) -> int:
    """The first start that counts; without one, of any slice; without slices, zero."""
    for wanted in (counted, ~stray, stray):
        if wanted.any():
            return int(start_ns[wanted].min())
    return 0
