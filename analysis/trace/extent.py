"""What the times of all slices of a recording tell, those that were not kept included."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whichlayer.analysis.trace.columns import Bool, Int64, UInt8
from whichlayer.analysis.trace.kinds import SliceKind
from whichlayer.analysis.trace.strays import find_strays


@dataclass(frozen=True, slots=True)
class Extent:
    """Where a recording lies; times are on the file's own clock.

    Attributes:
        stray: bool (n,), which of the slices that were kept are strays.
        strays: how many there are among all.
        origin_ns: the first start that counts.
        last_ns: end of the last slice that is neither a stray nor the recording itself.
    """

    stray: Bool
    strays: int
    origin_ns: int
    last_ns: int


def extent_of(
    start_ns: Int64, end_ns: Int64, kind: UInt8, dropped: tuple[Int64, Int64] | None = None
) -> Extent:
    """Where a recording lies.

    Args:
        start_ns: int64 (n,), of the slices that were kept.
        end_ns: int64 (n,).
        kind: uint8 (n,), a ``SliceKind`` each.
        dropped: starts and ends, int64 (m,) each, of those that were not, none of which is GPU
            work or the recording itself.
    """
    count = len(start_ns)
    if dropped is not None and len(dropped[0]):
        start_ns = np.concatenate((start_ns, dropped[0]))
        end_ns = np.concatenate((end_ns, dropped[1]))
        kind = np.concatenate((kind, np.full(len(dropped[0]), SliceKind.OTHER, np.uint8)))
    stray = find_strays(start_ns, end_ns, kind)
    counted = ~stray & (kind != SliceKind.PROFILER)
    return Extent(
        stray[:count],
        int(stray.sum()),
        _origin(start_ns, stray, counted),
        int(end_ns[counted].max()) if counted.any() else 0,
    )


def _origin(start_ns: Int64, stray: Bool, counted: Bool) -> int:
    """The first start that counts; without one, of any slice; without slices, zero."""
    for wanted in (counted, ~stray, stray):
        if wanted.any():
            return int(start_ns[wanted].min())
    return 0
