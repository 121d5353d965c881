"""Builds the columnar :class:`Trace` from what a reader found, in file order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from whichlayer.analysis.among import among
from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.text import clean, plural
from whichlayer.analysis.trace.broken import odd_times
from whichlayer.analysis.trace.classify import annotation_names
from whichlayer.analysis.trace.columns import (
    Counters,
    Flows,
    Instants,
    Int32,
    Int64,
    Lane,
    Part,
    Trace,
    UInt8,
    byte_of,
)
from whichlayer.analysis.trace.dropped import Dropped
from whichlayer.analysis.trace.extent import Extent, extent_of
from whichlayer.analysis.trace.far_marks import far_marks
from whichlayer.analysis.trace.kinds import GPU_WORK, LaneKind, SliceKind
from whichlayer.analysis.trace.lanes import Naming, lane_order, name_lane
from whichlayer.analysis.trace.launches import Callers, join_launches
from whichlayer.analysis.trace.nesting import nest_slices
from whichlayer.analysis.trace.shared_numbers import can_launch, launches_graphs
from whichlayer.analysis.trace.steps import find_steps


@dataclass(slots=True)
class Slices:
    """Slices in any order: the columns of :class:`Trace` that a reader knows.

    Times are nanoseconds on the file's own clock. ``event`` is the slice's number among all
    events of the file.
    """

    start_ns: Int64
    end_ns: Int64
    name_id: Int32
    category_id: Int32
    kind: UInt8
    lane_id: Int32
    correlation: Int64
    external_id: Int64
    detail_id: Int32
    event: Int64

    def take(self, order: Int64) -> None:
        """Keeps the given rows, in the given order."""
        for column in fields(self):
            setattr(self, column.name, getattr(self, column.name)[order])


@dataclass(slots=True)
class Recording:
    """Everything a reader found in a file; times are on the file's own clock.

    Attributes:
        lanes: in any order, ``lane_id`` columns index it; names may be missing.
        full_args: given the ``event`` column in the trace's order, what reads a row's arguments.
        stretch: the stretch of which everything is kept, None where everything is anyway.
        dropped: slices that lie outside it and are not kept.
        marked: the first and the last time of all instants and counter samples, those that are
            not kept included; None where the reader kept them all.
        complete: the file has been read; what is assembled meanwhile looks up nothing in it.
    """

    path: str
    producer: str
    header: Mapping[str, Any]
    base_ns: int | None
    strings: Sequence[str]
    details: Sequence[bytes]
    slices: Slices
    lanes: Sequence[Lane]
    naming: Naming
    instants: Instants
    counters: Counters
    flows: Flows
    events: int
    full_args: Callable[[Int64], Callable[[int], Mapping[str, Any]]]
    warnings: list[TraceWarning] = field(default_factory=list)
    stretch: tuple[int, int] | None = None
    dropped: Dropped | None = None
    marked: tuple[int, int] | None = None
    complete: bool = True


def assemble(recording: Recording) -> Trace:
    """Orders, nests and joins the slices of a recording."""
    slices = recording.slices
    _mark_annotations(slices, recording.strings)
    extent = extent_of(
        slices.start_ns, slices.end_ns, slices.kind, recording.dropped, _marked(recording)
    )
    order = lane_order(recording.lanes, recording.naming)
    new_lane = np.empty(len(order), np.int32)
    new_lane[order] = np.arange(len(order), dtype=np.int32)
    slices.lane_id = new_lane[slices.lane_id]
    lane_rows, by_time = _sort(slices, len(order))
    slices.take(by_time)
    callers = _callers(recording, order)
    launch = join_launches(
        slices.kind, slices.correlation, slices.external_id, slices.start_ns, callers
    )
    extent = _without_broken(recording, replace(extent, stray=extent.stray[by_time]), launch)
    stray, origin_ns = extent.stray, extent.origin_ns
    launch[stray[launch] & (launch >= 0)] = -1
    slices.start_ns -= origin_ns
    slices.end_ns -= origin_ns
    parent, depth = nest_slices(
        slices.start_ns,
        slices.end_ns,
        lane_rows,
        [recording.lanes[index].kind == LaneKind.GPU_STREAM for index in order],
    )
    full_args = recording.full_args(slices.event)
    warnings = list(recording.warnings)
    if extent.strays:
        warnings.append(_stray_warning(recording, slices, extent, full_args))
    return Trace(
        path=recording.path,
        producer=recording.producer,
        header=recording.header,
        origin_ns=origin_ns,
        base_ns=recording.base_ns,
        strings=recording.strings,
        start_ns=slices.start_ns,
        end_ns=slices.end_ns,
        name_id=slices.name_id,
        category_id=slices.category_id,
        kind=slices.kind,
        lane_id=slices.lane_id,
        correlation=slices.correlation,
        external_id=slices.external_id,
        detail_id=slices.detail_id,
        parent=parent,
        depth=depth,
        launch=launch,
        stray=stray,
        lanes=tuple(name_lane(recording.lanes[index], recording.naming) for index in order),
        lane_rows=lane_rows,
        steps=find_steps(
            recording.strings,
            slices.name_id,
            slices.kind,
            slices.lane_id,
            slices.start_ns,
            slices.end_ns,
            ~stray,
        ),
        instants=_moved_instants(recording.instants, origin_ns, new_lane),
        counters=_moved_counters(recording.counters, origin_ns),
        flows=replace(
            recording.flows,
            time_ns=recording.flows.time_ns - origin_ns,
            lane_id=_moved_lanes(recording.flows.lane_id, new_lane),
        ),
        events=recording.events,
        warnings=tuple(warnings),
        _details=recording.details,
        _full_args=full_args,
        part=_part(recording.stretch, extent),
    )


def _callers(recording: Recording, order: Sequence[int]) -> Callers | None:
    """The processes behind the slices; None where only one has threads."""
    lanes = [recording.lanes[index] for index in order]
    threads = {lane.pid: 0 for lane in lanes if lane.kind == LaneKind.CPU_THREAD}
    if len(threads) < 2:
        return None
    number = {pid: index for index, pid in enumerate(threads)}
    process = np.array([number.get(lane.pid, -1) for lane in lanes], np.int32)
    slices = recording.slices
    return Callers(
        process[slices.lane_id],
        slices.lane_id,
        lambda: can_launch(recording.strings)[slices.name_id],
        lambda: launches_graphs(recording.strings)[slices.name_id],
    )


def _without_broken(recording: Recording, extent: Extent, launch: Int32) -> Extent:
    """The extent, once those are known that their launches prove to be elsewhere."""
    slices = recording.slices
    start, end, kind = slices.start_ns, slices.end_ns, slices.kind
    broken = odd_times(start, end, kind, slices.lane_id, launch, extent.stray).broken
    marks = far_marks(recording.strings, slices.name_id, kind, start, end, extent.stray)
    broken = np.union1d(broken, marks)
    if not len(broken):
        return extent
    return extent_of(start, end, kind, recording.dropped, _marked(recording), broken)


def _stray_warning(
    recording: Recording,
    slices: Slices,
    extent: Extent,
    full_args: Callable[[int], Mapping[str, Any]],
) -> TraceWarning:
    """How many strays there are, and where the first of the GPU and its calls stands.

    Of a part of a recording others are counted, and nothing else is known of them.
    """
    verbs = ("lies", "is") if extent.strays == 1 else ("lie", "are")
    said = "{} {} far outside the recording and {} not counted".format(
        plural(extent.strays, "event"), *verbs
    )
    rows = np.flatnonzero(extent.stray & among(slices.kind, (*GPU_WORK, SliceKind.RUNTIME)))
    first = int(rows[slices.event[rows].argmin()]) if len(rows) else -1
    offset = byte_of(full_args, first) if recording.complete else -1
    if offset >= 0:
        name = clean(recording.strings[int(slices.name_id[first])])[:60]
        said += f"; the first of the GPU and its calls is {name} at byte {offset}"
    return TraceWarning("Q6", said, extent.strays, offset)


def _marked(recording: Recording) -> tuple[int, int] | None:
    """The first and the last time of instants and counter samples; None without any."""
    if recording.marked is not None:
        return recording.marked
    times = [each.time_ns for each in (recording.instants, recording.counters)]
    some = [each for each in times if len(each)]
    if not some:
        return None
    return min(int(each.min()) for each in some), max(int(each.max()) for each in some)


def _mark_annotations(slices: Slices, strings: Sequence[str]) -> None:
    named = annotation_names(strings)
    if named.any():
        plain = (slices.kind == SliceKind.CPU_OP) | (slices.kind == SliceKind.OTHER)
        slices.kind[plain & named[slices.name_id]] = SliceKind.ANNOTATION


def _part(stretch: tuple[int, int] | None, extent: Extent) -> Part | None:
    if stretch is None:
        return None
    low, high = (edge - extent.origin_ns for edge in stretch)
    return Part(low, high, extent.last_ns - extent.origin_ns)


def _sort(slices: Slices, lanes: int) -> tuple[Int64, Int64]:
    """Where each lane's slices begin, and the order by lane, start, longer first, file."""
    narrow = slices.lane_id.astype(np.uint16) if lanes < 1 << 16 else slices.lane_id
    order = np.argsort(narrow, kind="stable")
    lane_rows = np.zeros(lanes + 1, np.int64)
    np.cumsum(np.bincount(slices.lane_id, minlength=lanes), out=lane_rows[1:])
    for first, last in zip(lane_rows[:-1].tolist(), lane_rows[1:].tolist(), strict=True):
        rows = order[first:last]
        start = slices.start_ns[rows]
        if bool((start[1:] <= start[:-1]).any()):
            keys = (slices.event[rows], -slices.end_ns[rows], start)
            order[first:last] = rows[np.lexsort(keys)]
    return lane_rows, order


def _moved_lanes(lane_id: Int32, new_lane: Int32) -> Int32:
    moved = np.full(len(lane_id), -1, np.int32)
    known = lane_id >= 0
    moved[known] = new_lane[lane_id[known]]
    return moved


def _moved_instants(instants: Instants, origin_ns: int, new_lane: Int32) -> Instants:
    order = np.argsort(instants.time_ns, kind="stable")
    return Instants(
        time_ns=instants.time_ns[order] - origin_ns,
        lane_id=_moved_lanes(instants.lane_id[order], new_lane),
        name_id=instants.name_id[order],
        value=instants.value[order],
        size=instants.size[order],
        reserved=instants.reserved[order],
        allocator=instants.allocator[order],
    )


def _moved_counters(counters: Counters, origin_ns: int) -> Counters:
    order = np.lexsort((counters.time_ns, counters.series_id))
    return Counters(
        series=counters.series,
        series_id=counters.series_id[order],
        time_ns=counters.time_ns[order] - origin_ns,
        value=counters.value[order],
    )
