"""Chrome trace JSON, as PyTorch, Kineto and many others write it.

Either an object with ``traceEvents`` among its keys or just the array of events. Times are
microseconds whatever ``displayTimeUnit`` says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whichlayer.analysis.errors import TraceError, TraceWarning
from whichlayer.analysis.reader.collector import Collector
from whichlayer.analysis.reader.cores import Cores
from whichlayer.analysis.reader.damage import (
    array_warnings,
    document_warnings,
    why_no_trace,
)
from whichlayer.analysis.reader.document import Document
from whichlayer.analysis.reader.formats import TraceFormat
from whichlayer.analysis.reader.framing import EventArray, Limits
from whichlayer.analysis.reader.kineto_text import KinetoText
from whichlayer.analysis.reader.memory import give_back_freed_memory
from whichlayer.analysis.reader.progress import Progress, Report
from whichlayer.analysis.reader.sharing import Sharing
from whichlayer.analysis.reader.source import TraceSource
from whichlayer.analysis.reader.window import Window
from whichlayer.analysis.trace.appearance import by_appearance
from whichlayer.analysis.trace.assemble import assemble
from whichlayer.analysis.trace.columns import Trace

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

#: Less text leaves little behind, and all that the process has freed is looked through to find it.
_LARGE = 1 << 24


def read_chrome_json(
    source: TraceSource,
    report: Report | None = None,
    limits: Limits | None = None,
    cores: Cores | None = None,
) -> Trace:
    """Reads a whole trace.

    Args:
        source: the file.
        report: told now and then how far it has been read.
        limits: how much text is held at a time.
        cores: how reading is shared among processes, which never changes what is read.

    Raises:
        TraceError: the file is no JSON, or JSON but no trace.
    """
    collector = Collector()
    read = collect_events(source, collector, report, limits, cores)
    large = read.size >= _LARGE
    if large:
        give_back_freed_memory()
    recording = collector.recording(source, read.header, read.warnings)
    del collector
    if large:
        give_back_freed_memory()
    return by_appearance(assemble(recording))


@dataclass(frozen=True, slots=True)
class Around:
    """What a file holds beside its events.

    Attributes:
        header: its other top-level keys.
        warnings: what is wrong with its text.
        size: how long its text is, in bytes.
    """

    header: Mapping[str, Any]
    warnings: list[TraceWarning]
    size: int


def collect_events(
    source: TraceSource,
    collector: Collector,
    report: Report | None = None,
    limits: Limits | None = None,
    cores: Cores | None = None,
) -> Around:
    """Has a collector take all events of a file; see :func:`read_chrome_json`."""
    reading = _Reading(source, collector, report, limits or Limits(), cores)
    document = Document(Window(source))
    arrays = reading.read(document)
    if arrays:
        return reading.around(document, arrays)
    why = why_no_trace(document, source)
    with TraceSource(source.path) as again:
        reading = _Reading(again, collector, report, limits or Limits(), cores)
        astray = Document(Window(again), astray=True)
        astray.keys = document.keys.without_events()
        arrays = reading.read(astray)
        if not collector.events:
            raise TraceError(why)
        return reading.around(astray, arrays)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What reads a file's events into a collector; see :func:`read_chrome_json`."""

    source: TraceSource
    collector: Collector
    report: Report | None
    limits: Limits
    cores: Cores | None

    def read(self, document: Document) -> list[EventArray]:
        """Reads all arrays of events that a document finds."""
        source, collector = self.source, self.collector

        def snapshot() -> Trace:
            return assemble(collector.recording_so_far(source, document.header))

        def advance(position: int) -> None:
            if self.report is not None:
                self.report(Progress(position, source.size, collector.events, snapshot))

        arrays = []
        kineto = KinetoText() if collector.keep is None else None
        cores = self.cores or Cores.of_machine()
        with Sharing(cores, source, collector, advance) as sharing:
            while document.find_events():
                array = EventArray(document.window, self.limits, kineto=kineto)
                for chunk in array:
                    collector.add(chunk)
                    advance(source.position)
                    del chunk
                    sharing.read_on(array)
                arrays.append(array)
        return arrays

    def around(self, document: Document, arrays: Sequence[EventArray]) -> Around:
        """What else the document holds.

        Raises:
            TraceError: what was read is no trace.
        """
        array, events = arrays[-1], self.collector.events
        if not events and (array.losses or array.too_large or not array.closed):
            raise TraceError(self.source.damage or "not JSON, or too damaged to read")
        if events and not self.collector.groups.have_phases:
            raise TraceError("JSON, but not a trace: its entries have no phase (ph)")
        warnings = [warning for each in arrays for warning in array_warnings(each)]
        if not events:
            warnings.append(TraceWarning("no-events", "there are no events in it", 0))
        warnings += document_warnings(document, self.source, array, document.window.end)
        return Around(document.header, warnings, document.window.end)


def _matches(head: bytes) -> bool:
    return head.removeprefix(_BYTE_ORDER_MARK).lstrip()[:1] in (b"{", b"[", b"")


FORMAT = TraceFormat("Chrome trace JSON", _matches, read_chrome_json)
