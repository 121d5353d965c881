"""Says in words what was wrong with a file."""

from __future__ import annotations

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.reader.document import Document
from whichlayer.analysis.reader.framing import EventArray
from whichlayer.analysis.reader.header import Tally
from whichlayer.analysis.reader.source import TraceSource
from whichlayer.analysis.reader.text_limit import stopped_here
from whichlayer.analysis.text import clean, plural


def array_warnings(array: EventArray) -> list[TraceWarning]:
    """What was wrong with single events."""
    warnings: list[TraceWarning] = []
    if array.losses:
        first = array.losses[0]
        places = sum(loss.places for loss in array.losses)
        size = sum(loss.size for loss in array.losses)
        warnings.append(
            TraceWarning(
                "damaged",
                f"{plural(size, 'byte')} in {plural(places, 'place')} from byte {first.offset} on "
                f"could not be read (how many events were there is not known): {first.reason}",
                places,
                first.offset,
            )
        )
    if array.repaired:
        warnings.append(
            TraceWarning(
                "repaired",
                f"{plural(array.repaired, 'damaged spot')} from byte {array.repaired_at} on "
                "repaired (such as NaN, stray control characters, quotes or commas); names and "
                "arguments there may differ",
                array.repaired,
                array.repaired_at,
            )
        )
    if array.again:
        more = len(array.again)
        what = "a second recording begins" if more == 1 else f"{more} more recordings begin, first"
        its = "its" if more == 1 else "their"
        warnings.append(
            TraceWarning(
                "damaged",
                f"{what} at byte {array.again[0]}: {its} events are read as well and lie among the "
                f"first one's, {its} other keys are not; to see each alone, put it into a file of "
                "its own",
                more,
                array.again[0],
            )
        )
    repeats = array.repeats.found
    if repeats.count:
        warnings.append(
            TraceWarning(
                "repeated-key",
                f"at least {plural(repeats.count, 'event')} from byte {repeats.offset} on with a "
                f"key twice{_name(repeats)}; the last one counts",
                repeats.count,
                repeats.offset,
            )
        )
    if array.too_large:
        warnings.append(
            TraceWarning(
                "too-large",
                f"{plural(len(array.too_large), 'event')} of more than "
                f"{array.limits.event >> 20} MiB from byte {array.too_large[0]} on left out",
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
        writing = " (it is still being written)" if source.grown else ""
        reason = source.damage or f"the list of events is not closed{writing}"
        stopped = stopped_here(reason)
        what = "the file was not read to its end" if stopped else "the file is cut off"
        of = "" if stopped else f" of {end}"
        warnings.append(
            TraceWarning(
                "truncated",
                f"{what}: {reason}; read up to byte {array.end}{of}",
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
    if document.head_at > 0:
        warnings.append(
            TraceWarning(
                "damaged",
                f"the recording begins at byte {document.head_at}; the text before is no part of it",
                byte_offset=document.head_at,
            )
        )
    if document.astray_at >= 0:
        warnings.append(
            TraceWarning(
                "damaged",
                "the list of events (traceEvents) is not where it should be; read is what looks "
                f"like events from byte {document.astray_at} on",
                byte_offset=document.astray_at,
            )
        )
    if document.another_at >= 0:
        warnings.append(
            TraceWarning(
                "damaged",
                f"a second recording begins at byte {document.another_at} and is not read; to see "
                "it, put it into a file of its own",
                byte_offset=document.another_at,
            )
        )
    elif document.trailing_at >= 0:
        warnings.append(
            TraceWarning(
                "damaged",
                f"text behind the end of the trace, from byte {document.trailing_at} on, is left out",
                byte_offset=document.trailing_at,
            )
        )
    return warnings + header_warnings(document) + _form_warnings(document, source)


def header_warnings(document: Document) -> list[TraceWarning]:
    """What was wrong with the keys beside the events."""
    keys = document.keys
    told = (
        ("damaged", keys.unreadable, "beside the events could not be read"),
        ("repaired", keys.repaired, "beside the events repaired (such as NaN)"),
        (
            "repeated-key",
            keys.repeated,
            "beside the events came again with another value, which counts",
        ),
        ("too-large", keys.left_out, "beside the events left out, too many or too large to keep"),
    )
    nouns = {"repaired": "damaged spot"}
    return [
        TraceWarning(
            code,
            f"{plural(tally.count, nouns.get(code, 'key'))} {what}, from byte {tally.offset} on"
            f"{_name(tally)}",
            tally.count,
            tally.offset,
        )
        for code, tally, what in told
        if tally.count
    ]


def _name(tally: Tally) -> str:
    return f" (first: {clean(tally.name)})" if tally.name else ""


def _form_warnings(document: Document, source: TraceSource) -> list[TraceWarning]:
    """What is odd about the whole and lost nothing."""
    warnings: list[TraceWarning] = []
    if document.arrays > 1:
        warnings.append(
            TraceWarning(
                "repeated-key",
                f"traceEvents is there {document.arrays} times, the second time at byte "
                f"{document.second}; the events of all are read",
                document.arrays - 1,
                document.second,
            )
        )
    if source.encoding:
        warnings.append(
            TraceWarning(
                "encoding",
                f"the text is {source.encoding.removesuffix('-LE').removesuffix('-BE')}, not "
                "UTF-8; it was converted, and byte numbers are those of the converted text",
                byte_offset=0,
            )
        )
    return warnings


def why_no_trace(document: Document, source: TraceSource) -> str:
    """Why there are no events at all."""
    if source.damage:
        return f"no events could be read: {source.damage}"
    if document.damaged_at == 0 and not document.keys.values:
        return "not JSON"
    if document.complete:
        return "JSON, but not a trace: it has no list named traceEvents"
    return "not JSON, or cut off before its list of events (traceEvents)"
