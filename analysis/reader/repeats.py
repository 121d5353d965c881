"""Finds keys that an event has twice, which JSON allows and decoders pass over in silence."""

from __future__ import annotations

import json
from typing import Any, Final

from whichlayer.analysis.reader.header import Tally
from whichlayer.analysis.reader.structure import SEPARATORS

#: Text that the events looked at are in, of the first chunk and of every other.
_FIRST_SAMPLE, _SAMPLE = 1 << 15, 1 << 13


class RepeatedKeys:
    """Looks at some events of every chunk, and at all of them once one has a key twice.

    Producers that repeat a key do it all the time; to look at every event would take longer
    than to read it.

    Attributes:
        found: events with such a key, in what was looked at.
    """

    def __init__(self) -> None:
        self.found = Tally()
        self._sample = _FIRST_SAMPLE
        self._name = ""
        self._decoder = json.JSONDecoder(object_pairs_hook=self._object, strict=False)

    def look(self, text: bytes, offset: int) -> None:
        """Looks at a chunk of sound events.

        Args:
            text: separated events.
            offset: where it stands.
        """
        sample = len(text) if self.found.count else self._sample
        end = self._events(text[:sample].decode("latin-1"), 0, offset)
        self._sample = _SAMPLE
        if self.found.count and sample < len(text):
            self._events(text[end:].decode("latin-1"), 0, offset + end)

    def _events(self, text: str, at: int, offset: int) -> int:
        """Looks at whole events and returns where they end."""
        while at < len(text) and (end := self._event(text, at, offset)) >= 0:
            at = end
        return at

    def _event(self, text: str, at: int, offset: int) -> int:
        """Counts the event at a place and returns where the next one begins, -1 without one."""
        self._name = ""
        try:
            _, end = self._decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return -1
        if self._name:
            self.found.add(offset + at, self._name)
        while end < len(text) and text[end] in _BETWEEN:
            end += 1
        return end

    def _object(self, pairs: list[tuple[str, Any]]) -> None:
        if len(dict(pairs)) < len(pairs):
            names = [name for name, _ in pairs]
            self._name = next(name for name in names if names.count(name) > 1)


_BETWEEN: Final = SEPARATORS.decode()
