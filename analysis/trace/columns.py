"""The trace as columns: one NumPy array per event field, strings interned once.

A million events are a dozen arrays, not a million objects. Times are exact integer
nanoseconds since the trace start: the smallest valid start of any slice whose category
is not ``Trace`` and that is not a stray; without slices, the first instant or counter sample. Readers build a :class:`Trace` through
:mod:`whichlayer.analysis.trace.assemble`; everything else only reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.trace.kinds import LaneKind

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
UInt8 = NDArray[np.uint8]
Float64 = NDArray[np.float64]
Bool = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Lane:
    """One track of the timeline: a GPU stream, a CPU thread, or whatever else has slices.

    Attributes:
        pid: process as recorded (a GPU's lanes have the device number here).
        tid: thread as recorded; numeric strings are numbers, ``"stream 7"`` is 7 on a GPU.
        kind: what the lane shows.
        device: device number as recorded in the events, -1 off the GPU. On ROCm this is an
            agent number, not an index.
        stream: stream number, -1 off the GPU.
        name: thread or stream name from the metadata, else made from ``tid``.
        process: process name from the metadata, or empty.
    """

    pid: int | str
    tid: int | str
    kind: LaneKind
    device: int = -1
    stream: int = -1
    name: str = ""
    process: str = ""


@dataclass(frozen=True, slots=True)
class Instants:
    """Events without duration (``i``, ``I``, ``R``), sorted by time.

    From ``value`` on, columns are of ``[memory]`` events; elsewhere they are NaN and -1.

    Attributes:
        value: ``Total Allocated``.
        size: ``Bytes``, negative where memory was given back.
        reserved: ``Total Reserved``.
        allocator: which one's totals these are: ``Device Type`` times 2**32 plus ``Device Id``
            (of the CPU, which has none, plus 0).
    """

    time_ns: Int64
    lane_id: Int32
    name_id: Int32
    value: Float64
    size: Float64 = field(default_factory=lambda: np.empty(0))
    reserved: Float64 = field(default_factory=lambda: np.empty(0))
    allocator: Int64 = field(default_factory=lambda: np.empty(0, np.int64))

    def __post_init__(self) -> None:
        count = len(self.time_ns)
        for name, nothing in (("size", np.nan), ("reserved", np.nan), ("allocator", -1)):
            column = getattr(self, name)
            if not len(column) and count:
                object.__setattr__(self, name, np.full(count, nothing, column.dtype))


@dataclass(frozen=True, slots=True)
class Counters:
    """Samples of counter tracks (``C``), sorted by series, then time.

    ``series[i]`` names series i as (process, counter name, field).
    """

    series: tuple[tuple[str, str, str], ...]
    series_id: Int32
    time_ns: Int64
    value: Float64


@dataclass(frozen=True, slots=True)
class Flows:
    """Flow ends (``s``, ``t``, ``f``) in file order; ``phase`` is 0, 1, 2 for s, t, f.

    ``id`` is the recorded number; a textual id is interned and counts down from -2.
    """

    id: Int64
    phase: UInt8
    time_ns: Int64
    lane_id: Int32
    category_id: Int32


class StepSource(StrEnum):
    """What tells where a step lies; all but INFERRED are marks in the recording.

    Only the first two are in ``Trace.steps`` and decide the default window.
    """

    PROFILER = "profiler"  # ProfilerStep#N on a thread
    GPU_ANNOTATION = "gpu-annotation"  # ProfilerStep#N on the GPU alone
    VLLM = "vllm"
    SGLANG = "sglang"
    INFERRED = "inferred"  # nothing marks it: see whichlayer.analysis.steps


@dataclass(frozen=True, slots=True)
class Step:
    """One training or serving step.

    Attributes:
        number: the N of ``ProfilerStep#N``; where steps have no number, counted from 1.
        name: as recorded.
        row: the slice that marks it; of an inferred one, its first launch or mark.
        start_ns, end_ns: of the annotation on the CPU; of steps marked on the GPU alone, there.
        lane_id: the thread that ran it.
        source: what tells where it lies.
    """

    number: int
    name: str
    row: int
    start_ns: int
    end_ns: int
    lane_id: int
    source: StepSource = StepSource.PROFILER

    @property
    def on_host(self) -> bool:
        """Its times are those of a thread: what that thread launched meanwhile is its own."""
        return self.source is not StepSource.GPU_ANNOTATION


@dataclass(frozen=True, slots=True)
class Part:
    """What stretch of a recording a trace holds in full; see ``whichlayer.analysis.part``.

    Attributes:
        low_ns, high_ns: the stretch.
        duration_ns: end of the whole recording, as :attr:`Trace.duration_ns` of a whole trace.
        steps: (first, last) step numbers for which it was read, both in, or None.
        span_ns: the span for which it was read, or None.
        frames: there are Python frames in the recording, in the stretch or outside.
    """

    low_ns: int
    high_ns: int
    duration_ns: int
    steps: tuple[int, int] | None = None
    span_ns: tuple[int, int] | None = None
    frames: bool = False


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Trace:
    """A whole recording, or all that a part of it needs.

    Slices are sorted by lane, then start, then longer first, then file order, so that
    ``lane_rows[i]:lane_rows[i + 1]`` are the slices of lane i and a parent always precedes
    its children.

    Attributes:
        path: the file as the user named it.
        producer: ``pytorch``, ``chrome`` …
        header: every top-level key of the file except the events, decoded.
        origin_ns: nanoseconds on the file's own clock that count as time 0 here.
        base_ns: ``baseTimeNanoseconds`` (wall clock of the file's 0), or None.
        strings: interned names; ``name_id`` and ``category_id`` index it. They are as
            recorded: whoever prints one cleans it (``whichlayer.analysis.text``).
        start_ns, end_ns: int64 (n,), end >= start.
        name_id, category_id: int32 (n,).
        kind: uint8 (n,), a ``SliceKind``.
        lane_id: int32 (n,).
        correlation: int64 (n,), -1 where none was recorded.
        external_id: int64 (n,), ``External id``, -1 where none was recorded.
        detail_id: int32 (n,), into the interned arguments, -1 where none (see ``detail``).
        parent: int32 (n,), the innermost slice of the same lane that encloses this one,
            -1 for none. Slices that cross are never each other's parent.
        depth: int32 (n,), row in which the lane draws the slice; crossing slices are stacked.
        launch: int32 (n,), for GPU work the runtime call that launched it, else -1.
        stray: bool (n,), excluded from the origin and from every window (rules Q6).
        lanes, lane_rows: the lanes and their slices, ``lane_rows`` int64 (lanes + 1,).
        steps: those that PyTorch's profiler marks; others are found by
            ``whichlayer.analysis.steps.find.steps_of``.
        events: how many events the file holds, of any phase.
        warnings: what was damaged, missing or odd.
        part: what of the recording is here in full, None if all of it is.
    """

    path: str
    producer: str
    header: Mapping[str, Any]
    origin_ns: int
    base_ns: int | None
    strings: Sequence[str]
    start_ns: Int64
    end_ns: Int64
    name_id: Int32
    category_id: Int32
    kind: UInt8
    lane_id: Int32
    correlation: Int64
    external_id: Int64
    detail_id: Int32
    parent: Int32
    depth: Int32
    launch: Int32
    stray: Bool
    lanes: tuple[Lane, ...]
    lane_rows: Int64
    steps: tuple[Step, ...]
    instants: Instants
    counters: Counters
    flows: Flows
    events: int
    warnings: tuple[TraceWarning, ...]
    _details: Sequence[bytes] = field(repr=False)
    _full_args: Callable[[int], Mapping[str, Any]] = field(repr=False)
    _detail_cache: dict[int, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    part: Part | None = None

    def __len__(self) -> int:
        return len(self.start_ns)

    def name(self, row: int) -> str:
        """Name of a slice, as recorded."""
        return self.strings[self.name_id.item(row)]

    def detail(self, row: int) -> Mapping[str, Any]:
        """The arguments that analysis needs, as recorded; empty where none are.

        Decoded once per distinct set. Which keys are kept is the reader's
        ``DETAIL_KEYS``; all other arguments are read from the file by :meth:`args`.
        """
        return self.detail_by_id(self.detail_id.item(row))

    def detail_by_id(self, detail_id: int) -> Mapping[str, Any]:
        """As :meth:`detail`, for a value of the ``detail_id`` column."""
        if detail_id < 0:
            return {}
        found = self._detail_cache.get(detail_id)
        if found is None:
            from whichlayer.analysis.reader.details import decode_detail

            found = self._detail_cache[detail_id] = decode_detail(self._details[detail_id])
        return found

    def args(self, row: int) -> Mapping[str, Any]:
        """Every argument of a slice, read again from the file.

        Raises:
            TraceError: the file is gone or has changed since it was loaded.
        """
        return self._full_args(row)

    def args_of(self, rows: Int32) -> list[Mapping[str, Any]]:
        """As :meth:`args`, of many slices, for which the file is read once.

        Raises:
            TraceError: the file is gone or has changed since it was loaded.
        """
        return read_many(self._full_args, rows)

    def byte_of(self, row: int) -> int:
        """Where a slice stands in the decompressed text of the file, -1 where it is not known."""
        return byte_of(self._full_args, row)

    @property
    def duration_ns(self) -> int:
        """End of the last slice that is neither a stray nor the recording itself.

        Without slices, the last instant or counter sample.
        """
        if self.part is not None:
            return self.part.duration_ns
        if not len(self):
            times = (self.instants.time_ns, self.counters.time_ns)
            return max(int(each.max(initial=0)) for each in times)
        from whichlayer.analysis.trace.kinds import SliceKind

        wanted = ~self.stray & (self.kind != SliceKind.PROFILER)
        return int(self.end_ns[wanted].max()) if wanted.any() else 0

    @property
    def host_steps(self) -> tuple[Step, ...]:
        """The steps where a thread marks them; none where only the GPU shows them."""
        return self.steps if self.steps and self.steps[0].on_host else ()

    @property
    def cut_off(self) -> bool:
        """The recording goes on behind what could be read of its file."""
        return any(warning.code == "truncated" for warning in self.warnings)

    def enclosing(self, row: int) -> list[int]:
        """The slices of the same lane around a slice, innermost first."""
        rows: list[int] = []
        parent = self.parent.item
        up = parent(row)
        while up >= 0:
            rows.append(up)
            up = parent(up)
        return rows


def read_many(read: Callable[[int], Mapping[str, Any]], rows: Int32) -> list[Mapping[str, Any]]:
    """All arguments of many slices, at once where what reads them can.

    Args:
        read: reads those of one row; its ``many``, if it has one, those of many.
        rows: int32 (n,).
    """
    many = getattr(read, "many", None)
    return [read(row) for row in rows.tolist()] if many is None else list(many(rows))


def byte_of(read: Callable[[int], Mapping[str, Any]], row: int) -> int:
    """Where a row's event stands in the decompressed text, -1 where that cannot be told.

    Args:
        read: reads a row's arguments; its ``byte_of``, if it has one, knows.
        row: -1 for none.
    """
    known = getattr(read, "byte_of", None)
    return -1 if known is None or row < 0 else int(known(row))
