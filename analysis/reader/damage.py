"""Says in words what was wrong with a file."""

from __future__ import annotations

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.reader.document import Document
from whichlayer.analysis.reader.framing import EventArray
from whichlayer.analysis.reader.source import TraceSource


def plural(count: int, noun: str) -> str:
    """``1 event``, ``2 events``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def array_warnings(array: EventArray) -> list[TraceWarning]:
    """What was wrong with single events."""
    warnings: list[TraceWarning] = []
    if array.losses:
        first = array.losses[0]
        count = sum(loss.count for loss in array.losses)
        warnings.append(
            TraceWarning(
                "damaged",
                f"{plural(count, 'event')} from byte {first.offset} on could not be read: "
                f"{first.reason}",
                count,
                first.offset,
            )
        )
    if array.repaired:
        warnings.append(
            TraceWarning(
                "repaired",
                f"{plural(array.repaired, 'damaged spot')} repaired (such as NaN, stray "
                "control characters or quotes); names and arguments there may differ",
                array.repaired,
            )
        )
    if array.too_large:
        warnings.append(
            TraceWarning(
                "too-large",
                f"{plural(len(array.too_large), 'event')} of more than "
                f"{array.limits.event >> 20} MiB left out",
                len(array.too_large),
                array.too_large[0],
            )
        )
    return warnings


def document_warnings(
    document: Document, source: TraceSource, array: EventArray, end: int
) -> list[TraceWarning]:
    """What was wrong with the file as a whole.

    Args:
        document: read to its end.
        source: likewise.
        array: the last array of events.
        end: how much decompressed text there was.
    """
    warnings: list[TraceWarning] = []
    if source.damage or not array.closed:
        reason = source.damage or "the list of events is not closed"
        warnings.append(
            TraceWarning(
                "truncated",
                f"the file is cut off: {reason}; read up to byte {array.end} of {end}",
                byte_offset=array.end,
            )
        )
    elif document.damaged_at >= 0:
        warnings.append(
            TraceWarning(
                "damaged" if document.complete else "truncated",
                f"the keys beside the events could not be read from byte {document.damaged_at} on",
                byte_offset=document.damaged_at,
            )
        )
    return warnings


def why_no_trace(document: Document, source: TraceSource) -> str:
    """Why there are no events at all."""
    if source.damage:
        return f"no events could be read: {source.damage}"
    if document.complete:
        return "JSON, but not a trace: it has no list named traceEvents"
    return "not JSON, or cut off before its list of events (traceEvents)"
