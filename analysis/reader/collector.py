"""Collects the events of a Chrome trace, chunk by chunk, into a recording."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.reader.arguments import as_int64
from whichlayer.analysis.reader.events import Event, pick
from whichlayer.analysis.reader.framing import Chunk, Span
from whichlayer.analysis.reader.full_args import FullArguments
from whichlayer.analysis.reader.groups import Groups, Role
from whichlayer.analysis.reader.intern import Strings
from whichlayer.analysis.reader.keep import OUTLINE, Keep, Outlined, Reach
from whichlayer.analysis.reader.lanes import LaneFinder, Lanes
from whichlayer.analysis.reader.marks import Marks
from whichlayer.analysis.reader.metadata import read_metadata
from whichlayer.analysis.reader.numbering import Numbering
from whichlayer.analysis.reader.pairs import Pairs
from whichlayer.analysis.reader.producers import Traits, tell_producer, verdict_warnings
from whichlayer.analysis.reader.slices import SliceBuilder
from whichlayer.analysis.reader.source import TraceSource
from whichlayer.analysis.text import plural
from whichlayer.analysis.trace.assemble import Recording, Slices
from whichlayer.analysis.trace.columns import Int64
from whichlayer.analysis.trace.dropped import Dropped
from whichlayer.analysis.trace.kinds import SliceKind
from whichlayer.analysis.trace.lanes import Naming

_BAD_START = "without a usable time left out"
_BAD_DURATION = "without a usable duration kept without length"
_NEGATIVE = "of negative duration kept without length"
_IGNORED = "of no known phase (ph) left out"
_UNCLOSED = "without an end drawn to the end of the trace"
_UNMATCHED = "that end what never began left out"
_NOT_FINITE = "that are no finite numbers left out"
_CUT = "with a name or category of more than 65536 characters, of which the beginning is kept"
_CODES = dict.fromkeys((_BAD_START, _BAD_DURATION, _NEGATIVE), "Q6") | {
    _IGNORED: "no-phase",
    _UNCLOSED: "unclosed",
    _UNMATCHED: "unmatched-end",
    _NOT_FINITE: "not-finite",
    _CUT: "too-large",
}


class Collector:
    """Sorts the events of every chunk by what they are for.

    Args:
        keep: ``OUTLINE``, or the stretch of time that is wanted, or None for all.

    Attributes:
        outline: the chunks of an outline.
        ignored: entries without a phase, or with one that nobody knows.
        first: the number of the event with which something odd came first.
    """

    def __init__(self, keep: Keep | None = None) -> None:
        self.keep = keep
        self.strings = Strings()
        self.groups = Groups(self.strings)
        self.lanes = Lanes(self.groups)
        self._reach = Reach()
        self.slices = SliceBuilder(self.groups, self.strings, self.lanes, keep, self._reach)
        self.pairs = Pairs(self.groups, self.strings)
        self.marks = Marks(self.groups, self.strings)
        self.naming = Naming()
        self.spans: list[Span] = []
        self.outline: list[Outlined] = []
        self.events = 0
        self.ignored = 0
        self.first: dict[str, int] = {}

    def add(self, chunk: Chunk) -> None:
        """Takes the events of a chunk."""
        events, place = chunk.events, np.arange(len(chunk.events))
        if chunk.complete is not None:
            self.slices.add_complete(chunk.complete, self.events)
            place = chunk.complete.other
        group = self.groups.of(events)
        role = self.groups.role[group]
        for value in np.bincount(role).nonzero()[0].tolist():
            rows = np.flatnonzero(role == value)
            chosen = pick(events, rows)
            number = place[rows] + self.events
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
            else:
                self.ignored += len(rows)
        count = sum(span.events for span in chunk.spans)
        before, self.events = self.events, self.events + count
        if self.keep == OUTLINE:
            where = [(span.offset, span.length) for span in chunk.spans]
            self.outline.append(Outlined(before, len(events), where, *self._reach.take()))
        self.ignored += count - chunk.count
        self.spans += chunk.spans
        for what, odd in self._odd():
            if odd and what not in self.first:
                self.first[what] = before + _first_odd(events, place, what, self.keep)

    def take(self, other: Collector) -> None:
        """Adds what another made of the text that follows, and uses it up.

        It is the same as if the other's chunks had been added here, but for the numbers of what
        strings, groups, lanes and details hold: these come in the order in which text was met.
        """
        numbering = Numbering(
            strings=self.strings.take(other.strings),
            groups=self.groups.take(other.groups),
            lanes=self.lanes.take(other.lanes),
            events=self.events,
        )
        self.outline += [replace(one, first=one.first + self.events) for one in other.outline]
        self.slices.take(other.slices, numbering)
        self.pairs.take(other.pairs, numbering)
        self.marks.take(other.marks, numbering)
        self.naming.take(other.naming)
        self.ignored += other.ignored
        self.strings.cut += other.strings.cut
        theirs = {what: number + self.events for what, number in other.first.items()}
        self.first = theirs | self.first
        self.spans += other.spans
        self.events += other.events

    def complete(
        self, outline: Slices, keep: Keep, chunks: Iterable[tuple[Outlined, Sequence[Event]]]
    ) -> None:
        """Makes of an outline, of which a recording was made, what a stretch needs.

        Args:
            outline: the slices of that recording, with the lanes of this collector.
            keep: the stretch, on the file's own clock.
            chunks: those that may hold something of it, in order, with their events.
        """
        slices = SliceBuilder(self.groups, self.strings, self.lanes, keep)
        slices.arguments = self.slices.arguments
        for chunk, events in chunks:
            group = self.groups.of(events)
            role = self.groups.role[group]
            rows = np.flatnonzero(role == Role.SLICE)
            slices.add(pick(events, rows), group[rows], rows + chunk.first)
        outside = ~keep.inside(outline.start_ns, outline.end_ns)
        # Those that a beginning and an end make are made again, of all of them.
        outline.take(np.flatnonzero(outside & ~np.isin(outline.event, self.pairs.events)))
        self.slices.complete(outline, slices)
        self.keep = keep

    def recording(
        self, source: TraceSource, header: Mapping[str, Any], warnings: list[TraceWarning]
    ) -> Recording:
        """Everything that was read; no slices are kept here."""
        pairs = self.pairs.slices(self.lanes, self.slices.last_ns)
        return self._recording(*self.slices.finish_with(pairs), source, header, warnings)

    def recording_so_far(self, source: TraceSource, header: Mapping[str, Any]) -> Recording:
        """What was read until now, as a recording of its own; collecting goes on."""
        pairs = self.pairs.slices(self.lanes, self.slices.last_ns)
        recording = self._recording(*self.slices.so_far(pairs), source, dict(header), [], False)
        recording.complete = False
        return recording

    def _recording(
        self,
        slices: Slices,
        dropped: Dropped,
        source: TraceSource,
        header: Mapping[str, Any],
        warnings: list[TraceWarning],
        exact: bool = True,
    ) -> Recording:
        lanes = self.lanes.all()
        finder = LaneFinder(lanes)
        base = as_int64(header.get("baseTimeNanoseconds"))
        kinds = {
            SliceKind(kind) for kind in np.flatnonzero(np.bincount(slices.kind)).tolist()
        } | dropped.kinds
        producer = tell_producer(Traits(header, kinds, self.groups.categories, self.naming))
        text = FullArguments(source.path, source.stamp, list(self.spans))
        told = self._warnings(text if exact else None)
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
            full_args=text.of_rows,
            warnings=[*warnings, *told, *verdict_warnings(producer, kinds)],
            stretch=self._stretch,
            dropped=dropped,
            marked=self.marks.extent,
        )

    @property
    def _stretch(self) -> tuple[int, int] | None:
        if self.keep is None or self.keep == OUTLINE:
            return None
        return self.keep.low_ns, self.keep.high_ns

    def _odd(self) -> tuple[tuple[str, int], ...]:
        """What is counted, and how many events or values it concerns so far."""
        return (
            (_BAD_START, self.slices.bad_start + self.pairs.bad + self.marks.bad),
            (_BAD_DURATION, self.slices.bad_duration),
            (_NEGATIVE, self.slices.negative_duration),
            (_IGNORED, self.ignored),
            (_NOT_FINITE, self.marks.not_finite),
            (_CUT, self.strings.cut),
        )

    def _warnings(self, text: FullArguments | None) -> list[TraceWarning]:
        """What was odd, and where it came first, which only the whole text tells."""
        first = self.first | {_UNCLOSED: self.pairs.first_unclosed}
        first |= {_UNMATCHED: self.pairs.first_unmatched}
        unpaired = ((_UNCLOSED, self.pairs.unclosed), (_UNMATCHED, self.pairs.unmatched))
        warnings = []
        for what, count in (*self._odd(), *unpaired):
            if count:
                number = first.get(what, -1)
                offset = -1 if text is None else text.offset_of(number)
                where = f", the first of them at byte {offset}" if offset >= 0 else ""
                noun = "counter value" if what == _NOT_FINITE else "event"
                message = f"{plural(count, noun)} {what}{where}"
                warnings.append(TraceWarning(_CODES[what], message, count, offset))
        return warnings


def _first_odd(events: Sequence[Event], place: Int64, what: str, keep: Keep | None) -> int:
    """The place of the first of some events with which something is odd; the last where none is.

    What is odd about an event does not depend on others, so that halves tell in which it is.
    """
    low, high = 0, max(len(events) - 1, 0)
    while low < high:
        middle = (low + high + 1) // 2
        alone = Collector(keep)
        alone.first = dict.fromkeys(_CODES, 0)  # nobody asks it where
        half = list(events[low:middle])
        alone.add(Chunk(half, [Span(0, 0, len(half))]))
        if dict(alone._odd())[what]:
            high = middle - 1
        else:
            low = middle
    return int(place[low]) if len(events) else 0
