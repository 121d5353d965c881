"""What launches and streams take, calibrated from the recording itself.

One launch latency for each device, kind of call and kind of work; nothing is corrected work by
work. What a queue holds is read off as well: the spacing of work that its stream held up is
the device's own time, like the work's duration, and stays as recorded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whichlayer.analysis.replay.schedule import Bool, CallKind, Calls, Int64, Work
from whichlayer.analysis.trace.columns import Trace

#: Fewer samples than this say nothing of what is usual.
MIN_SAMPLES = 5
#: Assumed between a call's return and the start of its work where no launch shows it.
DEFAULT_LATENCY_NS = 2_000
#: Work that starts later than this after its call's return was held by something else.
MAX_LATENCY_NS = 100_000
#: Assumed between two kernels of one stream where the recording has no full queue.
DEFAULT_SPACING_NS = 1_000
#: Launches that CUDA queues before it holds the next call; more where more are seen.
QUEUE_DEPTH = 1024
#: As many pending launches as this are a full queue, if no more are ever seen.
_NEARLY_FULL = 900
#: A call is slow beyond this, or beyond this many times the usual.
_SLOW_NS = 100_000
_SLOW_RATIO = 5


@dataclass(frozen=True, slots=True)
class Launches:
    """How calls that launch behave, and how work follows them.

    Attributes:
        first: int64 (k,), the first work of every launch that has any.
        call: int64 (k,), its call.
        ready_ns: int64 (k,), from the call's return (a blocking copy's beginning) to the
            earliest start.
        usual_call_ns: int64 (n,), how long each call lasts that nothing holds.
        depth: how many launches a device's queue takes before a call is held.
        held: bool (n,), calls that a full queue held.
    """

    first: Int64
    call: Int64
    ready_ns: Int64
    usual_call_ns: Int64
    depth: int
    held: Bool


def launch_model(trace: Trace, calls: Calls, work: Work) -> Launches:
    """Read from the recording how launches behave.

    One latency per device, name of the call and kind of work. It counts from the call's return
    or from its beginning, whichever is steadier in this recording; of a slow call only from its
    return: until then nothing was queued.
    """
    usual = _usual_calls(trace, calls)
    depth, held = _queue_depth(calls, work)
    call = np.flatnonzero(np.diff(calls.first_work) > 0)
    call = call[calls.kind[call] != CallKind.DEVICE]
    first = calls.first_work[call]
    return Launches(first, call, _ready(trace, calls, work, call, usual), usual, depth, held)


def _usual_calls(trace: Trace, calls: Calls) -> Int64:
    """The median length of calls of the same name: int64 (n,), 0 off the runtime."""
    usual = np.zeros(len(calls), np.int64)
    length = np.where(calls.row >= 0, calls.leave_ns - calls.begin_ns, 0)
    launches = np.flatnonzero(calls.kind == CallKind.LAUNCH)
    names = trace.name_id[calls.row[launches]]
    for name in np.unique(names):
        mine = launches[names == name]
        usual[mine] = int(np.median(length[mine]))
    return usual


def is_slow(length: Int64, usual: Int64) -> Bool:
    """Whether calls last far longer than such calls do."""
    return np.asarray(length > np.maximum(_SLOW_NS, _SLOW_RATIO * usual))


def _queue_depth(calls: Calls, work: Work) -> tuple[int, Bool]:
    """The depth of the launch queue, and which calls it held: bool (n,)."""
    held = np.zeros(len(calls), np.bool_)
    launches = np.flatnonzero(calls.kind == CallKind.LAUNCH)
    deepest = 0
    pending = np.zeros(len(calls), np.int64)
    for device in np.unique(work.device):
        first = calls.first_work[launches]
        mine = launches[work.device[first] == device]
        started = np.sort(work.start_ns[calls.first_work[mine]])
        number = np.searchsorted(started, calls.begin_ns[mine], "right")
        pending[mine] = np.arange(len(mine)) - number
        deepest = max(deepest, int(pending[mine].max(initial=0)))
    depth = deepest if deepest >= _NEARLY_FULL else QUEUE_DEPTH
    length = calls.leave_ns - calls.begin_ns
    still = np.zeros(len(calls), np.bool_)
    still[launches] = work.start_ns[calls.first_work[launches]] > calls.leave_ns[launches]
    held[launches] = True
    held &= still & (pending >= 0.95 * depth)
    return depth, held & (length > 0)


def _ready(trace: Trace, calls: Calls, work: Work, call: Int64, usual: Int64) -> Int64:
    """From each launch's return to the earliest start of its work: int64 (k,)."""
    first = calls.first_work[call]
    blocks = calls.kind[call] == CallKind.COPY
    names = trace.name_id[calls.row[call]].astype(np.int64)
    kind = ((names * 16 + trace.kind[work.row[first]]) * 2 + blocks) * 4096 + work.device[first]
    _, kind = np.unique(kind, return_inverse=True)
    begin, start = calls.begin_ns[call], work.start_ns[first]
    # A blocking call returns long after its copy began.
    leave = np.where(blocks, begin, calls.leave_ns[call])
    slow = is_slow(leave - begin, usual[call])
    sample = (work.before_ns[first] <= begin) & ~slow & (start - leave <= MAX_LATENCY_NS)
    queued = (work.before_ns[first] > begin) & ~slow
    after = _latencies(start - leave, kind, sample, queued)
    from_start = _latencies(start - begin, kind, sample, queued)
    steady_end = _spread(start - leave - after, kind, sample)
    steady_start = _spread(start - begin - from_start, kind, sample)
    by_start = (steady_start < steady_end)[kind] & ~slow
    return np.where(by_start, from_start + begin - leave, after).astype(np.int64)


def _latencies(values: Int64, kind: Int64, sample: Bool, queued: Bool) -> Int64:
    """Per item the median of the sample of its kind, else of all.

    A handful of samples is checked against queued launches: none took longer than those.
    """
    default = _middle(values[sample]) if sample.any() else DEFAULT_LATENCY_NS
    median = np.full(int(kind.max(initial=-1)) + 1, default, np.int64)
    for one in np.unique(kind).tolist():
        mine = kind == one
        seen = values[sample & mine]
        if len(seen):
            median[one] = _middle(seen)
        if len(seen) < MIN_SAMPLES:
            median[one] = min(int(median[one]), int(values[queued & mine].min(initial=default)))
    return median[kind]


def _middle(values: Int64) -> int:
    """The lower of the middle values: a latency that was seen, and the cautious one of two."""
    return int(np.partition(values, (len(values) - 1) // 2)[(len(values) - 1) // 2])


def _spread(error: Int64, kind: Int64, sample: Bool) -> Int64:
    """Per kind the median absolute error of its sample."""
    spread = np.zeros(int(kind.max(initial=-1)) + 1, np.int64)
    for one in np.unique(kind[sample]):
        spread[one] = int(np.median(np.abs(error[sample & (kind == one)])))
    return spread
