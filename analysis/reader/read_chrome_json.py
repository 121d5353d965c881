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
from whichlayer.analysis.reader.damage import (
    array_warnings,
    document_warnings,
    plural,
    why_no_trace,
)
from whichlayer.analysis.reader.document import Document
from whichlayer.analysis.reader.events import pick
from whichlayer.analysis.reader.formats import TraceFormat
from whichlayer.analysis.reader.framing import Chunk, EventArray, Limits, Span
from whichlayer.analysis.reader.full_args import FullArguments
from whichlayer.analysis.reader.groups import Groups, Role
from whichlayer.analysis.reader.intern import Intern
from whichlayer.analysis.reader.lanes import LaneFinder, Lanes
from whichlayer.analysis.reader.marks import Marks
from whichlayer.analysis.reader.metadata import read_metadata
from whichlayer.analysis.reader.pairs import Pairs
from whichlayer.analysis.reader.producers import Traits, tell_producer, verdict_warnings
from whichlayer.analysis.reader.progress import Progress, Report
from whichlayer.analysis.reader.slices import SliceBuilder
from whichlayer.analysis.reader.source import TraceSource
from whichlayer.analysis.reader.window import Window
from whichlayer.analysis.trace.assemble import Recording, assemble
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind
from whichlayer.analysis.trace.lanes import Naming

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_chrome_json(
    source: TraceSource, report: Report | None = None, limits: Limits | None = None
) -> Trace:
    """Reads a whole trace.

    Raises:
        TraceError: the file is no JSON, or JSON but no trace.
    """
    window = Window(source)
    document = Document(window)
    collector = _Collector()
    warnings: list[TraceWarning] = []
    array = None
    while document.find_events():
        array = EventArray(window, limits or Limits())
        for chunk in array:
            collector.add(chunk)
            if report is not None:
                report(Progress(source.position, source.size, collector.events))
        warnings += array_warnings(array)
    if array is None:
        raise TraceError(why_no_trace(document, source))
    if not collector.events and (array.losses or not array.closed):
        raise TraceError(source.damage or "not JSON, or too damaged to read")
    if not collector.events and document.bare:
        raise TraceError("not a trace: a list without events")
    if collector.events and not collector.groups.have_phases:
        raise TraceError("JSON, but not a trace: its entries have no phase (ph)")
    warnings += document_warnings(document, source, array, window.offset + len(window.data))
    return assemble(collector.recording(source, document.header, warnings))


class _Collector:
    """Sorts the events of every chunk by what they are for."""

    def __init__(self) -> None:
        self.strings: Intern[str] = Intern({"": 0})
        self.groups = Groups(self.strings)
        self.lanes = Lanes(self.groups)
        self.slices = SliceBuilder(self.groups, self.strings, self.lanes)
        self.pairs = Pairs(self.groups, self.strings)
        self.marks = Marks(self.groups, self.strings)
        self.naming = Naming()
        self.spans: list[Span] = []
        self.events = 0

    def add(self, chunk: Chunk) -> None:
        """Takes the events of a chunk."""
        events = chunk.events
        group = self.groups.of(events)
        role = self.groups.role[group]
        for value in np.bincount(role).nonzero()[0].tolist():
            rows = np.flatnonzero(role == value)
            chosen = pick(events, rows)
            number = rows + self.events
            if value == Role.SLICE:
                self.slices.add(chosen, group[rows], number)
            elif value == Role.PAIR:
                self.pairs.add(chosen, group[rows], number)
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

    def recording(
        self, source: TraceSource, header: Mapping[str, Any], warnings: list[TraceWarning]
    ) -> Recording:
        """Everything that was read."""
        self.slices.append(self.pairs.slices(self.lanes, self.slices.last_ns))
        slices = self.slices.finish()
        lanes = self.lanes.all()
        finder = LaneFinder(lanes)
        base = as_int64(header.get("baseTimeNanoseconds"))
        kinds = {SliceKind(kind) for kind in np.unique(slices.kind).tolist()}
        producer = tell_producer(Traits(header, kinds, self.groups.categories, self.naming))
        return Recording(
            path=source.path,
            producer=producer.name,
            header=header,
            base_ns=base if base >= 0 else None,
            instants=self.marks.instants(finder),
            counters=self.marks.counters(),
            flows=self.marks.flows(finder),
            strings=list(self.strings),
            details=self.slices.arguments.details,
            slices=slices,
            lanes=lanes,
            naming=self.naming,
            events=self.events,
            full_args=FullArguments(source.path, source.stamp, self.spans).of_rows,
            warnings=[*warnings, *self._warnings(), *verdict_warnings(producer, kinds)],
        )

    def _warnings(self) -> list[TraceWarning]:
        bad_start = self.slices.bad_start + self.pairs.bad + self.marks.bad
        counted = (
            ("Q6", bad_start, "without a usable time left out"),
            ("Q6", self.slices.bad_duration, "without a usable duration kept without length"),
            ("Q6", self.slices.negative_duration, "of negative duration kept without length"),
            ("unclosed", self.pairs.unclosed, "without an end drawn to the end of the trace"),
            ("unmatched-end", self.pairs.unmatched, "that end what never began left out"),
        )
        return [
            TraceWarning(code, f"{plural(count, 'event')} {what}", count)
            for code, count, what in counted
            if count
        ]


def _matches(head: bytes) -> bool:
    return head.removeprefix(_BYTE_ORDER_MARK).lstrip()[:1] in (b"{", b"[")


FORMAT = TraceFormat("Chrome trace JSON", _matches, read_chrome_json)
