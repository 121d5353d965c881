"""GPU work and launches whose recorded time cannot be true, or may well not be.

Within an hour a recording may hold true idle of any length: what is far from the rest is not
wrong for that. But work never precedes its launch, and a stream does its work in the order in
which it was launched, one after the other. What breaks these rules by more than ten times the
length of everything else has a wrong time. What is as far away and breaks none is doubtful,
unless its launch stands beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whichlayer.analysis.among import among
from whichlayer.analysis.trace.columns import Bool, Int32, Int64, UInt8
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind

#: In lengths of everything else: what is farther from its launch, or from the rest, or lasts longer.
SPANS = 10
#: Everything else must be at least this many activities, and the others at most this share, or one.
ENOUGH, SHARE = 10, 0.01
#: Activities of one stream that begin while another runs: with programmatic launches one may.
_AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class OddTimes:
    """Rows of slices, int64, ascending.

    Attributes:
        broken: work or calls whose time is certainly wrong.
        doubtful: work that lies far from all else, or lasts longer, with nothing to prove it.
    """

    broken: Int64
    doubtful: Int64


_NONE = np.empty(0, np.int64)
_NOTHING = OddTimes(_NONE, _NONE)


@dataclass(frozen=True, slots=True)
class _Work:
    """GPU work: columns of one length.

    Attributes:
        row, start_ns, end_ns, lane: of each.
        launch: row of its launch, -1 for none.
        early_ns, late_ns: from its start to its launch's; from its launch's end to its start.
    """

    row: Int64
    start_ns: Int64
    end_ns: Int64
    lane: Int32
    launch: Int32
    early_ns: Int64
    late_ns: Int64

    def few(self, share: float) -> float:
        return max(1, share * len(self.row))


def odd_times(
    start_ns: Int64,
    end_ns: Int64,
    kind: UInt8,
    lane_id: Int32,
    launch: Int32,
    stray: Bool,
    *,
    spans: float = SPANS,
    share: float = SHARE,
) -> OddTimes:
    """Which GPU work and which launches have times that are wrong or doubtful.

    It follows from GPU work and runtime calls alone, which are known of a part of a recording
    as of all of it.

    Args:
        start_ns: int64 (n,), on any clock.
        end_ns: int64 (n,).
        kind: uint8 (n,), a ``SliceKind`` each.
        lane_id: int32 (n,).
        launch: int32 (n,), the call that launched each, -1 for none.
        stray: bool (n,), slices that are outside the recording anyway.
        spans: from how many lengths of everything else on a time is suspect.
        share: more suspects than this share of the work, and than one, are no exceptions.
    """
    row = np.flatnonzero(among(kind, GPU_WORK) & ~stray)
    if len(row) <= ENOUGH:
        return _NOTHING
    called = np.where(launch[row] >= 0, launch[row], row)
    work = _Work(
        row=row,
        start_ns=start_ns[row],
        end_ns=end_ns[row],
        lane=lane_id[row],
        launch=launch[row],
        early_ns=start_ns[called] - start_ns[row],
        late_ns=start_ns[row] - end_ns[called],
    )
    calls = np.flatnonzero((kind == SliceKind.RUNTIME) & ~stray)
    everything = np.concatenate((row, calls))
    starts = start_ns[everything]
    length = work.end_ns - work.start_ns
    few = int(work.few(share))
    ordered = np.partition(starts, (few, len(starts) - 1 - few))
    core = int(spans * max(int(ordered[-1 - few]) - int(ordered[few]), 1))
    low, high = int(ordered[few]) - core, int(ordered[-1 - few]) + core
    apart = (work.early_ns > core) | (work.late_ns > core)
    outside = (work.start_ns < low) | (work.start_ns > high)
    suspect = apart | outside | (length > core)
    if not bool(suspect.any()) or int(suspect.sum()) > work.few(share):
        return _NOTHING
    hidden = np.zeros(len(start_ns), np.bool_)
    hidden[work.row[suspect]] = True
    hidden[work.launch[apart & (work.launch >= 0)]] = True
    rest = everything[~hidden[everything]]
    first, last = int(start_ns[rest].min()), int(end_ns[rest].max())
    return _judged(work, np.flatnonzero(suspect), start_ns, (first, last), spans)


def _judged(
    work: _Work, suspects: Int64, start_ns: Int64, rest: tuple[int, int], spans: float
) -> OddTimes:
    """Sorts suspects out, given when the first of the rest starts and the last ends."""
    first, last = rest
    far = spans * max(last - first, 1)
    broken: set[int] = set()
    doubtful: set[int] = set()
    overtaken = _overtaken(work)
    for at in suspects.tolist():
        row, start, end = int(work.row[at]), int(work.start_ns[at]), int(work.end_ns[at])
        late = int(work.late_ns[at]) > far
        if int(work.early_ns[at]) > far or (late and bool(overtaken[at])):
            call = int(work.launch[at])
            own, other = (_away(time, first, last) for time in (start, int(start_ns[call])))
            broken.add(row if own >= other else call)
        elif end - start > far:
            inside = (work.lane == work.lane[at]) & (work.start_ns > start) & (work.start_ns < end)
            (broken if int(inside.sum()) >= _AT_ONCE else doubtful).add(row)
        elif _away(start, first, last) > far and (late or work.launch[at] < 0):
            doubtful.add(row)
    return OddTimes(*(np.array(sorted(rows), np.int64) for rows in (broken, doubtful)))


def _away(time: int, first: int, last: int) -> int:
    return max(first - time, time - last, 0)


def _overtaken(work: _Work) -> Bool:
    """Which work began after work of its stream that was launched later."""
    called = work.start_ns + work.early_ns
    order = np.lexsort((called, work.lane))
    found = np.zeros(len(order), np.bool_)
    linked = work.launch >= 0
    order = order[linked[order]]
    lanes = work.lane[order]
    for rows in np.split(order, np.flatnonzero(np.diff(lanes)) + 1):
        start = work.start_ns[rows]
        earliest = np.minimum.accumulate(start[::-1])[::-1]
        found[rows[:-1]] = (earliest[1:] < start[:-1]) & (called[rows[1:]] > called[rows[:-1]])
    return found
