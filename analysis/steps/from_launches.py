"""Steps inferred from a sequence of launches that repeats.

A kernel that comes once in every step cuts the sequence into pieces; they are steps if they are
the same, kernel by kernel. Layers of a model repeat as well. They are told apart by what only a
step does: its pieces fill the recording, and each moves data from or to the host, waits for the
device, updates weights or chooses a token.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.activities import Activities, collect_activities
from whichlayer.analysis.among import among
from whichlayer.analysis.results import Role
from whichlayer.analysis.steps.model import Inferred
from whichlayer.analysis.steps.pauses import best_offset
from whichlayer.analysis.trace.columns import Step, StepSource, Trace
from whichlayer.analysis.trace.kinds import SliceKind

Int64 = NDArray[np.int64]

#: Fewer equal steps prove nothing.
MIN_STEPS = 3
#: A shorter sequence repeats by chance, or is one operator called in a loop.
MIN_LAUNCHES = 4
#: The share of pieces that have to be the same, kernel by kernel.
MIN_SAME = 0.8
#: What lies before the first and after the last piece, in pieces.
MAX_OUTSIDE = 2.0
#: Pieces that differ by no more than this differ by a log line, not by a layer.
ALIKE = 0.05
#: Work whose launch is not in the file may be no more than this.
MAX_UNLINKED = 0.3
#: How many different counts, and kernels of each, are tried.
_COUNTS, _EACH = 24, 3
#: Kernels in a row that stand for one where none comes once in a step.
_RUNS = (1, 4)

#: Kernels of optimisers and of choosing a token (case tells LAMB from a lambda).
_STEP_KERNEL = re.compile(
    r"Adam|adamw?_|SGD|Sgd|_sgd|LAMB|Adagrad|adagrad|RMSprop|rmsprop|multi_tensor_apply"
    r"|[Aa]rg_?[Mm]ax|multinomial"
)


@dataclass(frozen=True, slots=True)
class Sequence:
    """What a device was given to do, in the order of launches.

    Attributes:
        row: int64 (n,), trace rows of the launches; of the work itself where none are recorded.
        time_ns: int64 (n,), when they began.
        code: int64 (n,), the name of each.
        marked: bool (n,), what only a step does, not a layer of it.
    """

    row: Int64
    time_ns: Int64
    code: Int64
    marked: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.row)


@dataclass(frozen=True, slots=True)
class Pieces:
    """A sequence cut at one kernel.

    Attributes:
        at: int64 (k,), where the pieces begin; the last begins one that may not be whole.
        length: of the usual piece.
        usual: bool (k - 1,), which pieces are the same as that.
    """

    at: Int64
    length: int
    usual: NDArray[np.bool_]


def by_period(trace: Trace) -> Inferred | None:
    """Steps by what repeats, None where no period can be proven."""
    sequence = _sequence(trace)
    if len(sequence) < MIN_STEPS * MIN_LAUNCHES:
        return None
    pieces = _steps_of(trace, sequence)
    if pieces is None:
        return None
    offset = best_offset(trace, sequence.row, sequence.time_ns, pieces.at, pieces.length)
    return None if offset is None else _inferred(trace, sequence, pieces, offset)


def _sequence(trace: Trace) -> Sequence:
    """Of the device with the most work, in the order in which it was launched."""
    none = np.empty(0, np.int64)
    device = max(collect_activities(trace), key=len, default=None)
    if device is None:
        return Sequence(none, none, none, none.astype(np.bool_))
    linked = device.launch >= 0
    known = linked if linked.any() else ~linked
    if known.mean() < 1 - MAX_UNLINKED:
        return Sequence(none, none, none, none.astype(np.bool_))
    row = (device.launch if linked.any() else device.row)[known].astype(np.int64)
    time = trace.start_ns[row]
    order = np.lexsort((device.start_ns[known], time))
    code = trace.name_id[device.row[known]].astype(np.int64)[order]
    return Sequence(row[order], time[order], code, _marked(trace, device, known)[order])


def _marked(trace: Trace, device: Activities, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    ids, place = np.unique(trace.name_id[device.row[known]], return_inverse=True)
    named = np.array([bool(_STEP_KERNEL.search(trace.strings[int(i)])) for i in ids], np.bool_)
    copies = device.role[known] == Role.COPY
    found: NDArray[np.bool_] = named[place] | copies
    return found


def _steps_of(trace: Trace, sequence: Sequence) -> Pieces | None:
    """The longest pieces that repeat; shorter ones where those hold the like of each other."""
    waits = _waits(trace)
    hashes = _Hashes(sequence.code)
    for run in _RUNS:
        found: list[Pieces] = []
        for at in _anchors(hashes, run):
            pieces = _repeating(sequence, hashes, at)
            if pieces is not None and _is_step(sequence, pieces, waits):
                found.append(pieces)
        if found:
            alike = [one for one in found[1:] if _all_alike(one)]
            return (found[:1] + alike)[-1]
    return None


class _Hashes:
    """Tells which stretches of a sequence are equal (a polynomial in 64 bits, then checked)."""

    def __init__(self, code: Int64) -> None:
        base = np.uint64(0x9E3779B97F4A7C15)
        inverse = np.uint64(pow(int(base), -1, 1 << 64))
        self.code = code
        self._back = np.cumprod(np.full(len(code) + 1, inverse, np.uint64)) * base
        powers = np.cumprod(np.full(len(code), base, np.uint64))
        mixed = (code.astype(np.uint64) + np.uint64(1)) * np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(29)
        self._sums = np.concatenate(
            (np.zeros(1, np.uint64), np.cumsum(mixed * powers, dtype=np.uint64))
        )

    def of(self, begin: Int64, end: Int64) -> NDArray[np.uint64]:
        """One number per stretch ``[begin, end)``; equal stretches have the same."""
        found: NDArray[np.uint64] = (self._sums[end] - self._sums[begin]) * self._back[begin]
        return found

    def same(self, begin: Int64, length: int) -> bool:
        """Whether the stretches of this length that begin there are equal, code by code."""
        each = self.code[begin[:, None] + np.arange(length)]
        return bool((each == each[0]).all())


def _anchors(hashes: _Hashes, run: int) -> Iterator[Int64]:
    """Where kernels (or runs of some) occur that may come once in a step, the rarest first."""
    count = len(hashes.code) - run + 1
    begin = np.arange(count, dtype=np.int64)
    keys = hashes.code if run == 1 else hashes.of(begin, begin + run)
    _, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
    some = np.flatnonzero((counts > MIN_STEPS) & (counts * MIN_LAUNCHES <= count))
    some = some[np.argsort(counts[some], kind="stable")]
    tried = np.unique(counts[some])[:_COUNTS]
    for one in tried.tolist():
        for kernel in some[counts[some] == one][:_EACH].tolist():
            yield np.flatnonzero(place == kernel)


def _repeating(sequence: Sequence, hashes: _Hashes, at: Int64) -> Pieces | None:
    """The pieces between occurrences, None where too few are the same or they leave too much."""
    length = np.diff(at)
    _, place, counts = np.unique(
        hashes.of(at[:-1], at[1:]), return_inverse=True, return_counts=True
    )
    most = int(np.argmax(counts))
    usual = place == most
    if counts[most] < max(MIN_STEPS, MIN_SAME * len(length)):
        return None
    own = int(length[usual][0])
    outside = max(int(at[0]), len(sequence) - int(at[-1]))
    if own < MIN_LAUNCHES or outside > MAX_OUTSIDE * own:
        return None
    return Pieces(at, own, usual) if hashes.same(at[:-1][usual], own) else None


def _is_step(sequence: Sequence, pieces: Pieces, waits: Int64) -> bool:
    """Whether each usual piece does what only a step does."""
    begin = pieces.at[:-1][pieces.usual]
    if bool(sequence.marked[int(begin[0]) : int(begin[0]) + pieces.length].any()):
        return True
    low, high = sequence.time_ns[begin], sequence.time_ns[begin + pieces.length]
    waited = np.searchsorted(waits, high, "left") > np.searchsorted(waits, low, "left")
    return bool(waited.all())


def _waits(trace: Trace) -> Int64:
    """When calls began that wait for the whole device or a stream, sorted."""
    calls = np.flatnonzero((trace.kind == SliceKind.RUNTIME) & ~trace.stray)
    ids = [
        i
        for i in np.unique(trace.name_id[calls]).tolist()
        if trace.strings[i].endswith(("DeviceSynchronize", "StreamSynchronize"))
    ]
    return np.sort(trace.start_ns[calls[among(trace.name_id[calls], ids)]])


def _all_alike(pieces: Pieces) -> bool:
    apart = np.abs(np.diff(pieces.at) - pieces.length)
    return bool((apart <= ALIKE * pieces.length).all())


def _inferred(trace: Trace, sequence: Sequence, pieces: Pieces, offset: int) -> Inferred:
    """Steps between the places that an offset from each occurrence gives."""
    edges = pieces.at + offset
    length = pieces.length
    usual = sequence.code[edges[:-1][pieces.usual][0] :][:length]
    before = int(edges[0]) - length
    if before >= 0 and np.array_equal(sequence.code[before : before + length], usual):
        edges = np.concatenate(([before], edges))
    edges = edges[edges < len(sequence)]
    ends, last = edges[1:].tolist(), int(edges[-1])
    if np.array_equal(sequence.code[last : last + length], usual):
        ends.append(last + length)
    steps = tuple(
        Step(
            number=number,
            name=f"step {number}",
            row=int(sequence.row[begin]),
            start_ns=int(sequence.time_ns[begin]),
            end_ns=_time(trace, sequence, end),
            lane_id=int(trace.lane_id[sequence.row[begin]]),
            source=StepSource.INFERRED,
        )
        for number, (begin, end) in enumerate(zip(edges.tolist(), ends, strict=False), 1)
    )
    return Inferred(steps, f"the same {length} launches, {int(pieces.usual.sum())} times")


def _time(trace: Trace, sequence: Sequence, place: int) -> int:
    """When the launch at a place began; behind the last, when that one was done."""
    if place < len(sequence):
        return int(sequence.time_ns[place])
    return int(trace.end_ns[sequence.row[place - 1]])
