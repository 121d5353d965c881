"""What ran on the host: API calls, NVTX ranges, the profiler's own work, OS calls, metrics."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

import numpy as np

from whichlayer.analysis.reader.intern import Intern
from whichlayer.analysis.reader.nsight_database import MISSING, Row
from whichlayer.analysis.reader.nsight_devices import process_of, thread_of
from whichlayer.analysis.reader.nsight_names import call_name, overhead_name, read_range
from whichlayer.analysis.reader.nsight_slices import Batch, NsightSlices
from whichlayer.analysis.trace.columns import Counters, Instants
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind

#: Calls of the runtime; older exports keep those of the driver in a table of their own.
CALLS: Final = ("CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER")
RANGES: Final = "NVTX_EVENTS"
OVERHEADS: Final = ("CUPTI_ACTIVITY_KIND_OVERHEAD", "PROFILER_OVERHEAD")
OS_CALLS: Final = "OSRT_API"
METRICS: Final = "GPU_METRICS"

#: Columns without which a table of calls says too little.
NEEDED: Final = ("start", "end", "globalTid", "nameId", "correlationId")

#: Values of ``eventType``, from the exports' ENUM_NSYS_EVENT_TYPE.
_MARKS: Final = frozenset({34, 65})
_STACKED: Final = frozenset({59, 70})
_FREE: Final = frozenset({60, 71})
_DOMAIN: Final = 75

Chunks = Iterator[int]
Marks = list[tuple[int, int, tuple[int, int]]]


def add_calls(found: NsightSlices, table: str) -> Chunks:
    """Takes calls of the CUDA runtime or driver; yields how many came, chunk by chunk."""
    runtime, driver = found.strings["cuda_runtime"], found.strings["cuda_driver"]
    columns = ("start", "end", "globalTid", "nameId", "correlationId")
    for chunk in found.database.chunks(table, columns):
        names = [call_name(name or "unknown call") for name in found.names([r[4] for r in chunk])]
        found.add(
            Batch(
                table=table,
                kind=SliceKind.RUNTIME,
                key=[row[0] for row in chunk],
                start=[row[1] for row in chunk],
                end=[row[2] for row in chunk],
                name=[found.strings[name] for name in names],
                category=[runtime if name.startswith("cuda") else driver for name in names],
                lane=_threads(found, chunk, LaneKind.CPU_THREAD),
                correlation=[found.correlation(process_of(row[3]), row[5]) for row in chunk],
            )
        )
        yield len(chunk)


def add_overheads(found: NsightSlices, table: str) -> Chunks:
    """Takes what the profiler and lazy loading cost the threads."""
    category = found.strings["overhead" if table == OVERHEADS[0] else "profiler_overhead"]
    columns = ("start", "end", "globalTid", "nameId", "overheadType")
    for chunk in found.database.chunks(table, columns):
        names = found.names([row[4] for row in chunk])
        found.add(
            Batch(
                table=table,
                kind=SliceKind.OVERHEAD,
                key=[row[0] for row in chunk],
                start=[row[1] for row in chunk],
                end=[row[2] for row in chunk],
                name=[
                    found.strings[name or overhead_name(row[5])]
                    for name, row in zip(names, chunk, strict=True)
                ],
                category=category,
                lane=_threads(found, chunk, LaneKind.OVERHEAD),
            )
        )
        yield len(chunk)


def add_os_calls(found: NsightSlices) -> Chunks:
    """Takes calls of the operating system's runtime, a lane of its own for each thread."""
    category = found.strings["osrt"]
    for chunk in found.database.chunks(OS_CALLS, ("start", "end", "globalTid", "nameId")):
        found.add(
            Batch(
                table=OS_CALLS,
                kind=SliceKind.OTHER,
                key=[row[0] for row in chunk],
                start=[row[1] for row in chunk],
                end=[row[2] for row in chunk],
                name=[
                    found.strings[name or "unknown call"]
                    for name in found.names([row[4] for row in chunk])
                ],
                category=category,
                lane=[
                    found.extra_lane(process_of(row[3]), f"OS calls of {thread_of(row[3])}")
                    for row in chunk
                ],
            )
        )
        yield len(chunk)


def add_ranges(found: NsightSlices, marks: Marks) -> Chunks:
    """Takes NVTX ranges; the marks among the events go to ``marks``."""
    domains = _domains(found)
    columns = ("start", "end", "eventType", "globalTid", "textId", "domainId")
    for chunk in found.database.chunks(RANGES, columns, ("text",)):
        registered = found.names([row[5] for row in chunk])
        ranges, stacked, told = [], [], []
        for row, other in zip(chunk, registered, strict=True):
            kind = _sort(row)
            if not kind:
                continue
            said = _said(row[7] or other or "", domains.get((process_of(row[4]), row[6]), ""))
            if kind in _MARKS:
                if row[1] != MISSING:
                    thread = (process_of(row[4]), thread_of(row[4]))
                    marks.append((row[1], found.strings[said], thread))
            else:
                ranges.append(row)
                stacked.append(kind in _STACKED)
                told.append(said)
        if ranges:
            found.add(_range_batch(found, ranges, stacked, told), may_last=True)
        yield len(chunk)


