"""One pass over the schedule: when everything happens, given what has been taken away.

Calls come in the order of their recorded beginning, which every dependency respects, so each
is worked out once. Plain lists in one loop: the values of NumPy arrays are slow one by one.
"""
# ruff: noqa: PLR1730 - in this loop max() takes longer than all the rest

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whichlayer.analysis.replay.removal import Removal
from whichlayer.analysis.replay.schedule import NEVER, CallKind, Int64, Schedule

_LAUNCH, _HELD = int(CallKind.LAUNCH), int(CallKind.HELD)
_WAIT, _COPY, _DEVICE = int(CallKind.WAIT), int(CallKind.COPY), int(CallKind.DEVICE)
_PEER = int(CallKind.PEER)
#: A blocking copy that no longer blocks its thread, and a launch that is part of another.
_UNBLOCKED, _MERGED = 100, 101


@dataclass(frozen=True, slots=True)
class Replayed:
    """When calls and work happen in a replay; what precedes its first call is as recorded.

    Attributes:
        leave_ns: int64 (n,), when each call's thread goes on.
        start_ns, end_ns: int64 (m,), of work.
    """

    leave_ns: Int64
    start_ns: Int64
    end_ns: Int64


def replay(schedule: Schedule, first: int, removal: Removal, stop: int | None = None) -> Replayed:
    """Replay the calls from ``first`` on, linear in calls and work.

    Args:
        schedule: the recording.
        first: index of the first call to replay; earlier ones stay as recorded.
        removal: what is taken away.
        stop: index of the first call that nobody asks for any more; it and its work are left out.
    """
    run = _Pass(schedule, first, removal)
    run.go(first, len(schedule.calls) if stop is None else stop)
    return Replayed(
        np.array(run.left, np.int64), np.array(run.starts, np.int64), np.array(run.ends, np.int64)
    )


