"""Marks of steps that stand far from everything that was recorded.

The first and the last mark bound the window, so that a single one with a wrong time makes a
recording of half a second one of a thousand. Unlike true idle, in which the program at least
begins or ends a step beside its work, nothing was recorded in such a step or near it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from whichlayer.analysis.among import among
from whichlayer.analysis.trace.broken import SHARE, SPANS
from whichlayer.analysis.trace.columns import Bool, Int32, Int64, UInt8
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind

_MARK = re.compile(r"ProfilerStep#\d{1,18}\Z")
#: What a step that happened has inside; known of a part of a recording as of all of it.
_WORK = (*GPU_WORK, SliceKind.RUNTIME, SliceKind.CPU_OP)
_NONE = np.empty(0, np.int64)


def far_marks(
    strings: Sequence[str],
    name_id: Int32,
    kind: UInt8,
    start_ns: Int64,
    end_ns: Int64,
    stray: Bool,
) -> Int64:
    """Rows of marks of steps that are strays, int64, ascending.

    At most 1 % of all marks or one, farther than ten times the length of all operators, calls, GPU
    work and other marks from them all.

    Args:
        strings: what ``name_id`` indexes.
        name_id: int32 (n,).
        kind: uint8 (n,), a ``SliceKind`` each.
        start_ns: int64 (n,), on any clock.
        end_ns: int64 (n,).
        stray: bool (n,), slices that are outside the recording anyway.
    """
    names = [index for index, text in enumerate(strings) if _MARK.match(text)]
    if not names:
        return _NONE
    marks = among(kind, (SliceKind.ANNOTATION, SliceKind.GPU_ANNOTATION)) & ~stray
    rows = np.flatnonzero(marks & among(name_id, names))
    work = np.flatnonzero(among(kind, _WORK) & ~stray)
    if len(rows) < 2 or not among(kind[work], GPU_WORK).any():
        return _NONE
    few = max(1, int(SHARE * len(rows)))
    first, last = int(start_ns[work].min()), int(end_ns[work].max())
    # From the outside in: what is left bounds the rest.
    away = np.maximum(np.maximum(first - end_ns[rows], start_ns[rows] - last), 0)
    order = rows[np.argsort(away, kind="stable")]
    rest, odd = order[:-few], order[-few:]
    low = min(first, int(start_ns[rest].min(initial=first)))
    high = max(last, int(end_ns[rest].max(initial=last)))
    apart = np.maximum(low - end_ns[odd], start_ns[odd] - high)
    return np.sort(odd[apart > SPANS * max(high - low, 1)]).astype(np.int64)
