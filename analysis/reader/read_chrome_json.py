"""Chrome trace JSON, as PyTorch, Kineto and many others write it.

Either an object with ``traceEvents`` among its keys or just the array of events. Times are
microseconds whatever ``displayTimeUnit`` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from whichlayer.analysis.errors import TraceError, TraceWarning
from whichlayer.analysis.reader.arguments import as_int64
from whichlayer.analysis.reader.document import Document
from whichlayer.analysis.reader.formats import TraceFormat
from whichlayer.analysis.reader.framing import Chunk, EventArray, Limits, Span
from whichlayer.analysis.reader.full_args import FullArguments
from whichlayer.analysis.reader.groups import Groups, Role
from whichlayer.analysis.reader.intern import Intern
from whichlayer.analysis.reader.marks import LaneFinder, Marks
from whichlayer.analysis.reader.metadata import read_metadata
from whichlayer.analysis.reader.pairs import Pairs
from whichlayer.analysis.reader.progress import Progress, Report
from whichlayer.analysis.reader.slices import SliceBuilder
from whichlayer.analysis.reader.source import TraceSource
from whichlayer.analysis.reader.window import Window
from whichlayer.analysis.trace.assemble import Recording, assemble
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind
from whichlayer.analysis.trace.lanes import Naming


class _Collector:
    """Sorts the events of every chunk by what they are for."""

    def __init__(self) -> None:
        self.strings: Intern[str] = Intern({"": 0})
        self.groups = Groups()
        self.slices = SliceBuilder(self.groups, self.strings)
        self.pairs = Pairs(self.groups, self.strings)
        self.marks = Marks(self.groups, self.strings)
        self.naming = Naming()
        self.spans: list[Span] = []
        self.events = 0

    def add(self, chunk: Chunk) -> None:
        events = chunk.events
        group, role = self.groups.of(events)
        number = np.arange(self.events, self.events + len(events), dtype=np.int64)
        for value in np.unique(role).tolist():
            rows = np.flatnonzero(role == value)
            chosen = [events[row] for row in rows.tolist()]
            if value == Role.SLICE:
                self.slices.add(chosen, group[rows], number[rows])
            elif value in (Role.PAIR, Role.ASYNC):
                self.pairs.add(chosen, group[rows], number[rows])
            elif value == Role.INSTANT:
                self.marks.add_instants(chosen, group[rows])
            elif value == Role.COUNTER:
                self.marks.add_counters(chosen, group[rows])
            elif value == Role.FLOW:
                self.marks.add_flows(chosen, group[rows])
            elif value == Role.METADATA:
                read_metadata(chosen, self.naming)
        self.spans += chunk.spans
        self.events += len(events)


def _matches(head: bytes) -> bool:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")


def read_chrome_json(
    source: TraceSource, report: Report | None = None, limits: Limits | None = None
) -> Trace:
    """Reads a whole trace.

    Raises:
        TraceError: the file is JSON, but no trace.
    """
    window = Window(source)
    document = Document(window)
    collector = _Collector()
    warnings: list[TraceWarning] = []
    arrays = 0
    cut_at = -1
    while document.find_events():
        arrays += 1
        array = EventArray(window, limits or Limits())
        for chunk in array:
            collector.add(chunk)
            if report is not None:
                report(Progress(source.position, source.size, collector.events))
        warnings += _array_warnings(array)
        if not array.closed:
            cut_at = window.offset
            break
    if not arrays:
        raise TraceError(_why_no_trace(document, source))
    if not collector.events and document.bare:
        raise TraceError("JSON, but not a trace: it is an empty list")
    if collector.events and collector.groups.no_phase_at_all:
        raise TraceError("JSON, but not a trace: its entries have no phase (ph)")
    if not document.complete or source.damage:
        warnings.append(_truncated(source, cut_at if cut_at >= 0 else window.offset))
    if document.damaged_at >= 0 and document.complete:
        warnings.append(
            TraceWarning(
                "damaged",
                f"the header could not be read from byte {document.damaged_at} on",
                byte_offset=document.damaged_at,
            )
        )
    return _assembled(source, document, collector, warnings)


def _why_no_trace(document: Document, source: TraceSource) -> str:
    if source.damage:
        return f"no events could be read: {source.damage}"
    if document.complete:
        return "JSON, but not a trace: it has no list named traceEvents"
    return "not JSON, or cut off before the list of events (traceEvents)"


def _truncated(source: TraceSource, offset: int) -> TraceWarning:
    reason = source.damage or "the file ends before its end"
    return TraceWarning(
        "truncated", f"{reason}; everything up to byte {offset} was read", byte_offset=offset
    )


def _array_warnings(array: EventArray) -> list[TraceWarning]:
    warnings: list[TraceWarning] = []
    losses = array.losses
    if losses:
        first = losses[0]
        warnings.append(
            TraceWarning(
                "damaged",
                f"{len(losses)} events from byte {first.offset} on could not be read: "
                f"{first.reason}",
                len(losses),
                first.offset,
            )
        )
    if array.repaired:
        warnings.append(
            TraceWarning(
                "repaired",
                f"{array.repaired} damaged events were read after a repair",
                array.repaired,
            )
        )
    if array.too_large:
        warnings.append(
            TraceWarning(
                "too-large",
                f"{len(array.too_large)} events of more than "
                f"{array.limits.event >> 20} MiB were left out",
                len(array.too_large),
                array.too_large[0],
            )
        )
    return warnings


def _time_warnings(collector: _Collector) -> list[TraceWarning]:
    bad = collector.slices.bad
    counted = (
        (
            bad.start + collector.pairs.bad + collector.marks.bad,
            "Q6",
            "have no usable start time and are left out",
        ),
        (bad.duration_missing, "Q6", "have no usable duration; they count as instants"),
        (bad.duration_negative, "Q6", "have a negative duration; they count as instants"),
        (collector.pairs.unclosed, "unclosed", "never end; they last to the end of the trace"),
        (collector.pairs.unmatched, "unmatched-end", "end without a beginning and are left out"),
    )
    return [
        TraceWarning(code, f"{count} events {what}", count)
        for count, code, what in counted
        if count
    ]


def _assembled(
    source: TraceSource,
    document: Document,
    collector: _Collector,
    warnings: list[TraceWarning],
) -> Trace:
    builder = collector.slices
    last = builder.last_ns
    builder.append(collector.pairs.slices(builder.lanes, last))
    slices = builder.finish()
    lanes = builder.lanes.all
    finder = LaneFinder(lanes)
    base = as_int64(document.header.get("baseTimeNanoseconds"))
    flows = collector.marks.flows(finder)
    full_args = FullArguments(source.path, source.stamp, collector.spans)
    return assemble(
        Recording(
            path=source.path,
            producer=_producer(document.header, slices.kind),
            header=document.header,
            base_ns=base if base >= 0 else None,
            strings=list(collector.strings),
            details=builder.arguments.details,
            slices=slices,
            lanes=lanes,
            naming=collector.naming,
            instants=collector.marks.instants(finder),
            counters=collector.marks.counters(),
            flows=flows,
            events=collector.events,
            full_args=full_args.of_rows,
            warnings=[*warnings, *_time_warnings(collector)],
        )
    )


def _producer(header: Mapping[str, Any], kind: np.ndarray[Any, Any]) -> str:
    if header.keys() & {"schemaVersion", "deviceProperties", "baseTimeNanoseconds"}:
        return "pytorch"
    recorded = {SliceKind.CPU_OP, SliceKind.RUNTIME, SliceKind.KERNEL, SliceKind.PROFILER}
    return "pytorch" if recorded & set(np.unique(kind).tolist()) else "chrome"


FORMAT = TraceFormat("Chrome trace JSON", _matches, read_chrome_json)
