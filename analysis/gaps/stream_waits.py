"""What queued work waited for on the device: the work of another stream that an event stood for.

Where synchronisation events are recorded (cat ``cuda_sync``) they name the event, also one of
another device. Elsewhere it is read off the times: work that had been queued before, whose own
stream was free, and that begins right when another stream's work has ended.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind

_Streams = dict[tuple[int, int], tuple[NDArray[np.int64], NDArray[np.intp]]]
#: A stream that was still busy this shortly before has not waited for another one.
FREE_NS = 1_000
#: Clocks and rounding: recorded work may begin this much before what it waited for has ended.
TICK_NS = 2_000


class StreamWaits:
    """Looks up what the activities of one device waited for."""

    def __init__(self, trace: Trace, activities: Activities) -> None:
        """Read recorded events once; cheap where there are none."""
        self._trace = trace
        self._activities = activities
        self._recorded = _recorded_waits(trace, activities)
        end = activities.end_ns
        reach = np.maximum.accumulate(end) if len(end) else end
        latest = np.where(end >= reach, np.arange(len(end)), 0)
        self._latest = np.maximum.accumulate(latest) if len(end) else latest
        self._before = _before_on_stream(activities)

    def waited_for(self, following: int, piece_start: int, within_ns: int) -> int:
        """The trace row of the work that an activity waited for, -1 where that is not known.

        Args:
            following: the activity.
            piece_start: when the device had become idle, to judge by the times as well; -1 to
                go by recorded events alone.
            within_ns: work that ended longer than this before explains nothing.
        """
        activities = self._activities
        told = self._recorded.get(int(activities.row[following]), -1)
        begin = int(activities.start_ns[following])
        if told >= 0 and begin - int(self._trace.end_ns[told]) <= within_ns:
            return told
        if piece_start < 0 or following == 0:
            return -1
        other = int(self._latest[following - 1])
        if activities.lane[other] == activities.lane[following]:
            return -1
        before = int(self._before[following])
        own_end = int(activities.end_ns[before]) if before >= 0 else -1
        free = own_end + FREE_NS <= piece_start
        launch = int(activities.launch[following])
        queued = launch >= 0 and int(self._trace.end_ns[launch]) <= piece_start
        ended = int(activities.end_ns[other]) == piece_start
        return int(activities.row[other]) if free and queued and ended else -1


def _before_on_stream(activities: Activities) -> NDArray[np.int64]:
    """The activity before each on its own stream, -1 for none: int64 (n,)."""
    order = np.argsort(activities.lane, kind="stable")
    before = np.full(len(order), -1, np.int64)
    same = activities.lane[order[1:]] == activities.lane[order[:-1]]
    before[order[1:][same]] = order[:-1][same]
    return before


def _recorded_waits(trace: Trace, activities: Activities) -> dict[int, int]:
    """By the row of an activity of this device the row of the work it waited for."""
    syncs = np.flatnonzero(trace.kind == SliceKind.GPU_SYNC)
    waits = [
        row
        for row in syncs.tolist()
        if trace.detail(row).get("cuda_sync_kind") == "Stream Wait Event"
    ]
    if not waits:
        return {}
    calls = np.flatnonzero((trace.kind == SliceKind.RUNTIME) & (trace.correlation > 0))
    began = dict(
        zip(trace.correlation[calls].tolist(), trace.start_ns[calls].tolist(), strict=True)
    )
    streams = _by_stream(trace)
    mine = set(activities.row.tolist())
    found: dict[int, int] = {}
    for row in waits:
        detail = trace.detail(row)
        device = trace.lanes[int(trace.lane_id[row])].device
        asked = began.get(int(trace.correlation[row]))
        recorded = began.get(_number(detail.get("wait_on_cuda_event_record_corr_id")))
        ours = streams.get((device, _number(detail.get("stream"))))
        if asked is None or recorded is None or ours is None:
            continue
        at = int(np.searchsorted(ours[0], asked, "left"))
        if at >= len(ours[0]) or int(ours[1][at]) not in mine:
            continue
        waiting = int(ours[1][at])
        for other in _stood_for(streams, _number(detail.get("wait_on_stream")), recorded):
            ended = trace.end_ns[other] <= trace.start_ns[waiting] + TICK_NS
            if ended and _later(trace, other, found.get(waiting, -1)):
                found[waiting] = other
    return found


def _stood_for(streams: _Streams, number: int, recorded: int) -> list[int]:
    """The last work of each stream of that number when an event was recorded.

    Streams of several devices bear the same numbers and an event may be another device's.
    """
    found = []
    for (_, stream), (launched, rows) in streams.items():
        behind = int(np.searchsorted(launched, recorded, "left")) - 1
        if stream == number and behind >= 0:
            found.append(int(rows[behind]))
    return found


def _later(trace: Trace, row: int, than: int) -> bool:
    """Whether work ended after other work: of several events the last decides."""
    return than < 0 or bool(trace.end_ns[row] > trace.end_ns[than])


def _by_stream(trace: Trace) -> _Streams:
    """Per (device, stream) the launch times of its work, ascending, and their rows."""
    rows = np.flatnonzero(np.isin(trace.kind, GPU_WORK) & (trace.launch >= 0))
    rows = rows[np.argsort(trace.start_ns[trace.launch[rows]], kind="stable")]
    found = {}
    for lane in np.unique(trace.lane_id[rows]).tolist():
        mine = rows[trace.lane_id[rows] == lane]
        key = (trace.lanes[lane].device, trace.lanes[lane].stream)
        found[key] = (trace.start_ns[trace.launch[mine]], mine)
    return found


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else -1
