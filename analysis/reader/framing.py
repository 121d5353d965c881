"""Cuts the array of events into chunks of whole events and decodes them.

A cut is guessed at the end of the last event in a block; decoding proves it, since a list cut
inside an event is not JSON. Where the proof fails, the exact structure is looked up, then the
text is repaired, and last the events are picked out one by one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from whichlayer.analysis.reader.closing import closes_array
from whichlayer.analysis.reader.complete import Complete
from whichlayer.analysis.reader.events import DECODE_ERRORS, Event, decode_loose, decode_strict
from whichlayer.analysis.reader.kineto_text import KinetoText
from whichlayer.analysis.reader.leading import find_recording
from whichlayer.analysis.reader.memory import give_back_freed_memory
from whichlayer.analysis.reader.one_event import LIST
from whichlayer.analysis.reader.patterns import no_events, one_no_event
from whichlayer.analysis.reader.recovered import Loss, Recovery
from whichlayer.analysis.reader.recovery import HOLE, recover_events
from whichlayer.analysis.reader.repair import Repaired, check_encoding, first_difference, repair
from whichlayer.analysis.reader.repeats import RepeatedKeys
from whichlayer.analysis.reader.structure import SEPARATORS, find_elements, guess_cut
from whichlayer.analysis.reader.vocabulary import VOCABULARY
from whichlayer.analysis.reader.window import Window

_BRACKET_CLOSE = b"]"

#: Longest text that is repaired as a whole, which takes several times its size.
_LARGEST_REPAIR = 1 << 22

#: Text from this size on holds an event of megabytes, after which what is free is given back.
_LARGE = 1 << 22

#: Text behind a closing bracket that is looked at before it counts as one.
_BEHIND_CLOSE = 1 << 12


@dataclass(frozen=True, slots=True)
class Limits:
    """How much text is held at a time, in bytes.

    Attributes:
        chunk: what is decoded at once.
        patience: how far the end of an event is looked for before it counts as damaged.
        event: largest event that is read; larger ones are left out.
    """

    chunk: int = 1 << 21
    patience: int = 1 << 23
    event: int = 1 << 26


class EventDecoder(Protocol):
    """Makes events of text."""

    def decode(self, text: bytes) -> list[Event]:
        """As :meth:`whichlayer.analysis.reader.vocabulary.Vocabulary.decode`."""
        ...


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the decompressed text that holds a number of whole events."""

    offset: int
    length: int
    events: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """Decoded events, and where in the text they stand.

    Attributes:
        events: all of them, or those that are not in ``complete``.
        spans: where they stand.
        complete: complete events that were read apart from the others.
    """

    events: list[Event]
    spans: list[Span]
    complete: Complete | None = None

    @property
    def count(self) -> int:
        """How many events were read."""
        return len(self.events) + (len(self.complete.row) if self.complete else 0)


