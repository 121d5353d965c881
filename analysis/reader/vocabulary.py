"""Decodes events whose recurring words have been seen before.

Every event of a trace names one of few phases, categories, processes and threads. A decoder
that knows them gives the same object each time: none is made and freed again, and telling
groups apart compares objects where it compared text. It refuses any other word; then the text
is decoded without it, and what is new is learned. That holds for all files that a process
reads: it decides how fast events are read, never what is read.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec
from msgspec.structs import fields

from whichlayer.analysis.reader.events import Event, Id, decode_strict

#: A field with more words than this is not worth it.
_MOST: Final = 256

_APART: Final = msgspec.json.Decoder(list[Event | Literal[0]])

_INT64: Final = range(-(1 << 63), 1 << 63)


class Vocabulary:
    """The words seen so far, by field; None where any is taken."""

    def __init__(self) -> None:
        self._words: dict[str, set[Id] | None] = {
            name: set() for name in ("ph", "cat", "pid", "tid")
        }
        self._known: dict[str, frozenset[Id]] = {}
        self._decoder: msgspec.json.Decoder[list[Event]] | None = None
        self._decoder_apart: msgspec.json.Decoder[list[Event | Literal[0]]] | None = None

    def words(self) -> dict[str, frozenset[Id]]:
        """The words seen so far, of the fields that take no other."""
        return self._known

    def decode(self, text: bytes) -> list[Event]:
        """Events of ``[...]`` text of the ordinary types.

        Raises:
            msgspec.ValidationError: a field has an odd type; the text may still be JSON.
            ValueError, RecursionError: the text is not JSON, or nested too deeply.
        """
        decoder = self._decoder
        if decoder is not None:
            try:
                return decoder.decode(text)
            except msgspec.ValidationError:
                pass  # something new, or odd
        events = decode_strict(text)
        self._learn(events)
        return events

    def decode_apart(self, text: bytes) -> list[Event | Literal[0]]:
        """The same of a list in which zeros stand between events."""
        decoder = self._decoder_apart
        if decoder is not None:
            try:
                return decoder.decode(text)
            except msgspec.ValidationError:
                pass  # something new, or odd
        found = _APART.decode(text)
        self._learn([one for one in found if one != 0])
        return found

    def _learn(self, events: list[Event]) -> None:
        for name, known in self._words.items():
            if known is None:
                continue
            words = known | {getattr(event, name) for event in events}
            usable = len(words) <= _MOST and all(
                isinstance(word, str) or word in _INT64 for word in words
            )
            self._words[name] = words if usable else None
        self._known = {name: frozenset(some) for name, some in self._words.items() if some}
        event: Any = _event_of(self._words)
        self._decoder = msgspec.json.Decoder(list[event])
        self._decoder_apart = msgspec.json.Decoder(list[event | Literal[0]])


def _event_of(words: dict[str, set[Id] | None]) -> Any:
    """The type of events that take just these words."""
    known: dict[str, Any] = {name: Literal[tuple(some)] for name, some in words.items() if some}
    return msgspec.defstruct(
        Event.__name__,
        [(one.name, known.get(one.name, one.type), one.default) for one in fields(Event)],
        gc=False,
    )


#: What all readers of a process share.
VOCABULARY: Final = Vocabulary()