class _Pass:
    """The columns as lists, and what has happened so far."""

    def __init__(self, schedule: Schedule, first: int, removal: Removal) -> None:
        calls, work, timing = schedule.calls, schedule.work, schedule.timing
        lost = removal.lost_before(calls.lane)
        kinds = np.where(removal.gone, CallKind.POINT, calls.kind).astype(np.int64)
        kinds[removal.unblocked] = _UNBLOCKED
        kinds[removal.merged] = _MERGED
        self.kind: list[int] = kinds.tolist()
        self.lane: list[int] = calls.lane.tolist()
        self.enter: list[int] = (calls.enter_ns - lost).tolist()
        self.leave: list[int] = (calls.leave_ns - lost).tolist()
        self.first_work: list[int] = calls.first_work.tolist()
        self.returns: list[int] = schedule.return_ns.tolist()
        self.usual: list[int] = timing.usual_call_ns.tolist()
        self.after: list[int] = schedule.handover.after.tolist()
        self.at_leave: list[bool] = schedule.handover.at_leave.tolist()
        self.offset: list[int] = (schedule.handover.offset_ns - removal.handover_ns).tolist()
        self.idle: list[int] = (schedule.handover.idle_ns - removal.idle_ns).tolist()
        self.first_wait: list[int] = schedule.waits.first.tolist()
        self.waited: list[int] = schedule.waits.work.tolist()
        self.first_event: list[int] = schedule.events.first.tolist()
        self.event: list[int] = schedule.events.work.tolist()
        self.lag: list[int] = schedule.events.lag_ns.tolist()
        # What the host no longer waits for, later work of its thread still does.
        needed = schedule.needed
        self.keeps: list[bool] = (removal.gone & (np.diff(needed.first) > 0)).tolist()
        self.first_needed: list[int] = needed.first.tolist()
        self.needed: list[int] = needed.work.tolist()
        self.timing = timing
        only_queues = removal.unblocked[work.call]
        self.ready: list[int] = np.where(
            only_queues, timing.async_ready_ns, timing.ready_ns
        ).tolist()
        self.spacing: list[int] = timing.spacing_ns.tolist()
        self.duration: list[int] = removal.duration_ns.tolist()
        self.stream: list[int] = work.stream.tolist()
        self.device: list[int] = work.device.tolist()

        done = int(calls.first_work[first])
        self.begun: list[int] = calls.begin_ns[:first].tolist()
        self.left: list[int] = calls.leave_ns[:first].tolist()
        self.starts: list[int] = work.start_ns[:done].tolist()
        self.ends: list[int] = work.end_ns[:done].tolist()
        self.busy = _busy_until(schedule, done)
        self.queues = _queues(schedule, first)
        # By how much each thread is off its recorded times; the last is for no thread at all.
        self.shift = [0] * (max(self.lane, default=-1) + 2)
        self.floor = [NEVER] * len(self.shift)

    def go(self, first: int, stop: int) -> None:
        """Work out every call from ``first`` to ``stop``."""
        kind_of, lane_of, enter, leave = self.kind, self.lane, self.enter, self.leave
        after, behind_of, shift, busy = self.after, self.first_work, self.shift, self.busy
        stream_of, spacing, ready, duration = self.stream, self.spacing, self.ready, self.duration
        starts, ends, begun, left = self.starts, self.ends, self.begun, self.left
        floor, keeps = self.floor, self.keeps
        has_event = np.diff(self.first_event).astype(np.bool_).tolist()
        queues, device_of, depth, usual = (
            self.queues,
            self.device,
            self.timing.depth,
            self.usual,
        )
        for n in range(first, stop):
            kind, lane = kind_of[n], lane_of[n]
            now = enter[n] + shift[lane]
            if after[n] >= 0:
                now = self._handed_over(n, now)
                shift[lane] = now - enter[n]
            begun.append(now)
            if kind == _LAUNCH:
                queue = queues[device_of[len(starts)]]
                if len(queue) >= depth and queue[-depth] + usual[n] > now:
                    now = queue[-depth] + usual[n]
                    shift[lane] = now - leave[n]
            elif kind == _HELD or kind == _UNBLOCKED:
                now = self._queued(n, kind, now)
                shift[lane] = now - leave[n]
            w, behind = len(starts), behind_of[n + 1]
            if w < behind:
                stream = stream_of[w]
                start = busy[stream] + spacing[w]
                if now + ready[w] > start:
                    start = now + ready[w]
                if floor[lane] > start:
                    start = floor[lane]
                if has_event[w]:
                    start = self._after_events(w, start)
                end = start + duration[w]
                starts.append(start)
                ends.append(end)
                if end > busy[stream]:
                    busy[stream] = end
                if kind != _DEVICE and kind != _MERGED:
                    queues[device_of[w]].append(start)
                if w + 1 < behind:
                    self._rest_of_launch(w + 1, behind, start)
            if keeps[n]:
                self._keep_order(n, lane)
            if kind > _HELD and kind != _UNBLOCKED:
                now = self._returned(n, kind, now)
                shift[lane] = now - leave[n]
            left.append(now)

    def _handed_over(self, n: int, now: int) -> int:
        """When a thread goes on that had waited for another one."""
        other = self.after[n]
        there = self.left[other] if self.at_leave[n] else self.begun[other]
        mine, theirs = self.lane[n], self.lane[other]
        self.floor[mine] = max(self.floor[mine], self.floor[theirs])
        return max(now - self.idle[n], there + self.offset[n])

    def _keep_order(self, n: int, lane: int) -> None:
        """Later work of a thread waits, on the device, for what the thread waited for."""
        for i in range(self.first_needed[n], self.first_needed[n + 1]):
            self.floor[lane] = max(self.floor[lane], self.ends[self.needed[i]])

    def _queued(self, n: int, kind: int, now: int) -> int:
        """When a call returns that a full queue held, or that only queues a copy."""
        if kind == _UNBLOCKED:
            return now + self.timing.async_call_ns
        queue, depth = self.queues[self.device[len(self.starts)]], self.timing.depth
        return max(now, queue[-depth] if len(queue) >= depth else now) + self.usual[n]

    def _after_events(self, w: int, start: int) -> int:
        """When work starts that waits for work of other streams."""
        for i in range(self.first_event[w], self.first_event[w + 1]):
            start = max(start, self.ends[self.event[i]] + self.lag[i])
        return start

    def _rest_of_launch(self, first: int, behind: int, opened: int) -> None:
        """The work of a graph after its first, at ``opened``."""
        for w in range(first, behind):
            stream = self.stream[w]
            start = max(self.busy[stream] + self.spacing[w], opened + self.ready[w])
            start = self._after_events(w, start)
            end = start + self.duration[w]
            self.starts.append(start)
            self.ends.append(end)
            self.busy[stream] = max(self.busy[stream], end)

    def _returned(self, n: int, kind: int, now: int) -> int:
        """When a blocking call returns."""
        if kind == _WAIT or kind == _COPY:
            begin = now
            for i in range(self.first_wait[n], self.first_wait[n + 1]):
                now = max(now, self.ends[self.waited[i]])
            return max(now + self.returns[n], begin)
        return max(now, self.returns[n]) if kind == _PEER else now


def _busy_until(schedule: Schedule, done: int) -> list[int]:
    """Per stream when what was queued before the replay's start has ended."""
    work = schedule.work
    busy = schedule.timing.busy_ns.copy()
    np.maximum.at(busy, work.stream[:done], work.end_ns[:done])
    return [int(until) for until in busy]


def _queues(schedule: Schedule, first: int) -> list[list[int]]:
    """Per device the starts of the launches queued before the replay's start."""
    calls, work = schedule.calls, schedule.work
    launches = np.flatnonzero(calls.kind[:first] != CallKind.DEVICE)
    launches = launches[np.diff(calls.first_work)[launches] > 0]
    opening = calls.first_work[launches]
    devices = int(work.device.max(initial=0)) + 1
    return [
        work.start_ns[opening[work.device[opening] == device]].tolist() for device in range(devices)
    ]
