"""The top level of a trace file: its header keys, and where its events begin."""

from __future__ import annotations

import re
from typing import Any, Final

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.reader.header import Header
from whichlayer.analysis.reader.patterns import STRING, WORD, container
from whichlayer.analysis.reader.repair import decode_value
from whichlayer.analysis.reader.structure import ValueScan
from whichlayer.analysis.reader.window import Window

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_STEP: Final = 1 << 16

#: Nesting of values whose end is found at once.
_SMALL_DEPTH: Final = 3

#: Text that is held to find the end of a value; a longer one is passed over unseen.
_LARGEST_VALUE: Final = 1 << 23

#: Text that is held back when a value is passed over: its end may be the beginning of the
#: events' key.
_OVERLAP: Final = 1 << 8

#: Arrays of events that are read; to begin with one may cost some milliseconds.
_MOST_ARRAYS: Final = 100

_OPENING: Final = (b'"', b"{", b"[")
_WHITE_SPACE = re.compile(rb"\s*+")
_SEPARATORS = re.compile(rb"[\s,]*+")
_KEY = re.compile(rb"(" + STRING + rb")\s*+:\s*+", re.DOTALL)
_SMALL_VALUE = re.compile(
    rb"(?:" + STRING + rb"|" + container(_SMALL_DEPTH) + rb"|" + WORD + rb")(?=[,}\]\s])", re.DOTALL
)
_EMPTY = re.compile(rb"\[\s*+\]")
_EVENTS = re.compile(rb'"traceEvents"\s*:?\s*\[')

#: Keys that need no closer look, any number of them.
_MEMBER = rb'[\s,]*+(?!"traceEvents")"[^"\\]*+"\s*+:\s*+' + _SMALL_VALUE.pattern
_ONE_MEMBER, _MEMBERS = (
    re.compile(source, re.DOTALL) for source in (_MEMBER, rb"(?:" + _MEMBER + rb")++")
)


