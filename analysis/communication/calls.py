"""Every collective and copy of a window: how long, how much of it exposed, and hidden by what.

Exposed time is that of the accounting: instants in which nothing else ran that counts more, each
given to the activity that started first. So the parts of a device add up to its exposed
communication and its exposed copies exactly, however many overlap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.intervals import Intervals, Measure, clip, intersect, union
from whichlayer.analysis.results import Analysis, Role, Segments, State
from whichlayer.analysis.trace.columns import Int32, Int64
from whichlayer.analysis.trace.kinds import SliceKind


@dataclass(frozen=True, slots=True)
class Calls:
    """Activities of one kind on one device that have a part in the window, in order of start.

    ``exposed + hidden + shared == inside`` for each of them.

    Attributes:
        row: int32 (n,), trace rows.
        launch: int32 (n,), their launches, -1 where the file holds none.
        start_ns, end_ns: int64 (n,), as recorded.
        inside_ns: int64 (n,), of their time, the part in the window.
        exposed_ns: int64 (n,), what each alone accounts for.
        hidden_ns: int64 (n,), the part beside work that counts more: for a collective compute,
            for a copy compute or a collective.
        shared_ns: int64 (n,), the part that another of the same kind accounts for.
        stream: int64 (n,), stream numbers.
    """

    row: Int32
    launch: Int32
    start_ns: Int64
    end_ns: Int64
    inside_ns: Int64
    exposed_ns: Int64
    hidden_ns: Int64
    shared_ns: Int64
    stream: Int64

    def __len__(self) -> int:
        return len(self.row)

    @property
    def duration_ns(self) -> Int64:
        """How long each lasts, in the window or not: int64 (n,)."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True)
class Overlap:
    """How much of one kind of work ran beside what counts more; ``hidden + exposed == busy``.

    Attributes:
        stream: its number, or None for all of the device.
        busy_ns: time in which any ran, each instant once.
        hidden_ns: the part beside compute (of copies: or a collective).
        exposed_ns: the rest.
    """

    stream: int | None
    busy_ns: int
    hidden_ns: int
    exposed_ns: int


@dataclass(frozen=True, slots=True)
class DeviceOverlap:
    """The overlaps of one device in the window.

    Attributes:
        device: index into ``Analysis.devices``.
        communication, copies: of all streams together.
        streams: of the collectives of each stream; where collectives of two streams overlap,
            both count the instant here.
    """

    device: int
    communication: Overlap
    copies: Overlap
    streams: tuple[Overlap, ...]


def calls_of(analysis: Analysis, device: int, role: Role, kind: SliceKind | None = None) -> Calls:
    """The activities of one device and role that have a part in the window.

    Args:
        analysis: of the recording.
        device: index into ``analysis.devices``.
        role: what they count as.
        kind: only slices of this kind.
    """
    low, high = bounds_of(analysis, device)
    table, trace = analysis.activities, analysis.trace
    mine = (table.device == device) & (table.role == role)
    mine &= (table.end_ns > low) & (table.start_ns < high)
    at = np.flatnonzero(mine)
    if kind is not None:
        at = at[trace.kind[table.row[at]] == kind]
    row = table.row[at]
    start, end = np.maximum(table.start_ns[at], low), np.minimum(table.end_ns[at], high)
    hidden = Measure(_covering(analysis, device, role)).between(start, end)
    streams = np.array([lane.stream for lane in trace.lanes] or [-1], np.int64)
    exposed = table.owned_ns[at]
    return Calls(
        row=row,
        launch=trace.launch[row],
        start_ns=table.start_ns[at],
        end_ns=table.end_ns[at],
        inside_ns=end - start,
        exposed_ns=exposed,
        hidden_ns=hidden,
        shared_ns=end - start - exposed - hidden,
        stream=streams[trace.lane_id[row]],
    )


def overlaps_of(analysis: Analysis) -> tuple[DeviceOverlap, ...]:
    """How much of the communication and of the copies of each device was hidden."""
    return tuple(_overlap_of(analysis, device) for device in range(len(analysis.devices)))


def bounds_of(analysis: Analysis, device: int) -> tuple[int, int]:
    """The part of the window that is not edge on a device; empty where all of it is."""
    if device >= len(analysis.segments):
        return 0, 0
    segments: Segments = analysis.segments[device]
    inner = np.flatnonzero(segments.state != State.EDGE)
    if not len(inner):
        return 0, 0
    return int(segments.start_ns[inner[0]]), int(segments.end_ns[inner[-1]])


def _overlap_of(analysis: Analysis, device: int) -> DeviceOverlap:
    comm, copies = (calls_of(analysis, device, role) for role in (Role.COMM, Role.COPY))
    computes = _covering(analysis, device, Role.COMM)
    works = _covering(analysis, device, Role.COPY)
    bounds = bounds_of(analysis, device)
    return DeviceOverlap(
        device=device,
        communication=_overlap(comm, comm.row >= 0, computes, bounds, None),
        copies=_overlap(copies, copies.row >= 0, works, bounds, None),
        streams=tuple(
            _overlap(comm, comm.stream == stream, computes, bounds, stream)
            for stream in np.unique(comm.stream).tolist()
        ),
    )


def _covering(analysis: Analysis, device: int, role: Role) -> Intervals:
    """When anything ran that counts more than a role."""
    table = analysis.activities
    more = (table.device == device) & (table.role < role)
    return union(table.start_ns[more], table.end_ns[more])


def _overlap(
    calls: Calls,
    chosen: NDArray[np.bool_],
    cover: Intervals,
    bounds: tuple[int, int],
    stream: int | None,
) -> Overlap:
    ran = clip(union(calls.start_ns[chosen], calls.end_ns[chosen]), *bounds)
    hidden = intersect(ran, cover).total
    return Overlap(stream, ran.total, hidden, ran.total - hidden)
