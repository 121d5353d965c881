"""The recorded schedule as columns: calls of threads, and the work that they queue.

Every dependency runs from what began earlier in the recording to what began later, so that
the calls in the order of their beginning can be replayed in one pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
UInt8 = NDArray[np.uint8]
Bool = NDArray[np.bool_]


class CallKind(IntEnum):
    """What a call does to its thread."""

    LAUNCH = 0  # queues work and returns
    HELD = 1  # the same, held by a full queue in the recording
    WAIT = 2  # returns when work of the device has ended
    COPY = 3  # queues a copy and returns when it has ended
    POINT = 4  # an instant of the thread that is looked at: the end of the last step
    DEVICE = 5  # no call at all: work whose launch is not in the file
    PEER = 6  # waits for another process, which is not in the file


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls in the order of their beginning; times as recorded.

    A thread reaches a call at ``enter_ns`` and goes on at ``leave_ns``. For a launch both are
    its return: queueing is host work like what precedes it.

    Attributes:
        row: int32 (n,), trace row; -1 for work whose launch is not in the file.
        kind: uint8 (n,), a ``CallKind``.
        lane: int32 (n,), the thread; -1 for none.
        begin_ns: int64 (n,), what the order is by.
        enter_ns, leave_ns: int64 (n,).
        first_work: int64 (n + 1,), the work that call i queues is
            ``first_work[i]:first_work[i + 1]``.
    """

    row: Int32
    kind: UInt8
    lane: Int32
    begin_ns: Int64
    enter_ns: Int64
    leave_ns: Int64
    first_work: Int64

    def __len__(self) -> int:
        return len(self.row)


@dataclass(frozen=True, slots=True)
class Work:
    """Activities of all devices in the order in which they are queued; times as recorded.

    Attributes:
        row: int32 (m,), trace row.
        call: int64 (m,), index into ``Calls``.
        start_ns, end_ns: int64 (m,).
        device: int32 (m,), index into the devices of the analysis.
        stream: int32 (m,), numbers the streams of all devices from 0.
        role: uint8 (m,), a ``Role``.
        before_ns: int64 (m,), when the stream's earlier work had ended; ``NEVER`` without.
        before_work: int64 (m,), the stream's previous work; -1 for none.
    """

    row: Int32
    call: Int64
    start_ns: Int64
    end_ns: Int64
    device: Int32
    stream: Int32
    role: UInt8
    before_ns: Int64
    before_work: Int64

    def __len__(self) -> int:
        return len(self.row)

    @property
    def streams(self) -> int:
        """How many streams there are."""
        return int(self.stream.max(initial=-1)) + 1


#: Clocks of host and device may differ by this (whole microseconds at both ends).
TICK_NS = 2_000
#: Earlier than any instant of a recording, and far from overflow when added to.
NEVER = -(1 << 60)


@dataclass(frozen=True, slots=True)
class Targets:
    """The work that each of some calls, or of some work, waits for.

    Attributes:
        first: int64 (k + 1,), item i's are ``work[first[i]:first[i + 1]]``.
        work: int64, all joined.
    """

    first: Int64
    work: Int64

    def of(self, index: int) -> Int64:
        """The work that one waits for."""
        return self.work[self.first[index] : self.first[index + 1]]


def joined_targets(size: int, item: Int64, work: Int64) -> Targets:
    """Targets from pairs (item, work) in any order; each pair counts once."""
    pairs = np.unique(np.stack((item, work), axis=1), axis=0) if len(item) else None
    first = np.zeros(size + 1, np.int64)
    if pairs is None:
        return Targets(first, np.empty(0, np.int64))
    np.add.at(first, pairs[:, 0] + 1, 1)
    return Targets(np.cumsum(first), np.ascontiguousarray(pairs[:, 1]))


@dataclass(frozen=True, slots=True)
class Events:
    """The work of other streams that each work waits for.

    Attributes:
        first: int64 (m + 1,), work i's are ``work[first[i]:first[i + 1]]``.
        work: int64 (k,), all joined.
        lag_ns: int64 (k,), from the end of what is waited for to the earliest start.
    """

    first: Int64
    work: Int64
    lag_ns: Int64


def joined_events(size: int, pairs: Int64, lag_ns: Int64) -> Events:
    """Events from pairs (work, what it waits for), int64 (k, 2); of equal pairs the first."""
    _, kept = np.unique(pairs, axis=0, return_index=True) if len(pairs) else (pairs, [])
    kept = np.asarray(kept, np.int64)
    first = np.zeros(size + 1, np.int64)
    np.add.at(first, pairs[kept, 0] + 1, 1)
    return Events(np.cumsum(first), pairs[kept, 1], lag_ns[kept])


@dataclass(frozen=True, slots=True)
class Timing:
    """What the device takes beyond the work itself.

    Attributes:
        ready_ns: int64 (m,), from its call's return to the earliest start of work; for work
            that follows other work of its launch, from the start of the launch's first;
            ``NEVER`` where only its stream holds it.
        spacing_ns: int64 (m,), from the end of the stream's earlier work to its start.
        busy_ns: int64 (streams,), until when earlier work, which is not in the file, had
            kept each stream; ``NEVER`` for none.
        depth: how many launches a device's queue takes before a call is held.
        usual_call_ns: int64 (n,), how long such a call lasts that nothing holds.
        async_call_ns: how long a call lasts that only queues.
        async_ready_ns: from its return to the earliest start of its work.
    """

    ready_ns: Int64
    spacing_ns: Int64
    busy_ns: Int64
    depth: int
    usual_call_ns: Int64
    async_call_ns: int
    async_ready_ns: int


@dataclass(frozen=True, slots=True)
class Handover:
    """Where a thread had nothing to do until another did something.

    Attributes:
        after: int64 (n,), the other thread's call, -1 where there is no hand-over.
        at_leave: bool (n,), counted from that call's return, else from its beginning.
        offset_ns: int64 (n,), from that instant to this call, as recorded.
        idle_ns: int64 (n,), how long the thread itself had nothing to do.
        resumed_ns: int64 (n,), until when it had nothing to do.
    """

    after: Int64
    at_leave: Bool
    offset_ns: Int64
    idle_ns: Int64
    resumed_ns: Int64


@dataclass(frozen=True, slots=True)
class Schedule:
    """Everything that a replay needs to know of the recording.

    Attributes:
        previous: int64 (n,), the thread's previous call, -1 for none.
        waits: what each call waits for.
        needed: of that, what later work of the thread uses: without the call it waits itself.
        return_ns: int64 (n,), of a waiting call: from the end of what it waits for, or from
            its own beginning where that is later, to its return; of a wait for another process
            the recorded instant of its return, which no change here brings forward.
        events: what each work waits for besides its stream.
        handover: hand-overs between threads.
    """

    calls: Calls
    work: Work
    previous: Int64
    waits: Targets
    needed: Targets
    return_ns: Int64
    events: Events
    timing: Timing
    handover: Handover