class Document:
    """A file's top level, read on demand.

    More arrays of events than any honest file has are left out, as keys are.

    Attributes:
        keys: the top-level keys read so far, other than the events.
        bare: the file is an array of events without an object around it.
        arrays: how many arrays of events were found.
        second: where the second of them begins, -1 if there is none.
        damaged_at: where the header could not be read, -1 if it could.
        complete: the end of the document was seen.
        trailing_at: where other text than white space begins behind that end, -1 without any.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self._begun = False
        self._at = 0
        self.keys = Header()
        self.bare = False
        self.arrays = 0
        self.second = -1
        self.damaged_at = -1
        self.complete = False
        self.trailing_at = -1

    @property
    def header(self) -> dict[str, Any]:
        """The keys read so far with their values."""
        return self.keys.values

    def find_events(self) -> bool:
        """Moves the window to the first event of the next array of events.

        Returns:
            False where no further one follows; then every header key has been read.

        Raises:
            TraceError: the file does not begin like JSON.
        """
        if not self._begun:
            self._begun = True
            self.bare = self._begin()
            found = self.bare
        elif self.bare:
            self._complete()
            return False
        else:
            found = False
        found = found or self._keys() or (not self.arrays and not self.complete and self._search())
        self._release()
        return found

    def _begin(self) -> bool:
        """Whether the file is a bare array; moves past its opening bracket or brace."""
        window = self._window
        window.fill(_STEP)
        if window.data.startswith(_BYTE_ORDER_MARK):
            window.drop(len(_BYTE_ORDER_MARK))
        first = self._peek()
        if first not in (b"{", b"["):
            raise TraceError("not JSON" if first else "there is only white space in it")
        self._at += 1
        return first == b"["

    def _peek(self, skip: re.Pattern[bytes] = _WHITE_SPACE) -> bytes:
        """The next character that is not to be skipped, empty at the end."""
        while True:
            data = self._window.data
            skipped = skip.match(data, self._at)
            self._at = skipped.end() if skipped else self._at
            if self._at < len(data) or self._window.ended:
                return data[self._at : self._at + 1]
            self._fill(_STEP)

    def _fill(self, size: int) -> None:
        """Holds more text from the present place on."""
        self._release()
        self._window.fill(size)

    def _release(self) -> None:
        self._window.drop(self._at)
        self._at = 0

    def _keys(self) -> bool:
        """Reads keys and values up to an array of events; False at the end or at damage."""
        while True:
            if len(self._window.data) - self._at < _STEP:
                self._fill(2 * _STEP)
            if self.keys.full and self._pass_members():
                continue
            if self._peek(_SEPARATORS) == b"}":
                self._at += 1
                self._complete()
                return False
            name = self._take_key()
            if name is None:
                break
            if self._peek() == b"[" and name == "traceEvents" and self._is_new_array():
                self._at += 1
                return True
            if not self._take_value(name):
                break
        self.damaged_at = self._window.offset + self._at
        return False

    def _complete(self) -> None:
        """Notes the end of the document here, and what stands behind it."""
        if not self.complete and self._peek():
            self.trailing_at = self._window.offset + self._at
        self.complete = True

    def _pass_members(self) -> bool:
        """Moves past keys that are too many to be kept; whether there were any."""
        found = _MEMBERS.match(self._window.data, self._at)
        if found is None:
            return False
        count = len(_ONE_MEMBER.findall(found[0] + b","))
        self.keys.left_out.add(self._window.offset + self._at, "", count)
        self._at = found.end()
        return True

    def _take_key(self) -> str | None:
        """The key here, moved past with its colon; None if there is none."""
        data = self._window.data
        found = _KEY.match(data, self._at)
        if found is None and not self._window.ended and data[self._at : self._at + 1] == b'"':
            self._fill(_LARGEST_VALUE)  # only a key of enormous length needs as much
            found = _KEY.match(self._window.data)
        if found is None:
            return None
        self._at = found.end()
        text = found[1]
        return (
            str(decode_value(text)) if b"\\" in text or not text.isascii() else text[1:-1].decode()
        )

    def _is_new_array(self) -> bool:
        """Counts the array of events here; false where nothing is to be read of it."""
        if self.arrays and _EMPTY.match(self._window.data, self._at):
            return False
        self.arrays += 1
        if self.arrays == 2:
            self.second = self._window.offset + self._at
        return self.arrays <= _MOST_ARRAYS

    def _take_value(self, name: str) -> bool:
        """Reads the value here and moves past it; False if it has no end."""
        found = _SMALL_VALUE.match(self._window.data, self._at)
        offset = self._window.offset + self._at
        if found:
            self._at = found.end()
            self._keep(name, found[0], _SMALL_DEPTH, offset)
            return True
        return self._pass_value(name, offset)

    def _pass_value(self, name: str, offset: int) -> bool:
        """As :func:`_take_value`, for a value that may be of any size."""
        self._release()
        window, scan, seen = self._window, ValueScan(), 0
        while True:
            end = scan.feed(window.data[seen:])
            if end < 0 and window.ended and window.data and not window.data.startswith(_OPENING):
                end = len(window.data) - seen
            if end >= 0:
                break
            seen = len(window.data)
            if seen >= _LARGEST_VALUE:
                if _EVENTS.search(window.data):
                    return False
                window.drop(seen - _OVERLAP)
                seen = _OVERLAP
            if window.ended:
                return False
            window.fill(max(_STEP, 2 * len(window.data)))
        self._at = seen + end
        if window.offset == offset:
            self._keep(name, window.data[: self._at], scan.depth, offset)
        else:
            self.keys.left_out.add(offset, name)
        return True

    def _keep(self, name: str, text: bytes, depth: int, offset: int) -> None:
        if name != "traceEvents" or not text.startswith(b"["):
            self.keys.add(name, text, depth, offset)
        elif not _EMPTY.match(text):
            self.keys.left_out.add(offset, name)

    def _search(self) -> bool:
        """Looks for the events behind a damaged header."""
        self._release()
        window = self._window
        while True:
            found = _EVENTS.search(window.data)
            if found:
                window.drop(found.end())
                self.arrays += 1
                return True
            if window.ended:
                return False
            window.drop(max(0, len(window.data) - _OVERLAP))
            window.fill(len(window.data) + _STEP)
