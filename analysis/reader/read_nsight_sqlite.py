"""Nsight Systems recordings, as ``nsys export --type sqlite`` writes them.

An export is a database of what CUPTI, NVTX and the operating system told; times are integer
nanoseconds since the start of the recording. Its tables and columns differ by version, so
whatever is missing is done without.
Source: the schema comments in the exports and the exporter's documentation
(docs.nvidia.com/nsight-systems).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from whichlayer.analysis.errors import TraceError, TraceWarning
from whichlayer.analysis.reader import nsight_gpu as gpu
from whichlayer.analysis.reader import nsight_host as host
from whichlayer.analysis.reader.formats import TraceFormat
from whichlayer.analysis.reader.nsight_arguments import NsightArguments
from whichlayer.analysis.reader.nsight_database import Database
from whichlayer.analysis.reader.nsight_devices import read_header, read_naming, wall_clock
from whichlayer.analysis.reader.nsight_slices import NsightSlices
from whichlayer.analysis.reader.progress import Progress, Report
from whichlayer.analysis.reader.source import TraceSource
from whichlayer.analysis.text import plural
from whichlayer.analysis.trace.assemble import Recording, assemble
from whichlayer.analysis.trace.columns import Flows, Trace
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind

_MAGIC: Final = b"SQLite format 3\0"

#: Columns without which single tables say less than they seem to.
_ALSO_NEEDED: Final = {gpu.COPIES: ("copyKind",), host.RANGES: ("start", "end", "eventType")}

_ACTIVITIES: Final = (gpu.KERNELS, gpu.GRAPHS, gpu.COPIES, gpu.FILLS)
_TABLES: Final = (
    *host.CALLS, *_ACTIVITIES, gpu.SYNCS, host.RANGES, *host.OVERHEADS, host.OS_CALLS,
    host.METRICS,
)  # fmt: skip

Chunks = Iterator[int]


def read_nsight_sqlite(source: TraceSource, report: Report | None = None) -> Trace:
    """Reads a whole export.

    Raises:
        TraceError: the file is compressed, no database, or holds no recording.
    """
    with open(source.path, "rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise TraceError("a compressed SQLite file: decompress it first")
    with Database(source.path) as database:
        present = [table for table in _TABLES if table in database.columns]
        if not present:
            raise TraceError(
                "an SQLite file, but no Nsight Systems export: it has neither CUPTI_ACTIVITY_KIND_… "
                "nor NVTX_EVENTS tables"
            )
        return assemble(_Reading(source, database, report).recording())


class _Reading:
    """One pass over the tables of an export."""

    def __init__(self, source: TraceSource, database: Database, report: Report | None) -> None:
        self._source = source
        self._database = database
        self._report = report
        self._found = NsightSlices(database)
        self._metrics = host.Metrics(self._found)
        self._marks: host.Marks = []
        self._events = 0
        self._total = max(1, sum(database.rows_at_most(table) for table in _TABLES))

    def recording(self) -> Recording:
        """Everything that the export holds.

        Raises:
            TraceError: nothing could be read.
        """
        for chunks in self._passes():
            for count in chunks:
                self._count(count)
        found, database = self._found, self._database
        slices = found.finish()
        if slices is None:
            raise TraceError(self._why_nothing())
        devices = {lane.device for lane in found.lanes if lane.device >= 0}
        read_naming(database, found.processes, devices, found.naming)
        lanes = list(found.lanes)
        warnings = self._warnings({SliceKind(kind) for kind in np.unique(slices.kind).tolist()})
        arguments = NsightArguments(self._source.path, self._source.stamp, list(found.tables))
        return Recording(
            path=self._source.path,
            producer="nsight",
            header=read_header(database),
            base_ns=wall_clock(database),
            strings=list(found.strings),
            details=found.details,
            slices=slices,
            lanes=lanes,
            naming=found.naming,
            instants=host.instants_of(found, self._marks),
            counters=self._metrics.counters(),
            flows=_no_flows(),
            events=self._events,
            full_args=arguments.of_rows,
            warnings=warnings,
        )

    def _passes(self) -> Iterator[Chunks]:
        """The tables in an order in which each finds what it refers to."""
        found = self._found
        for table in host.CALLS:
            yield host.add_calls(found, table)
        steps: tuple[Callable[[NsightSlices], Chunks], ...] = (
            gpu.add_kernels, gpu.add_graphs, gpu.add_copies, gpu.add_fills, gpu.add_syncs,
        )  # fmt: skip
        for step in steps:
            yield step(found)
        yield host.add_ranges(found, self._marks)
        for table in host.OVERHEADS:
            yield host.add_overheads(found, table)
        yield host.add_os_calls(found)
        yield self._metrics.add()

    def _count(self, rows: int) -> None:
        self._events += rows
        if self._report is not None:
            size = self._source.size
            done = min(size, size * self._events // self._total)
            self._report(Progress(done, size, self._events))

    def _why_nothing(self) -> str:
        for table, reason in self._database.damaged.items():
            return f"the database is damaged: nothing of {table} can be read ({reason})"
        if self._database.cut:
            return "the database is cut short: nothing can be read"
        return "an Nsight Systems export without CUDA, NVTX or operating system events"

    def _warnings(self, kinds: set[SliceKind]) -> list[TraceWarning]:
        found = self._found
        counted = (
            ("Q6", found.bad_start, "without a usable time left out"),
            ("Q6", found.bad_duration, "without a usable duration kept without length"),
            ("Q6", found.negative_duration, "of negative duration kept without length"),
            ("unclosed", found.unclosed, "without an end drawn to the end of the trace"),
            ("Q3", found.unlinked, "whose process is not recorded: their launches are unknown"),
        )
        warnings = [
            TraceWarning(code, f"{plural(count, 'event')} {what}", count)
            for code, count, what in counted
            if count
        ]
        return [
            *warnings,
            *self._damage(),
            *self._missing(kinds),
            *self._doubts(kinds),
            *self._unfinished(),
        ]

    def _damage(self) -> Iterator[TraceWarning]:
        database = self._database
        if not database.cut and not database.damaged:
            return
        told = ["the file is cut short"] if database.cut else []
        told += [f"{table}: {why}" for table, why in database.damaged.items()]
        yield TraceWarning(
            "truncated" if database.cut else "damaged",
            f"the database is damaged, what could be read is shown ({'; '.join(told)})",
        )

    def _missing(self, kinds: set[SliceKind]) -> Iterator[TraceWarning]:
        columns = self._database.columns
        for table in (*_ACTIVITIES, *host.CALLS, host.RANGES):
            needed: tuple[str, ...] = _ALSO_NEEDED.get(table, ())
            if table in _ACTIVITIES:
                needed = (*gpu.NEEDED, *needed)
            elif table in host.CALLS:
                needed = (*host.NEEDED, *needed)
            lacking = [name for name in needed if name not in columns.get(table, needed)]
            if lacking:
                yield TraceWarning("columns", f"{table} lacks {', '.join(lacking)}")
        if kinds & set(GPU_WORK) and SliceKind.RUNTIME not in kinds:
            yield TraceWarning(
                "tables", "no CUDA calls in the export, so no launches: record with --trace=cuda"
            )
        if kinds & set(GPU_WORK) and not {gpu.KERNELS, gpu.GRAPHS} & columns.keys():
            yield TraceWarning("tables", "no kernels in the export, but other work of the GPU")
        if not {"id", "value"} <= set(columns.get("StringIds", ())):
            yield TraceWarning("tables", "the export has no StringIds: names are unknown")

    def _doubts(self, kinds: set[SliceKind]) -> Iterator[TraceWarning]:
        if SliceKind.KERNEL in kinds:
            yield TraceWarning(
                "shapes",
                "kernels have no bandwidth and are not judged, copies on the device apart: no "
                "operator shapes in an Nsight recording; record with torch.profiler record_shapes",
            )
        if self._database.rows_at_most(gpu.GRAPHS):
            yield TraceWarning(
                "graphs",
                "graph launches were recorded as a whole, without their kernels: record with "
                "--cuda-graph-trace=node",
            )
        if self._found.devices.told:
            return
        for device, owners in self._found.shared_devices().items():
            yield TraceWarning(
                "Q13",
                f"{len(owners)} processes worked on their device {device}; whether that is one "
                "GPU is not recorded, and it is shown as one",
            )

    def _unfinished(self) -> Iterator[TraceWarning]:
        """An export is written with a journal beside it; what is only in there is not read."""
        for ending in ("-wal", "-journal"):
            beside = self._source.path + ending
            try:
                size = os.path.getsize(beside)
            except OSError:
                continue
            if size:
                yield TraceWarning(
                    "journal",
                    f"the export was not finished: {os.path.basename(beside)} is not read",
                )


def _no_flows() -> Flows:
    return Flows(
        id=np.zeros(0, np.int64),
        phase=np.zeros(0, np.uint8),
        time_ns=np.zeros(0, np.int64),
        lane_id=np.zeros(0, np.int32),
        category_id=np.zeros(0, np.int32),
    )


FORMAT = TraceFormat(
    "Nsight Systems SQLite export", lambda head: head.startswith(_MAGIC), read_nsight_sqlite
)
