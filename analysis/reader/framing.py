"""Cuts the array of events into chunks of whole events and decodes them.

A cut is guessed at the end of the last event in a block; decoding proves it, since a list cut
inside an event is not JSON. Where the proof fails, the exact structure is looked up, then the
text is repaired, and last the events are picked out one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from whichlayer.analysis.reader.events import DECODE_ERRORS, Event, decode_loose, decode_strict
from whichlayer.analysis.reader.recovery import Loss, recover_events
from whichlayer.analysis.reader.repair import repair
from whichlayer.analysis.reader.structure import SEPARATORS, find_elements, guess_cut
from whichlayer.analysis.reader.window import Window


@dataclass(frozen=True, slots=True)
class Limits:
    """How much text is held at a time, in bytes.

    Attributes:
        chunk: what is decoded at once.
        patience: how far the end of an event is looked for before it counts as damaged.
        event: largest event that is read; larger ones are left out.
    """

    chunk: int = 1 << 19
    patience: int = 1 << 23
    event: int = 1 << 26


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the decompressed text that holds a number of whole events."""

    offset: int
    length: int
    events: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """Decoded events, and where in the text they stand."""

    events: list[Event]
    spans: list[Span]


@dataclass(slots=True)
class EventArray:
    """The array of events in a file, chunk by chunk.

    Attributes:
        losses: events that could not be read, so far.
        too_large: events left out for their size.
        repaired: events that were read after a repair.
        closed: the closing bracket was found, and the window stands behind it.
    """

    window: Window
    limits: Limits = field(default_factory=Limits)
    losses: list[Loss] = field(default_factory=list)
    too_large: list[int] = field(default_factory=list)
    repaired: int = 0
    closed: bool = False

    def __iter__(self) -> Iterator[Chunk]:
        window = self.window
        while not self.closed:
            window.fill(self.limits.chunk)
            self._skip_separators()
            if not window.data:
                if window.ended:
                    return
            elif window.data[0] == ord("]"):
                window.drop(1)
                self.closed = True
            else:
                chunk = self._guessed() or self._exact()
                if chunk is not None:
                    yield chunk

    def _skip_separators(self) -> None:
        data = self.window.data
        self.window.drop(len(data) - len(data.lstrip(SEPARATORS)))

    def _guessed(self) -> Chunk | None:
        cut = guess_cut(self.window.data)
        if cut < 0:
            return None
        text = b"[%b]" % memoryview(self.window.data)[:cut]
        try:
            try:
                events = decode_strict(text)
            except msgspec.ValidationError:
                events = decode_loose(text)
        except DECODE_ERRORS:
            return None
        return self._taken(events, cut)

    def _exact(self) -> Chunk | None:
        window = self.window
        found = find_elements(window.data)
        end = found.close if found.close >= 0 else found.last_end
        if end > 0:
            text = window.data[:end].rstrip(SEPARATORS)
            for version in (text, None):
                version = version or repair(text)
                try:
                    events = decode_loose(b"[" + version + b"]")
                except DECODE_ERRORS:
                    continue
                return self._taken(events, len(text))
        if end <= 0 and not window.ended and len(window.data) < self.limits.patience:
            window.fill(2 * len(window.data))
            return None
        return self._recovered()

    def _taken(self, events: list[Event], length: int) -> Chunk:
        span = Span(self.window.offset, length, len(events))
        self.window.drop(length)
        return Chunk(events, [span])

    def _recovered(self) -> Chunk | None:
        window = self.window
        found = recover_events(window.data, more=not window.ended)
        if not found.consumed and not window.ended:
            if len(window.data) < self.limits.event:
                window.fill(2 * len(window.data))
            else:
                self.too_large.append(window.offset)
                window.drop(len(window.data) - self.limits.chunk)
            return None
        base = window.offset
        self.losses += [Loss(base + loss.offset, loss.reason) for loss in found.losses]
        self.repaired += found.repaired
        window.drop(found.consumed)
        if found.closed:
            window.drop(1)
            self.closed = True
        spans = [Span(base + start, end - start, 1) for start, end in found.spans]
        return Chunk(found.events, spans) if spans else None
