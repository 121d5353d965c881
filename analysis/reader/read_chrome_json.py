"""Chrome trace JSON, as PyTorch, Kineto and many others write it.

Either an object with ``traceEvents`` among its keys or just the array of events. Times are
microseconds whatever ``displayTimeUnit`` says.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    give_back_freed_memory()
    recording = collector.recording(source, read.header, read.warnings)
    del collector
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
    window = Window(source)
    document = Document(window)
    warnings: list[TraceWarning] = []

    def snapshot() -> Trace:
        return assemble(collector.recording_so_far(source, document.header))

    def advance(position: int) -> None:
        if report is not None:
            report(Progress(position, source.size, collector.events, snapshot))

    array = None
    kineto = KinetoText() if collector.keep is None else None
    with Sharing(cores or Cores.of_machine(), source, collector, advance) as sharing:
        while document.find_events():
            array = EventArray(window, limits or Limits(), kineto=kineto)
            for chunk in array:
                collector.add(chunk)
                advance(source.position)
                sharing.read_on(array)
            warnings += array_warnings(array)
    if array is None:
        raise TraceError(why_no_trace(document, source))
    if not collector.events and (array.losses or array.too_large or not array.closed):
        raise TraceError(source.damage or "not JSON, or too damaged to read")
    if not collector.events:
        warnings.append(TraceWarning("no-events", "there are no events in it", 0))
    if collector.events and not collector.groups.have_phases:
        raise TraceError("JSON, but not a trace: its entries have no phase (ph)")
    warnings += document_warnings(document, source, array, window.end)
    return Around(document.header, warnings, window.end)


def _matches(head: bytes) -> bool:
    return head.removeprefix(_BYTE_ORDER_MARK).lstrip()[:1] in (b"{", b"[", b"")


FORMAT = TraceFormat("Chrome trace JSON", _matches, read_chrome_json)
