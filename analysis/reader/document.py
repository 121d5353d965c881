"""The top level of a trace file: its header keys, and where its events begin."""

from __future__ import annotations

import re
from typing import Any

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.reader.repair import decode_value
from whichlayer.analysis.reader.structure import container_end
from whichlayer.analysis.reader.window import Window

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_WHITE_SPACE = b" \t\r\n"
_STEP = 1 << 16

#: Longest header value that is kept.
_LARGEST_VALUE = 1 << 26

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_PLAIN_VALUE = re.compile(rb"[^,\]}\s]+")
_EVENTS = re.compile(rb'"traceEvents"\s*:\s*\[')


class Document:
    """A file's top level, read on demand.

    Attributes:
        header: the top-level keys read so far, other than the events.
        bare: the file is an array of events without an object around it.
        damaged_at: where the header could not be read, -1 if it could.
        complete: the end of the document was seen.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self._begun = False
        self._found = False
        self.header: dict[str, Any] = {}
        self.bare = False
        self.damaged_at = -1
        self.complete = False

    def find_events(self) -> bool:
        """Moves the window to the first event of the next array of events.

        Returns:
            False where no further one follows; then every header key has been read.

        Raises:
            TraceError: the file does not begin like JSON.
        """
        if not self._begun:
            self._begun = True
            if self._begin():
                self.bare = self._found = True
                return True
        elif self.bare:
            self.complete = True
            return False
        if self._keys() or (not self._found and not self.complete and self._search()):
            self._found = True
            return True
        return False

    def _begin(self) -> bool:
        """Whether the file is a bare array; moves past its opening bracket or brace."""
        window = self._window
        window.fill(_STEP)
        if window.data.startswith(_BYTE_ORDER_MARK):
            window.drop(len(_BYTE_ORDER_MARK))
        first = self._peek()
        if first not in (b"{", b"["):
            raise TraceError("not JSON")
        window.drop(1)
        return first == b"["

    def _peek(self, skip: bytes = _WHITE_SPACE) -> bytes:
        """The next character that is not to be skipped, empty at the end."""
        window = self._window
        while True:
            window.drop(len(window.data) - len(window.data.lstrip(skip)))
            if window.data or window.ended:
                return window.data[:1]
            window.fill(_STEP)

    def _keys(self) -> bool:
        """Reads keys and values up to an array of events; False at the end or at damage."""
        window = self._window
        while True:
            first = self._peek(_WHITE_SPACE + b",")
            if first == b"}":
                self.complete = True
                return False
            key = self._take_value() if first == b'"' else None
            if key is None or self._peek() != b":":
                break
            window.drop(1)
            name = decode_value(key)
            first = self._peek()
            if name == "traceEvents" and first == b"[":
                window.drop(1)
                return True
            value = self._take_value()
            if value is None:
                break
            self.header[str(name)] = decode_value(value)
        self.damaged_at = window.offset
        return False

    def _take_value(self) -> bytes | None:
        """The text of the JSON value here, moved past; None if it has no end."""
        window = self._window
        while True:
            end = _value_end(window.data, window.ended)
            if end >= 0:
                value = window.data[:end]
                window.drop(end)
                return value
            events = _EVENTS.search(window.data)
            if window.ended or len(window.data) > _LARGEST_VALUE:
                return None
            if events and len(window.data) > _LARGEST_VALUE >> 3:
                return None
            window.fill(2 * max(_STEP, len(window.data)))

    def _search(self) -> bool:
        """Looks for the events behind a damaged header."""
        window = self._window
        while True:
            found = _EVENTS.search(window.data)
            if found:
                window.drop(found.end())
                return True
            if window.ended:
                return False
            window.drop(max(0, len(window.data) - _STEP))
            window.fill(2 * _STEP)


def _value_end(text: bytes, ended: bool) -> int:
    """Where the JSON value at the beginning of the text ends, -1 if not in this text."""
    first = text[:1]
    if first == b'"':
        string = _STRING.match(text)
        return string.end() if string else -1
    if first not in (b"{", b"["):
        plain = _PLAIN_VALUE.match(text)
        return plain.end() if plain and (ended or plain.end() < len(text)) else -1
    return container_end(text)
