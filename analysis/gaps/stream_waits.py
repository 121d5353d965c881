"""What queued work waited for on the device: the work of another stream that an event stood for.

Where synchronisation events are recorded (cat ``cuda_sync``) they name the event, also one of
another device. Elsewhere it is read off the times: work that had been queued before, whose own
stream was free, and that begins right when another stream's work has ended.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.remembered import once_per_trace
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

#: A stream that was still busy this shortly before has not waited for another one.
FREE_NS = 1_000
#: Clocks and rounding: recorded work may begin this much before what it waited for has ended.
TICK_NS = 2_000
#: So many recorded waits before a launch are looked at.
LOOKED_AT = 64


class StreamWaits:
    """Looks up what the activities of one device waited for."""

    def __init__(self, trace: Trace, activities: Activities) -> None:
        """Prepare the look-up; recorded events are read only where they are asked for."""
        self._trace = trace
        self._activities = activities
        self._recorded = _recorded_events(trace)
        end = activities.end_ns
        reach = np.maximum.accumulate(end) if len(end) else end
        latest = np.where(end >= reach, np.arange(len(end)), 0)
        self._latest = np.maximum.accumulate(latest) if len(end) else latest
        self._before = _before_on_stream(activities)

    def waited_for(self, following: Int64, piece_start: Int64, within_ns: Int64) -> Int32:
        """The trace rows of the work that activities waited for, -1 where that is not known.

        Args:
            following: int64 (n,), the activities.
            piece_start: int64 (n,), when the device had become idle, to judge by the times as
                well; -1 to go by recorded events alone.
            within_ns: int64 (n,), work that ended longer than this before explains nothing.
        """
        found = self._by_times(following, piece_start)
        if self._recorded is not None:
            asked = zip(following.tolist(), within_ns.tolist(), strict=True)
            told = np.array([self._by_events(*each) for each in asked], np.int32)
            found = np.where(told >= 0, told, found)
        return found

    def _by_events(self, following: int, within_ns: int) -> int:
        """What recorded events tell that one activity waited for."""
        assert self._recorded is not None
        before = int(self._before[following])
        since = int(self._activities.launch[before]) if before >= 0 else -1
        return self._recorded.waited_for(int(self._activities.row[following]), since, within_ns)

    def _by_times(self, following: Int64, piece_start: Int64) -> Int32:
        """The work that had just ended where all but that had been ready."""
        activities = self._activities
        found = np.full(len(following), -1, np.int32)
        asked = np.flatnonzero((piece_start >= 0) & (following > 0))
        following, piece_start = following[asked], piece_start[asked]
        other, before = self._latest[following - 1], self._before[following]
        own_end = np.where(before >= 0, activities.end_ns[before], -1)
        free = own_end + FREE_NS <= piece_start
        launch = activities.launch[following]
        queued = (launch >= 0) & (self._trace.end_ns[launch] <= piece_start)
        waited = free & queued & (activities.lane[other] != activities.lane[following])
        waited &= activities.end_ns[other] == piece_start
        found[asked[waited]] = activities.row[other[waited]]
        return found


def _before_on_stream(activities: Activities) -> NDArray[np.int64]:
    """The activity before each on its own stream, -1 for none: int64 (n,)."""
    order = np.argsort(activities.lane, kind="stable")
    before = np.full(len(order), -1, np.int64)
    same = activities.lane[order[1:]] == activities.lane[order[:-1]]
    before[order[1:][same]] = order[:-1][same]
    return before


class _RecordedEvents:
    """Recorded waits of streams for events, by the time of the call that asked for them."""

    def __init__(self, trace: Trace, syncs: NDArray[np.intp]) -> None:
        self._trace = trace
        calls = np.flatnonzero((trace.kind == SliceKind.RUNTIME) & (trace.correlation > 0))
        calls = calls[np.argsort(trace.correlation[calls], kind="stable")]
        self._numbers, self._begins = trace.correlation[calls], trace.start_ns[calls]
        at = np.searchsorted(self._numbers, trace.correlation[syncs])
        known = at < len(self._numbers)
        known[known] = self._numbers[at[known]] == trace.correlation[syncs[known]]
        asked = self._begins[at[known]]
        order = np.argsort(asked, kind="stable")
        self._asked, self._syncs = asked[order], syncs[known][order]
        self._streams = _by_stream(trace)

    def waited_for(self, row: int, since: int, within_ns: int) -> int:
        """The latest work that work's stream was told to wait for since the launch before."""
        trace = self._trace
        launch = int(trace.launch[row])
        if launch < 0:
            return -1
        high = int(np.searchsorted(self._asked, trace.start_ns[launch], "right"))
        low = int(np.searchsorted(self._asked, trace.start_ns[since], "left")) if since >= 0 else 0
        begin, found = int(trace.start_ns[row]), -1
        for sync in self._syncs[max(low, high - LOOKED_AT) : high].tolist():
            for other in self._stood_for(sync, row):
                ended = int(trace.end_ns[other])
                close = begin - within_ns <= ended <= begin + TICK_NS
                if close and (found < 0 or ended > trace.end_ns[found]):
                    found = other
        return found

    def _stood_for(self, sync: int, row: int) -> list[int]:
        """What an event stood for if this row's stream waited for it.

        Streams of several devices bear the same numbers and an event may be another device's:
        the last work of each stream of that number when the event was recorded.
        """
        detail, lane = self._trace.detail(sync), self._trace.lanes[int(self._trace.lane_id[row])]
        if detail.get("cuda_sync_kind") != "Stream Wait Event":
            return []
        device = self._trace.lanes[int(self._trace.lane_id[sync])].device
        if device != lane.device or _number(detail.get("stream")) != lane.stream:
            return []
        number = _number(detail.get("wait_on_cuda_event_record_corr_id"))
        at = int(np.searchsorted(self._numbers, number))
        if number <= 0 or at >= len(self._numbers) or self._numbers[at] != number:
            return []
        found = []
        for launched, rows in self._streams.get(_number(detail.get("wait_on_stream")), ()):
            behind = int(np.searchsorted(launched, self._begins[at], "left")) - 1
            if behind >= 0:
                found.append(int(rows[behind]))
        return found


@once_per_trace
def _recorded_events(trace: Trace) -> _RecordedEvents | None:
    """The recorded events of a trace, None where there are none."""
    syncs = np.flatnonzero((trace.kind == SliceKind.GPU_SYNC) & (trace.correlation > 0))
    return _RecordedEvents(trace, syncs) if len(syncs) else None


def _by_stream(trace: Trace) -> dict[int, list[tuple[NDArray[np.int64], NDArray[np.intp]]]]:
    """Per stream number, for each device, the launch times of its work and their rows."""
    rows = np.flatnonzero(among(trace.kind, GPU_WORK) & (trace.launch >= 0))
    rows = rows[np.argsort(trace.start_ns[trace.launch[rows]], kind="stable")]
    found: dict[int, list[tuple[NDArray[np.int64], NDArray[np.intp]]]] = {}
    for lane in np.unique(trace.lane_id[rows]).tolist():
        mine = rows[trace.lane_id[rows] == lane]
        launched = trace.start_ns[trace.launch[mine]]
        found.setdefault(trace.lanes[lane].stream, []).append((launched, mine))
    return found


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else -1