@dataclass(slots=True)
class EventArray:
    """The array of events in a file, chunk by chunk.

    Attributes:
        kineto: reads complete events apart, None where all are to be decoded.
        losses: text that could not be read, so far.
        too_large: where events begin that were left out for their size.
        repeats: events that have a key twice.
        repaired: how many damaged spots were repaired.
        repaired_at: where the first of them is, -1 without one.
        again: where in the midst of the events further recordings begin.
        closed: the closing bracket was found, and the window stands behind it.
        end: where in the text the last event that was looked at ends.
    """

    window: Window
    limits: Limits = field(default_factory=Limits)
    decoder: EventDecoder = VOCABULARY
    kineto: KinetoText | None = None
    losses: list[Loss] = field(default_factory=list)
    too_large: list[int] = field(default_factory=list)
    repeats: RepeatedKeys = field(default_factory=RepeatedKeys)
    repaired: int = 0
    repaired_at: int = -1
    again: list[int] = field(default_factory=list)
    closed: bool = False
    end: int = 0
    _begun: bool = False
    _skipping: bool = False
    _losing: bool = False
    _patience: int = 0

    def __iter__(self) -> Iterator[Chunk]:
        window = self.window
        self._patience = self.limits.patience
        while not self.closed:
            self._fill()
            if window.data.startswith(_BRACKET_CLOSE):
                window.fill(_BEHIND_CLOSE)
                self.closed = closes_array(window.data, 0)
                brackets = len(window.data) - len(window.data.lstrip(_BRACKET_CLOSE))
                if not self.closed:
                    self._note_repair(window.offset, brackets)
                window.drop(1 if self.closed else brackets)
            elif window.data:
                large = len(window.data) >= max(_LARGE, 2 * self.limits.chunk)
                chunk = self._no_events()
                if chunk is None and self._skipping:
                    chunk = self._recovered()
                elif chunk is None:
                    chunk = self._guessed() or self._exact()
                if chunk is not None:
                    yield chunk
                if large:
                    del chunk
                    give_back_freed_memory()
            elif window.ended:
                return

    def cut(self) -> tuple[int, bytes] | None:
        """Moves past the next events as far as a guess tells, without decoding them.

        Returns:
            Where they stand, and the text: what iterating would try to decode first. None
            where only iterating can tell.
        """
        self._fill()
        window = self.window
        if window.data.startswith(_BRACKET_CLOSE) or self._run_of_no_events():
            return None
        length = guess_cut(window.data)
        return (window.offset, window.take(length)) if length >= 0 else None

    def note(self, offset: int, text: bytes) -> None:
        """Takes note of what was cut and has been decoded elsewhere."""
        self.repeats.look(text, offset)
        self.end = offset + len(text)
        self._losing = False

    def _fill(self) -> None:
        """Holds a chunk that begins with no separator, or nothing; twice is the same as once."""
        window, offset = self.window, self.window.offset
        commas = self._skip_separators()  # while the text is short, so that nothing long is copied
        while len(window.data) < self.limits.chunk and not window.ended:
            window.fill(self.limits.chunk)
            commas += self._skip_separators()
            if not window.data:
                return
        if commas > self._begun and not self._losing:
            self._note_repair(offset, commas - self._begun)
        self._begun = True

    def _skip_separators(self) -> int:
        """Moves past separators, and returns how many of them are commas."""
        data = self.window.data
        length = len(data) - len(data.lstrip(SEPARATORS))
        commas = data.count(b",", 0, length)
        self.window.drop(length)
        return commas

    def _no_events(self) -> Chunk | None:
        """The run of entries here that are no events, undecoded; None where there is none."""
        run = None if self._skipping else self._run_of_no_events()
        if run is None:
            return None
        commas_inside = b'"' in run[0] or b"[" in run[0]
        count = len(one_no_event().findall(run[0])) if commas_inside else run[0].count(b",")
        return Chunk([], [self._passed(run.end(), count)])

    def _run_of_no_events(self) -> re.Match[bytes] | None:
        data = self.window.data
        return None if data.startswith(b'{"') else no_events().match(data)

    def _passed(self, length: int, events: int) -> Span:
        """Moves past a number of entries."""
        span = Span(self.window.offset, length, events)
        self.window.drop(length)
        self.end = self.window.offset
        self._advanced()
        return span

    def _guessed(self) -> Chunk | None:
        cut = guess_cut(self.window.data)
        if cut < 0:
            return None
        text = memoryview(self.window.data)[:cut]
        apart = self.kineto.read(text) if self.kineto else None
        if apart is not None:
            return self._taken(*apart, length=cut)
        events = decode_guess(text, self.decoder)
        return None if events is None else self._taken(events, length=cut)

    def _exact(self) -> Chunk | None:
        """The events up to their exact end; None where more text is needed to tell."""
        window = self.window
        found = find_elements(window.data)
        end = found.close if found.close >= 0 else found.last_end
        if found.close >= 0 and not closes_array(window.data, found.close):
            pass  # not the end, but damage
        elif window.ended and found.close < 0 and LIST.search(window.data, 0, max(end, 0)):
            pass  # an event that another file was written into
        elif end > 0:
            text = window.data[:end].rstrip(SEPARATORS)
            events = _decoded(Repaired(text, 0))
            if events is None and self._repairable(text):
                mended = repair(text)
                events = _decoded(mended)
                if events is not None:
                    self._note_repair(window.offset, mended.spots, text, mended.text)
            if events is not None:
                if b"," in window.data[len(text) : end] and found.close >= 0:
                    self._note_repair(window.offset + len(text), 1)
                return self._taken(events, length=len(text))
        elif not window.ended and len(window.data) < self._patience:
            window.fill(len(window.data) * 3 // 2 + 1)
            return None
        return self._recovered()

    def _repairable(self, text: bytes) -> bool:
        """Whether text may be repaired as a whole."""
        return len(text) <= _LARGEST_REPAIR and HOLE not in text and not LIST.search(text)

    def _taken(
        self, events: list[Event], complete: Complete | None = None, *, length: int
    ) -> Chunk:
        self.repeats.look(self.window.data[:length], self.window.offset)
        chunk = Chunk(events, [], complete)
        chunk.spans.append(self._passed(length, chunk.count))
        return chunk

    def _recovered(self) -> Chunk | None:
        """Events picked out of damaged text; None where there are none."""
        window = self.window
        found = recover_events(window.data, self._skipping, ended=window.ended)
        base = window.offset
        if found.loss:
            found.loss.offset += base
            found.loss.places -= self._losing and found.begins_lost  # the same place goes on
            self.losses.append(found.loss)
        if found.repaired:
            self._note_repair(base + found.repaired_at, found.repaired)
        self.again += [base + at for at in _beginnings(window.data, found)]
        window.drop(found.consumed)
        self.end = base + found.consumed
        spans = [Span(base + one.start, one.end - one.start, one.events) for one in found.spans]
        if spans:
            self._advanced()
        elif found.consumed:
            self._patience = self.limits.patience
        elif not window.data.startswith(_BRACKET_CLOSE):
            self._give_up()
        self._losing = found.ends_lost or (self._losing and not spans)
        return Chunk(found.events, spans) if spans else None

    def _note_repair(self, at: int, spots: int, before: bytes = b"", after: bytes = b"") -> None:
        """Counts damaged spots; the first is where the text at an offset was changed first."""
        if not self.repaired:
            self.repaired_at = at + first_difference(before, after)
        self.repaired += spots

    def _advanced(self) -> None:
        self._skipping = self._losing = False
        self._patience = self.limits.patience

    def _give_up(self) -> None:
        """Reads on behind text in which not even the end of an event can be found."""
        window = self.window
        if window.ended:
            window.drop(len(window.data))
        elif len(window.data) < self.limits.event:
            self._patience = self.limits.event
            window.fill(len(window.data) * 3 // 2 + 1)
        else:
            if not self._skipping:
                self.too_large.append(window.offset)
                self._skipping = True
            window.drop(max(len(window.data) - self.limits.chunk, len(window.data) // 2))


def _beginnings(text: bytes, found: Recovery) -> list[int]:
    """Where between the events of recovered text other recordings begin."""
    ends = [span.end for span in found.spans]
    beginnings = []
    for events in LIST.finditer(text):
        before = bisect_right(ends, events.start())
        inside = before < len(ends) and found.spans[before].start <= events.start()
        if events.end() <= found.consumed and not inside:
            begin = ends[before - 1] if before else 0
            head = find_recording(text, begin, events.end(), first=False)
            beginnings.append(head if head >= 0 else events.start())
    return beginnings


def decode_guess(
    text: bytes | bytearray | memoryview, decoder: EventDecoder = VOCABULARY
) -> list[Event] | None:
    """The events in text that a guess has cut; None if the guess, or the text, is wrong."""
    array = b"".join((b"[", text, b"]"))
    try:
        check_encoding(array)
        try:
            return decoder.decode(array)
        except msgspec.ValidationError:
            return decode_loose(array)
    except DECODE_ERRORS:
        return None


def _decoded(version: Repaired) -> list[Event] | None:
    array = b"[%b]" % version.text
    try:
        check_encoding(version.text)
        try:
            return decode_strict(array)
        except msgspec.ValidationError:
            return decode_loose(array)
    except DECODE_ERRORS:
        return None