def _sort(row: Row) -> int:
    """What an NVTX event is, as an ``eventType``; 0 for what lasts no time and marks none."""
    kind = int(row[3])
    if kind == MISSING:
        return 34 if row[2] == MISSING else 59
    return kind if kind in _MARKS | _STACKED | _FREE else 0


def _said(text: str, domain: str) -> str:
    """The words of a range; those of a library's domain follow its name, as nsys writes them."""
    return f"{domain}:{text}" if domain else text or "range without a name"


def _range_batch(
    found: NsightSlices, ranges: list[Row], stacked: list[bool], told: list[str]
) -> Batch:
    names, kinds, details = [], [], []
    for row, said in zip(ranges, told, strict=True):
        own = row[6] in (0, MISSING)
        name, kind, sizes = read_range(said) if own else (said, SliceKind.ANNOTATION, None)
        names.append(found.strings[name])
        kinds.append(kind)
        details.append(-1)
        if sizes is not None:
            key = (SliceKind.CPU_OP, repr(sizes))
            details[-1] = found.detail(key, partial(dict, [("Input Dims", sizes)]))
    operator, annotation = found.strings["cpu_op"], found.strings["user_annotation"]
    threads = _threads(found, ranges, LaneKind.CPU_THREAD, stacked)
    return Batch(
        table=RANGES,
        kind=kinds,
        key=[row[0] for row in ranges],
        start=[row[1] for row in ranges],
        end=[row[2] for row in ranges],
        name=names,
        category=[operator if kind == SliceKind.CPU_OP else annotation for kind in kinds],
        lane=threads,
        detail=details,
    )


def _threads(
    found: NsightSlices, rows: list[Row], kind: LaneKind, stacked: list[bool] | None = None
) -> list[int]:
    """The lanes of rows whose thread is their third or, for ranges, their fourth column.

    Ranges that may begin and end on different threads (not ``stacked``) have a lane of their
    process.
    """
    if stacked is None:
        return [found.thread_lane(row[3], kind) for row in rows]
    return [
        found.thread_lane(row[4], kind)
        if on_stack
        else found.extra_lane(process_of(row[4]), "NVTX ranges")
        for row, on_stack in zip(rows, stacked, strict=True)
    ]


def _domains(found: NsightSlices) -> dict[tuple[int, int], str]:
    """Names of NVTX domains by process and number; the default one, 0, has none."""
    names: dict[tuple[int, int], str] = {}
    columns = ("globalTid", "domainId", "textId")
    wanted = ("eventType", _DOMAIN)
    for chunk in found.database.chunks(RANGES, columns, ("text",), only=wanted):
        registered = found.names([row[3] for row in chunk])
        for row, other in zip(chunk, registered, strict=True):
            name = row[4] or other
            if name and row[2] > 0:
                names[process_of(row[1]), row[2]] = name
    return names


def instants_of(found: NsightSlices, marks: Marks) -> Instants:
    """The NVTX marks; one whose thread has no slices has no lane."""
    lanes = {
        (process, lane.tid): number
        for lane, number in found.lanes.items()
        for process, pid in found.processes.known().items()
        if lane.kind == LaneKind.CPU_THREAD and lane.pid == pid
    }
    return Instants(
        time_ns=np.array([time for time, _, _ in marks], np.int64),
        lane_id=np.array([lanes.get(thread, -1) for _, _, thread in marks], np.int32),
        name_id=np.array([name for _, name, _ in marks], np.int32),
        value=np.full(len(marks), np.nan),
    )


class Metrics:
    """Sampled GPU metrics, a series for each metric of each GPU."""

    def __init__(self, found: NsightSlices) -> None:
        self._found = found
        self._series: Intern[tuple[int, int]] = Intern()
        self._chunks: list[np.ndarray[tuple[int, int], np.dtype[np.int64]]] = []

    def add(self) -> Chunks:
        """Takes the samples; yields how many came, chunk by chunk."""
        columns = ("timestamp", "typeId", "metricId", "value")
        for chunk in self._found.database.chunks(METRICS, columns):
            rows = [
                (time, self._series[kind, metric], value)
                for _, time, kind, metric, value in chunk
                if MISSING not in (time, value)
            ]
            if rows:
                self._chunks.append(np.array(rows, np.int64))
            yield len(chunk)

    def counters(self) -> Counters:
        """All samples."""
        names: dict[tuple[int, int], str] = {}
        columns = ("typeId", "metricId")
        texts = ("metricName",)
        for chunk in self._found.database.chunks("TARGET_INFO_GPU_METRICS", columns, texts):
            names |= {(row[1], row[2]): row[3] for row in chunk if row[3]}
        joined = np.concatenate(self._chunks) if self._chunks else np.zeros((0, 3), np.int64)
        return Counters(
            # The GPU is in the lowest byte of the number of a metric's source.
            series=tuple(
                (f"GPU {kind & 0xFF}", names.get((kind, metric), f"metric {metric}"), "value")
                for kind, metric in self._series
            ),
            series_id=joined[:, 1].astype(np.int32),
            time_ns=joined[:, 0].copy(),
            value=joined[:, 2].astype(np.float64),
        )
