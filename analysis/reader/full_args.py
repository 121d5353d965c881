"""Reads all arguments of one slice from the file again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.reader.events import DECODE_ERRORS, split_elements
from whichlayer.analysis.reader.framing import Span
from whichlayer.analysis.reader.repair import decode_value, versions
from whichlayer.analysis.reader.source import TraceSource
from whichlayer.analysis.trace.columns import Int32, Int64

#: Stretches of text that are kept: who looks at a slice looks at its neighbours.
_MOST_RECENT = 8

#: So much text at a time is passed on the way to what is wanted.
_PASSED = 1 << 20


class FullArguments:
    """Finds the text of events by where it stood when the file was loaded.

    Attributes:
        stamp: size and time of change of the file when it was loaded.
        spans: the stretches of its text in which the events stand, in order.
    """

    def __init__(self, path: str, stamp: tuple[int, int], spans: Sequence[Span]) -> None:
        self._path = path
        self.stamp = stamp
        self.spans = spans
        self._first = np.concatenate(
            ([0], np.cumsum([span.events for span in spans], dtype=np.int64))
        )
        self._recent: dict[int, list[bytes]] = {}

    def of_rows(self, event: Int64) -> RowArguments:
        """The arguments by row, given each row's number among the events of the file."""
        return RowArguments(self, event)

    def read(self, event: int) -> Mapping[str, Any]:
        """The arguments of an event.

        Raises:
            TraceError: the file is gone or has changed since it was loaded.
        """
        index = int(np.searchsorted(self._first, event, "right")) - 1
        elements = self._recent.pop(index, None)
        if elements is None:
            elements = _elements(self._text(self.spans[index]))
        self._recent[index] = elements  # the last one used is the last to go
        if len(self._recent) > _MOST_RECENT:
            del self._recent[next(iter(self._recent))]
        return _arguments(elements, event - int(self._first[index]))

    def read_many(self, events: Int64) -> list[Mapping[str, Any]]:
        """The arguments of many events, for which the file is read once from front to back.

        Raises:
            TraceError: the file is gone or has changed since it was loaded.
        """
        found: list[Mapping[str, Any]] = [{}] * len(events)
        index = np.searchsorted(self._first, events, "right") - 1
        numbers = np.unique(index).tolist()
        texts = self._texts([self.spans[number] for number in numbers])
        for number, text in zip(numbers, texts, strict=True):
            elements = _elements(text)
            for at in np.flatnonzero(index == number).tolist():
                found[at] = _arguments(elements, int(events[at] - self._first[number]))
        return found

    def walk(
        self, events: Int64, needle: bytes
    ) -> Iterator[tuple[float, NDArray[np.intp], list[Mapping[str, Any]]]]:
        """The arguments of many events, stretch by stretch in one pass over the file.

        Args:
            events: int64 (n,).
            needle: lower case; stretches whose text does not hold it in any case are passed.

        Yields:
            The share of the stretches that are done, places among the events, their arguments.

        Raises:
            TraceError: the file is gone or has changed since it was loaded.
        """
        index = np.searchsorted(self._first, events, "right") - 1
        order = np.argsort(index, kind="stable")
        numbers, begins = np.unique(index[order], return_index=True)
        parts = np.split(order, begins[1:])
        texts = self._texts([self.spans[number] for number in numbers.tolist()])
        for done, (number, part, text) in enumerate(zip(numbers, parts, texts, strict=True)):
            found: list[Mapping[str, Any]] = []
            if needle in text.lower():
                elements, first = _elements(text), int(self._first[number])
                found = [_arguments(elements, at - first) for at in events[part].tolist()]
            yield done / len(numbers), part if found else part[:0], found

    def offset_of(self, event: int) -> int:
        """Where the text of an event begins, -1 where the file is gone or has changed.

        Of damaged text, from which events were saved, this is where the one before it ends.
        """
        index = int(np.searchsorted(self._first, event, "right")) - 1
        if not 0 <= index < len(self.spans):
            return -1
        try:
            text = self._text(self.spans[index])
        except TraceError:
            return -1
        at = 0
        for element in _elements(text)[: event - int(self._first[index]) + 1]:
            found = text.find(element, at)
            if found >= 0:
                start, at = found, found + len(element)
            else:
                start = at
        return self.spans[index].offset + (start if at else 0)

    def _text(self, span: Span) -> bytes:
        (text,) = self._texts([span])
        return text

    def _texts(self, spans: Sequence[Span]) -> Iterator[bytes]:
        """The text of stretches of the file, which come in its order."""
        try:
            with TraceSource(self._path, limited=False) as source:
                if source.stamp != self.stamp:
                    raise TraceError(f"{self._path}: it has changed since it was opened")
                place = 0
                for span in spans:
                    if place:
                        _read(source, span.offset - place, keep=False)
                    else:
                        source.skip(span.offset)
                    yield _read(source, span.length)
                    place = span.offset + span.length
        except OSError as error:
            reason = error.strerror or str(error)
            raise TraceError(f"{self._path}: cannot be read again: {reason}") from error


class RowArguments:
    """The arguments of a trace's slices, by row.

    Attributes:
        source: what finds the arguments of an event.
        event: the number of each row's event.
    """

    def __init__(self, source: FullArguments, event: Int64) -> None:
        self.source = source
        self.event = event

    def __call__(self, row: int) -> Mapping[str, Any]:
        """The arguments of one slice; see :meth:`FullArguments.read`."""
        return self.source.read(int(self.event[row]))

    def byte_of(self, row: int) -> int:
        """Where the text of a slice begins; see :meth:`FullArguments.offset_of`."""
        return self.source.offset_of(int(self.event[row]))

    def many(self, rows: Int32) -> list[Mapping[str, Any]]:
        """The arguments of many slices; see :meth:`FullArguments.read_many`."""
        return self.source.read_many(np.asarray(self.event[rows], np.int64))

    def walk(
        self, rows: Int32, needle: bytes
    ) -> Iterator[tuple[float, NDArray[np.intp], list[Mapping[str, Any]]]]:
        """The arguments of many slices in one pass; see :meth:`FullArguments.walk`."""
        return self.source.walk(np.asarray(self.event[rows], np.int64), needle)


def _arguments(elements: Sequence[bytes], place: int) -> Mapping[str, Any]:
    decoded = decode_value(elements[place]) if place < len(elements) else None
    arguments = decoded.get("args") if isinstance(decoded, dict) else None
    return arguments if isinstance(arguments, dict) else {}


def _read(source: TraceSource, length: int, keep: bool = True) -> bytes:
    """The next bytes of a source, as many as there are; none where they are just passed."""
    parts: list[bytes] = []
    while length > 0 and (block := source.read(length if keep else min(length, _PASSED))):
        length -= len(block)
        if keep:
            parts.append(block)
    return b"".join(parts)


def _elements(text: bytes) -> list[bytes]:
    for version in versions(text):
        try:
            return split_elements(b"[%b]" % version.text)
        except DECODE_ERRORS:
            continue
    return []
