"""What cost nothing, for whoever asks: calls and transfers that the queue or other work hid.

A loader call, a sync, an allocation or a copy is charged with a gap only where the device had to
wait for it (``whichlayer.analysis.gaps``). The rest of its time is *covered*: it is told here on
request, with what the devices did meanwhile, and is never a finding.

Exactly: of the time in the window that a launching thread is in calls of a cause, what lies in no
gap that is charged to that cause, to the very call or to nobody; likewise for the transfers and
collectives of a device. The ramp after a call may still be charged to it: such calls are not counted as
covered, though the time within them can be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.findings.where import where_of
from whichlayer.analysis.gaps.blocking import BlockingCopy, blocking_copies, cause_of_copy
from whichlayer.analysis.gaps.catalogue import cause_code, cause_ids, cause_rules
from whichlayer.analysis.gaps.host import Marks, launching_lanes
from whichlayer.analysis.gaps.stretches import host_states
from whichlayer.analysis.intervals import Intervals, Measure, clip, intersect, subtract, union
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Analysis, Role, Where

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Covered:
    """Calls of one cause on one thread, or transfers of one kind on one device.

    Attributes:
        rule: the cause that they would be where they cost time.
        layer: whose that would be.
        title: the same in words.
        device: index into ``Analysis.devices`` of transfers, -1 of calls.
        lane: the thread of calls, -1 of transfers.
        time_ns: their time in the window that no gap is charged with.
        charged_ns: the rest of their time there.
        events: those with any time in the window.
        covered_events: those that no gap holds or names.
        busy_ns: of ``time_ns``, with any device at work (calls), or the same device computing.
        row: the slice with the longest covered stretch.
        start_ns, end_ns: that stretch.
        where: its place in the code.
        why: why it cost nothing.
    """

    rule: str
    layer: Layer
    title: str
    device: int
    lane: int
    time_ns: int
    charged_ns: int
    events: int
    covered_events: int
    busy_ns: int
    row: int
    start_ns: int
    end_ns: int
    where: Where
    why: str


@dataclass(frozen=True, slots=True)
class _Events:
    """Stretches of one cause: int64 (n,) times, and the slice that each is a part of."""

    start: Int64
    end: Int64
    row: Int32


def covered_causes(analysis: Analysis) -> tuple[Covered, ...]:
    """Everything that cost nothing, most time first; empty without GPU activity."""
    if not analysis.devices:
        return ()
    trace = analysis.trace
    marks = Marks(trace, blocking_copies(trace))
    found = [*_of_threads(analysis, marks), *_of_devices(analysis, marks.blocking)]
    return tuple(sorted(found, key=lambda one: -one.time_ns))


def _of_threads(analysis: Analysis, marks: Marks) -> Iterator[Covered]:
    """Calls of the threads that launch work or run the steps: only those can keep a GPU waiting."""
    trace, activities = analysis.trace, analysis.activities
    busy = union(activities.start_ns, activities.end_ns)
    # Where collectives run on a GPU they are told there, and their host side is dispatch.
    told_there = {cause_code("exposed-comm")} if (activities.role == Role.COMM).any() else set()
    lanes = [*launching_lanes(trace), *(step.lane_id for step in analysis.window.steps)]
    for lane in dict.fromkeys(lanes):
        states = host_states(trace, marks, lane)
        end = np.append(states.start_ns[1:], states.start_ns[-1:])
        for code in np.unique(states.drain[states.drain >= 0]).tolist():
            if code in told_there:
                continue
            chosen = states.drain == code
            events = _Events(states.start_ns[chosen], end[chosen], states.row[chosen])
            of_these = marks.code == code
            of_these[events.row[events.row >= 0]] = True
            charged = _charged(analysis, code, of_these)
            told = _covered(analysis, code, events, charged, busy)
            if told is not None:
                yield _entry(analysis, code, told, lane=lane)


def _of_devices(analysis: Analysis, blocking: dict[int, BlockingCopy]) -> Iterator[Covered]:
    """Transfers and collectives; copies that block are told by their calls."""
    activities = analysis.activities
    code = _transfer_codes(analysis, blocking)
    for device in range(len(analysis.devices)):
        mine = activities.device == device
        own = mine & (activities.role == Role.COMPUTE)
        compute = union(activities.start_ns[own], activities.end_ns[own])
        for one in np.unique(code[mine & (code >= 0)]).tolist():
            chosen = mine & (code == one)
            rows = activities.row[chosen]
            events = _Events(activities.start_ns[chosen], activities.end_ns[chosen], rows)
            of_these = np.zeros(len(analysis.trace), np.bool_)
            of_these[rows] = True
            charged = _charged(analysis, one, of_these, device)
            told = _covered(analysis, one, events, charged, compute)
            if told is not None:
                yield _entry(analysis, one, told, device=device)


def _transfer_codes(analysis: Analysis, blocking: dict[int, BlockingCopy]) -> Int32:
    """By activity the cause that it would be if nothing covered it, -1 for compute."""
    trace, activities = analysis.trace, analysis.activities
    code = np.full(len(activities.row), -1, np.int32)
    code[activities.role == Role.COMM] = cause_code("exposed-comm")
    copies = np.flatnonzero(activities.role == Role.COPY)
    rows = activities.row[copies]
    blocks = among(trace.launch[rows], np.array([*blocking], np.int64))
    copies, rows = copies[~blocks], rows[~blocks]
    names, first, inverse = np.unique(trace.name_id[rows], return_index=True, return_inverse=True)
    told = [cause_code(cause_of_copy(trace, {}, int(rows[i]), -1)) for i in first.tolist()]
    if len(names):
        code[copies] = np.array(told, np.int32)[inverse]
    return code


def _charged(
    analysis: Analysis, code: int, of_these: NDArray[np.bool_], device: int = -1
) -> tuple[Intervals, Int32]:
    """When gaps are charged to a cause or to one of these slices, and the slices they name."""
    gaps = analysis.gaps
    culprit = gaps.culprit_row
    mine = (gaps.cause == code) | ((culprit >= 0) & of_these[np.maximum(culprit, 0)])
    mine |= gaps.cause == cause_code("unattributed")  # nobody knows that it cost nothing
    if device >= 0:
        mine &= gaps.device == device
    return union(gaps.start_ns[mine], gaps.end_ns[mine]), culprit[mine]


@dataclass(frozen=True, slots=True)
class _Told:
    """Figures of an entry: see :class:`Covered`."""

    time_ns: int
    charged_ns: int
    events: int
    covered_events: int
    busy_ns: int
    rest: str
    row: int
    start_ns: int
    end_ns: int


def _owner_of(analysis: Analysis, rest: Intervals) -> str:
    """The cause that owns most of the gaps in some time, or empty."""
    gaps = analysis.gaps
    if not len(gaps) or not len(rest):
        return ""
    time = Measure(rest).between(gaps.start_ns, gaps.end_ns)
    by_cause = np.bincount(gaps.cause, time, minlength=len(gaps.rule_ids))
    return gaps.rule_ids[int(by_cause.argmax())] if by_cause.any() else ""


def _covered(
    analysis: Analysis,
    code: int,
    events: _Events,
    charged: tuple[Intervals, Int32],
    busy: Intervals,
) -> _Told | None:
    """The figures of some events; None where no time of them is covered."""
    low, high = analysis.window.start_ns, analysis.window.end_ns
    start, end = np.maximum(events.start, low), np.minimum(events.end, high)
    inside = end > start
    start, end, row = start[inside], end[inside], events.row[inside]
    whole = union(start, end)
    held, named = clip(charged[0], low, high), charged[1]
    free = subtract(whole, held)
    if not free.total:
        return None
    cost = Measure(held).between(start, end) > 0
    blamed = np.union1d(row[cost], named)
    distinct = np.unique(row)
    longest = int((free.end - free.start).argmax())
    begin, finish = int(free.start[longest]), int(free.end[longest])
    part = np.minimum(end, finish) - np.maximum(start, begin)
    return _Told(
        time_ns=free.total,
        charged_ns=whole.total - free.total,
        events=len(distinct),
        covered_events=int((~among(distinct, blamed)).sum()),
        busy_ns=intersect(free, busy).total,
        rest=_owner_of(analysis, subtract(free, busy)),
        row=int(row[int(part.argmax())]),
        start_ns=begin,
        end_ns=finish,
    )


def _entry(analysis: Analysis, code: int, told: _Told, lane: int = -1, device: int = -1) -> Covered:
    rule = cause_rules()[cause_ids()[code]]
    share = f"{100 * told.busy_ns / told.time_ns:.1f} %"
    trace, roots = analysis.trace, analysis.options.source_roots
    if lane >= 0:
        why = f"a GPU was at work for {share} of it"
        place = where_of(trace, told.row, roots)
    else:
        why = f"the GPU computed beside it for {share} of it"
        place = where_of(trace, int(trace.launch[told.row]), roots)
    if told.busy_ns < told.time_ns:
        why += f"; the rest is {told.rest or 'launch spacing or outside the steps'}"
    return Covered(
        rule=rule.id,
        layer=rule.layer,
        title=rule.title,
        device=device,
        lane=lane,
        time_ns=told.time_ns,
        charged_ns=told.charged_ns,
        events=told.events,
        covered_events=told.covered_events,
        busy_ns=told.busy_ns,
        row=told.row,
        start_ns=told.start_ns,
        end_ns=told.end_ns,
        where=place,
        why=why,
    )
