"""Reads a part of a large recording: faster than all of it, and in less memory.

Where the part lies is known only once all has been seen, so the file is read twice: in outline
first, then those chunks of its text that hold something of the part.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.part.cut import cut, labelled
from whichlayer.analysis.part.needed import NOTHING, Wanted, needed, takes_all
from whichlayer.analysis.reader import read_chrome_json
from whichlayer.analysis.reader.collector import Collector
from whichlayer.analysis.reader.events import DECODE_ERRORS, Event, decode_loose
from whichlayer.analysis.reader.framing import decode_guess
from whichlayer.analysis.reader.full_args import RowArguments
from whichlayer.analysis.reader.keep import OUTLINE, Outlined
from whichlayer.analysis.reader.progress import Report
from whichlayer.analysis.reader.repair import versions
from whichlayer.analysis.reader.source import TraceSource
from whichlayer.analysis.trace.assemble import Slices, assemble
from whichlayer.analysis.trace.classify import kind_of_category
from whichlayer.analysis.trace.columns import Trace, UInt8
from whichlayer.analysis.trace.kinds import SliceKind
from whichlayer.analysis.trace.lanes import lane_order

#: Names the size of text, in bytes, from which on a part is read as one.
VARIABLE: Final = "WHICHLAYER_PART_FROM"

#: Below, reading and accounting for all of it takes a few seconds; whoever looks at some steps
#: of a small recording sees them among all others.
_FROM: Final = 64_000_000

_BLOCK: Final = 1 << 20


class _Unlike(Exception):
    """Text that was read before does not give the same events again."""


def read_part(
    path: str,
    wanted: Wanted,
    whole: Callable[[], Trace],
    reopen: Callable[[], Trace | None],
    report: Report | None,
) -> Trace:
    """What some steps or a span need of a recording; all of it where it is small.

    Args:
        path: the file.
        wanted: what is to be looked at.
        whole: reads all of it.
        reopen: gives all of it where it was read before.
        report: told now and then how far the file has been read.
    """
    known = reopen()
    if known is None and _is_large(path):
        return _read(path, wanted, whole, report)
    trace = known or whole()
    return cut(trace, wanted) if _text_size(trace) >= smallest() else trace


def smallest() -> int:
    """The size of text from which on a part is read as one, in bytes."""
    said = os.environ.get(VARIABLE, "")
    return int(said) if said.isdecimal() else _FROM


def _is_large(path: str) -> bool:
    """Whether a file's text is of a kind and a size that a part of it is read as one."""
    least = smallest()
    with TraceSource(path) as source:
        if not source.size or not read_chrome_json.FORMAT.matches(source.head):
            return False
        # Of a compressed file nothing but reading on tells; that costs a hundredth of the rest.
        return source.size >= least or _skip(source, least) == least


def _read(path: str, wanted: Wanted, whole: Callable[[], Trace], report: Report | None) -> Trace:
    with TraceSource(path) as source:
        collector = Collector(OUTLINE)
        around = read_chrome_json.collect_events(source, collector, report)
        outline = assemble(collector.recording(source, around.header, []))
        if takes_all(outline, wanted):
            return whole()
        stretch = needed(outline, wanted) or NOTHING
        keep = stretch.on_clock(outline.origin_ns)
        slices = _taken_apart(outline, collector)
        del outline
        chunks = [chunk for chunk in collector.outline if chunk.meets(keep)]
        try:
            collector.complete(slices, keep, _again(path, source.stamp, chunks))
        except _Unlike:
            return cut(whole(), wanted)
        recording = collector.recording(source, around.header, around.warnings)
    trace = assemble(recording)
    seen = {
        *np.unique(trace.kind).tolist(),
        *(recording.dropped.kinds if recording.dropped else ()),
    }
    frames = SliceKind.PYTHON in seen
    return labelled(trace, stretch, wanted, trace.duration_ns, frames)


def _taken_apart(outline: Trace, collector: Collector) -> Slices:
    """The slices that an outline was made of; uses up its columns."""
    for column in (outline.start_ns, outline.end_ns):
        column += outline.origin_ns
    lanes = np.array(lane_order(collector.lanes.all(), collector.naming), np.int32)
    assert isinstance(outline._full_args, RowArguments)
    return Slices(
        start_ns=outline.start_ns,
        end_ns=outline.end_ns,
        name_id=outline.name_id,
        category_id=outline.category_id,
        kind=_by_category(outline),
        lane_id=lanes[outline.lane_id] if len(lanes) else outline.lane_id,
        correlation=outline.correlation,
        external_id=outline.external_id,
        detail_id=outline.detail_id,
        event=outline._full_args.event,
    )


def _by_category(trace: Trace) -> UInt8:
    """The kinds of slices before names were looked at."""
    kinds = trace.kind.copy()
    for category in np.flatnonzero(np.bincount(trace.category_id)).tolist():
        kinds[trace.category_id == category] = kind_of_category(trace.strings[category])
    return kinds


def _again(
    path: str, stamp: tuple[int, int], chunks: Iterable[Outlined]
) -> Iterator[tuple[Outlined, Sequence[Event]]]:
    """Chunks of a file with their events, decoded once more.

    Raises:
        _Unlike: a chunk does not hold as many events as before.
        TraceError: the file has changed.
    """
    with TraceSource(path, limited=False) as source:
        if source.stamp != stamp:
            raise TraceError("it has changed while it was read")
        at = 0
        for chunk in chunks:
            events: list[Event] = []
            for offset, length in chunk.place:
                if at:
                    _skip(source, offset - at)
                else:  # in one leap, where the file allows it
                    source.skip(offset)
                events += _decoded(_text(source, length))
                at = offset + length
            if len(events) != chunk.events:
                raise _Unlike
            yield chunk, events


def _skip(source: TraceSource, length: int) -> int:
    """Moves on by so many bytes, or to the end; tells by how many."""
    left = length
    while left and (block := source.read(min(left, _BLOCK))):
        left -= len(block)
    return length - left


def _text(source: TraceSource, length: int) -> bytes:
    parts = []
    while length and (block := source.read(min(length, _BLOCK))):
        parts.append(block)
        length -= len(block)
    return b"".join(parts)


def _decoded(text: bytes) -> list[Event]:
    events = decode_guess(text)
    if events is not None:
        return events
    for version in versions(text):
        try:
            return decode_loose(b"[%b]" % version.text)
        except DECODE_ERRORS:
            continue
    raise _Unlike


def _text_size(trace: Trace) -> int:
    """How long the text is that a trace was read from; of a database, the file."""
    arguments = trace._full_args
    if not isinstance(arguments, RowArguments) or not arguments.source.spans:
        return os.stat(trace.path).st_size
    last = arguments.source.spans[-1]
    return last.offset + last.length
