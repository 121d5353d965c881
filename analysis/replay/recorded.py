"""What recorded synchronisation events say: which stream or event was waited for.

The profiler writes them (cat ``cuda_sync``) only where it was asked to; they bear the
correlation number of the call, the stream, and for events the call that recorded the event.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from whichlayer.analysis.replay.schedule import TICK_NS, Calls, Work
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind


class RecordedSyncs:
    """The synchronisation events of a recording, by what they belong to."""

    def __init__(self, trace: Trace, calls: Calls, work: Work) -> None:
        """Read every event once; cheap where there are none."""
        self._by_correlation: dict[int, Mapping[str, Any]] = {}
        self.stream_waits: list[tuple[int, int, int]] = []
        rows = np.flatnonzero(trace.kind == SliceKind.GPU_SYNC)
        if not len(rows):
            return
        self._streams = _streams(trace, work)
        self._work_of = [np.flatnonzero(work.stream == i) for i in range(work.streams)]
        self._calls = _runtime_starts(trace)
        for row in rows.tolist():
            detail, number = trace.detail(row), int(trace.correlation[row])
            if number <= 0:
                continue
            if detail.get("cuda_sync_kind") == "Stream Wait Event":
                self._stream_wait(trace, calls, work, row, detail, number)
            else:
                self._by_correlation[number] = detail

    def _stream_wait(
        self,
        trace: Trace,
        calls: Calls,
        work: Work,
        row: int,
        detail: Mapping[str, Any],
        number: int,
    ) -> None:
        """Adds (waiting stream, time of the call, work waited for)."""
        device = trace.lanes[int(trace.lane_id[row])].device
        waiting = self._streams.get((device, _number(detail, "stream")))
        recorded = self._recorded_work(calls, device, detail)
        asked = self._calls.get(number)
        if waiting is not None and recorded >= 0 and asked is not None:
            self.stream_waits.append((waiting, asked, recorded))

    def _recorded_work(self, calls: Calls, device: int, detail: Mapping[str, Any]) -> int:
        """The last work that the event stands for, -1 where that is not recorded."""
        stream = self._streams.get((device, _number(detail, "wait_on_stream")))
        at = self._calls.get(_number(detail, "wait_on_cuda_event_record_corr_id"))
        return -1 if stream is None or at is None else self._last_before(calls, stream, at)

    def _last_before(self, calls: Calls, stream: int, instant: int) -> int:
        """The last work that was queued on a stream before an instant, -1 for none."""
        mine = self._work_of[stream]
        behind = int(calls.first_work[int(np.searchsorted(calls.begin_ns, instant, "left"))])
        at = int(np.searchsorted(mine, behind, "left")) - 1
        return int(mine[at]) if at >= 0 else -1

    def waited_for(
        self, trace: Trace, calls: Calls, work: Work, row: int, call: int
    ) -> list[int] | None:
        """The work that a blocking call waited for; None where nothing is recorded of it."""
        detail = self._by_correlation.get(int(trace.correlation[row]))
        if detail is None:
            return None
        device = _number(detail, "device")
        if detail.get("cuda_sync_kind") == "Event Sync":
            found = self._recorded_work(calls, device, detail)
        elif detail.get("cuda_sync_kind") == "Stream Sync":
            stream = self._streams.get((device, _number(detail, "stream")))
            at = int(calls.begin_ns[call])
            found = -1 if stream is None else self._last_before(calls, stream, at)
        else:
            return None
        if found < 0 or work.call[found] >= call:
            return None
        # Work that ended after the call's return cannot be what it waited for.
        return None if work.end_ns[found] > calls.leave_ns[call] + TICK_NS else [found]


def _number(detail: Mapping[str, Any], key: str) -> int:
    value = detail.get(key)
    return value if isinstance(value, int) else -1


def _streams(trace: Trace, work: Work) -> dict[tuple[int, int], int]:
    """Streams by (device, stream) as recorded."""
    _, first = np.unique(work.stream, return_index=True)
    lanes = [trace.lanes[int(trace.lane_id[work.row[i]])] for i in first.tolist()]
    return {(lane.device, lane.stream): i for i, lane in enumerate(lanes)}


def _runtime_starts(trace: Trace) -> dict[int, int]:
    """When each numbered call began."""
    rows = np.flatnonzero((trace.kind == SliceKind.RUNTIME) & (trace.correlation > 0))
    return dict(zip(trace.correlation[rows].tolist(), trace.start_ns[rows].tolist(), strict=True))
