"""Which runtime call launched which GPU activity."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from whichlayer.analysis.among import among
from whichlayer.analysis.trace.columns import Bool, Int32, Int64, UInt8
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind
from whichlayer.analysis.trace.launch_proof import proven
from whichlayer.analysis.trace.shared_numbers import on_foreign_stream, settle, shared


class Callers(NamedTuple):
    """Whose the slices are, for recordings of several processes.

    Attributes:
        process: int32 (n,), a number for the process of each slice's lane.
        lane: int32 (n,).
        launching: gives bool (n,), slices whose names are of calls that can launch work.
        graph: gives bool (n,), slices whose names are of calls that launch a graph.
    """

    process: Int32
    lane: Int32
    launching: Callable[[], Bool]
    graph: Callable[[], Bool]


def join_launches(
    kind: UInt8,
    correlation: Int64,
    external_id: Int64,
    start_ns: Int64,
    callers: Callers | None = None,
) -> Int32:
    """The launching runtime slice of every GPU activity, by correlation number.

    A file in which no activity carries a correlation is joined by ``External id``, which such
    files repeat on the call and on what it launched.

    One graph launch owns many kernels, and a number can recur. Of several calls with the
    number, the last that begins at or before the activity is taken, else the first; of calls of
    several processes only what :mod:`~whichlayer.analysis.trace.shared_numbers` can tell. Numbers
    below 1 mean none.

    Returns:
        int32 (n,), -1 off the GPU and where the file holds no launch.
    """
    launch = np.full(len(kind), -1, np.int32)
    on_gpu = among(kind, GPU_WORK)
    if not bool((correlation[on_gpu] > 0).any()):
        correlation = external_id
    work = np.flatnonzero(on_gpu & (correlation > 0))
    calls = np.flatnonzero((kind == SliceKind.RUNTIME) & (correlation > 0))
    if not len(work) or not len(calls):
        return launch
    calls = calls[np.lexsort((start_ns[calls], correlation[calls]))]
    numbers = correlation[calls]
    first = np.searchsorted(numbers, correlation[work], "left")
    behind = np.searchsorted(numbers, correlation[work], "right")
    found = first < behind
    chosen = first.copy()
    several = behind - first > 1
    if bool(several.any()):
        chosen[several] = _latest_before(
            start_ns[calls], first[several], behind[several], start_ns[work[several]]
        )
    launch[work[found]] = calls[chosen[found]]
    if callers is not None:
        if bool(several.any()):
            _by_process(launch, work, calls, correlation, external_id, start_ns, callers)
        _drop_foreign(launch, calls, correlation, external_id, start_ns, callers)
    return launch


def _by_process(
    launch: Int32,
    work: Int64,
    calls: Int64,
    number: Int64,
    external_id: Int64,
    start_ns: Int64,
    callers: Callers,
) -> None:
    """Settles anew what has a number that calls of several processes carry."""
    doubtful = shared(number[calls], callers.process[calls])
    if not len(doubtful):
        return
    work = work[among(number[work], doubtful)]
    every, calls = calls, calls[among(number[calls], doubtful)]
    launch[work] = -1
    _drop_foreign(launch, every, number, external_id, start_ns, callers)
    if len(work):
        launch[work] = settle(
            work, calls, number, external_id, start_ns, callers.process, callers.lane,
            callers.launching(), launch,
        )  # fmt: skip


def _drop_foreign(
    launch: Int32,
    calls: Int64,
    number: Int64,
    external_id: Int64,
    start_ns: Int64,
    callers: Callers,
) -> None:
    """Takes away unproven launches of what runs on a stream that another process owns."""
    rows, foreign = on_foreign_stream(launch, callers.process, callers.lane)
    if not bool(foreign.any()):
        return
    able = calls[callers.launching()[calls]]
    sure = proven(
        rows, launch[rows].astype(np.int64), number, external_id, start_ns,
        callers.process, able, callers.graph(), foreign,
    )  # fmt: skip
    launch[rows[foreign & ~sure]] = -1


def _latest_before(starts: Int64, first: Int64, behind: Int64, limit: Int64) -> Int64:
    """Per query the last index in [first, behind) with ``starts <= limit``, else ``first``.

    ``starts`` is sorted inside each of these stretches; this is a binary search on all at once.
    """
    low, high = first.copy(), behind.copy()
    while bool((low < high).any()):
        middle = (low + high) // 2
        active = low < high
        later = active & (starts[np.minimum(middle, len(starts) - 1)] > limit)
        high = np.where(later, middle, high)
        low = np.where(active & ~later, middle + 1, low)
    return np.maximum(low - 1, first)
