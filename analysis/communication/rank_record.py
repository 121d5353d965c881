"""What is kept of one rank's collectives, so that ranks are compared without keeping their traces.

No clock of one rank is compared with that of another: only durations, and what a rank did between
the end of one collective and the start of the next.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from whichlayer.analysis.communication.calls import Calls, bounds_of, calls_of
from whichlayer.analysis.communication.metadata import Collective, describe, sequence_numbers
from whichlayer.analysis.gaps.explain import explain_gap
from whichlayer.analysis.intervals import Intervals, Measure, union
from whichlayer.analysis.results import Analysis, Role, Where
from whichlayer.analysis.trace.columns import Int64, Trace
from whichlayer.analysis.trace.kinds import LaneKind

#: Of so many collectives with the most of a cause before them its place in the code is kept.
_PLACES = 12
_STEP = re.compile(r"ProfilerStep#(\d{1,18})")

#: Stands for the GPU's own work in place of a cause of gaps.
COMPUTE = "compute"


@dataclass(frozen=True, slots=True)
class Place:
    """A gap before a collective.

    Attributes:
        start_ns, end_ns: of the longest piece.
        rule: its cause.
        where: the place to fix it.
        evidence: what proves it, in lines.
    """

    start_ns: int
    end_ns: int
    rule: str
    where: Where
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RankRecord:
    """The collectives of one rank in its window, in the order in which they were launched.

    Attributes:
        rank: its number in the job, or None where it is not told.
        name: what it is called: ``rank 3``, or ``GPU1`` of a recording of several.
        path: the recording.
        device: number of the GPU as recorded.
        window_ns: length of the window.
        known, index: what each is, as in :class:`~whichlayer.analysis.communication.metadata.
            Described`; ``index`` int32 (n,).
        sequence: int64 (n,), number within the process group, -1 where not recorded.
        step: int64 (n,), the N of the ``ProfilerStep#N`` that launched it, else -1.
        start_ns, end_ns: int64 (n,), on this rank's own clock.
        exposed_ns: int64 (n,), of the accounting.
        spent: names of what the time before a collective is split into: :data:`COMPUTE` and the
            causes of gaps.
        before_ns: int64 (n, spent), from the end of the collectives before to its start; zero
            where one was still running.
        places: by cause and collective, its longest gap before it; where it is most only.
    """

    rank: int | None
    name: str
    path: str
    device: int
    window_ns: int
    known: tuple[Collective, ...]
    index: np.ndarray[tuple[int], np.dtype[np.int32]]
    sequence: Int64
    step: Int64
    start_ns: Int64
    end_ns: Int64
    exposed_ns: Int64
    spent: tuple[str, ...]
    before_ns: Int64
    places: Mapping[str, Mapping[int, Place]]

    def __len__(self) -> int:
        return len(self.start_ns)

    @property
    def duration_ns(self) -> Int64:
        """How long each lasts: int64 (n,)."""
        return self.end_ns - self.start_ns


def record_ranks(analysis: Analysis, rank: int | None, name: str) -> list[RankRecord]:
    """One record for each device of an analysis that communicates in its window.

    Args:
        analysis: of one recording.
        rank: its rank, or None.
        name: what to call it; of several devices each is called by its GPU besides.
    """
    several = len(analysis.devices) > 1
    found = []
    for device in range(len(analysis.devices)):
        calls = calls_of(analysis, device, Role.COMM)
        if len(calls):
            number = analysis.devices[device].number
            told = f"{name} GPU{number}".strip() if several else name
            found.append(_record(analysis, device, calls, None if several else rank, told))
    return found


def _record(
    analysis: Analysis, device: int, calls: Calls, rank: int | None, name: str
) -> RankRecord:
    trace, window = analysis.trace, analysis.window
    launched = np.where(calls.launch >= 0, trace.start_ns[calls.launch], calls.start_ns)
    described = describe(trace, calls.row, calls.launch)
    gap_ends = np.concatenate(
        ([bounds_of(analysis, device)[0]], np.maximum.accumulate(calls.end_ns)[:-1])
    )
    low = np.minimum(gap_ends, calls.start_ns)
    spent, before = _before(analysis, device, low, calls.start_ns)
    # A communicator's collectives run in the order of their launches, whatever the stream.
    order = np.lexsort((calls.start_ns, launched))
    places = _places(analysis, device, low[order], calls.start_ns[order])
    return RankRecord(
        rank=rank,
        name=name,
        path=trace.path,
        device=analysis.devices[device].number,
        window_ns=window.end_ns - window.start_ns,
        known=described.known,
        index=described.index[order],
        sequence=sequence_numbers(trace, described, calls.row)[order],
        step=_steps(trace, launched)[order],
        start_ns=calls.start_ns[order],
        end_ns=calls.end_ns[order],
        exposed_ns=calls.exposed_ns[order],
        spent=spent,
        before_ns=before[order],
        places=places,
    )


def _before(
    analysis: Analysis, device: int, low: Int64, high: Int64
) -> tuple[tuple[str, ...], Int64]:
    """How the device spent each ``[low, high)``: compute, and gaps by cause."""
    table, gaps = analysis.activities, analysis.gaps
    computes = (table.device == device) & (table.role == Role.COMPUTE)
    busy = union(table.start_ns[computes], table.end_ns[computes])
    names, columns = [COMPUTE], [Measure(busy).between(low, high)]
    mine = gaps.device == device
    for code in np.unique(gaps.cause[mine]).tolist():
        chosen = mine & (gaps.cause == code)
        pieces = Intervals(gaps.start_ns[chosen], gaps.end_ns[chosen])
        names.append(gaps.rule_ids[code])
        columns.append(Measure(pieces).between(low, high))
    return tuple(names), np.stack(columns, 1)


def _places(
    analysis: Analysis, device: int, low: Int64, high: Int64
) -> dict[str, dict[int, Place]]:
    """By cause, its longest gap in each of the stretches that have the most of it."""
    gaps = analysis.gaps
    mine = gaps.device == device
    return {
        gaps.rule_ids[code]: _places_of(analysis, mine & (gaps.cause == code), low, high)
        for code in np.unique(gaps.cause[mine]).tolist()
    }


def _places_of(
    analysis: Analysis, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]], low: Int64, high: Int64
) -> dict[int, Place]:
    gaps = analysis.gaps
    mine = np.flatnonzero(chosen)
    start, end = gaps.start_ns[mine], gaps.end_ns[mine]
    first, last = np.searchsorted(end, low, "right"), np.searchsorted(start, high, "left")
    pieces = Measure(Intervals(start, end)).between(low, high)
    found: dict[int, Place] = {}
    for i in np.argsort(-pieces, kind="stable")[:_PLACES].tolist():
        if first[i] >= last[i]:
            continue
        inside = slice(int(first[i]), int(last[i]))
        index = inside.start + int((end[inside] - start[inside]).argmax())
        text = explain_gap(analysis, int(mine[index]))
        found[i] = Place(int(start[index]), int(end[index]), text.rule, text.where, text.evidence)
    return found


def _steps(trace: Trace, time: Int64) -> Int64:
    """The step of PyTorch's profiler at each time, -1 outside of them; all ranks count alike."""
    found = [
        (step.start_ns, step.end_ns, int(match[1]))
        for step in trace.steps
        if (match := _STEP.match(step.name))
        and trace.lanes[step.lane_id].kind == LaneKind.CPU_THREAD
    ]
    if not found:
        return np.full(len(time), -1, np.int64)
    start, end, number = np.array(found, np.int64).T
    at = np.searchsorted(start, time, "right") - 1
    inside = (at >= 0) & (time < end[np.maximum(at, 0)])
    return np.where(inside, number[np.maximum(at, 0)], -1)
