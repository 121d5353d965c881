"""The top level of a trace file: its header keys, and where its events begin."""

from __future__ import annotations

import re
from typing import Any, Final

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.reader.header import Header
from whichlayer.analysis.reader.leading import LOOKED_AT, begins_usually, find_recording
from whichlayer.analysis.reader.one_event import find_first_event
from whichlayer.analysis.reader.patterns import STRING, WORD, container
from whichlayer.analysis.reader.repair import decode_repaired
from whichlayer.analysis.reader.structure import SEPARATORS, ValueScan
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
_PLAIN_KEY = re.compile(rb'"[ -!#-\[\]-~]*+"\Z')
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
        window: over the text.
        keys: the top-level keys read so far, other than the events.
        bare: the file is an array of events without an object around it.
        arrays: how many arrays of events were found.
        second: where the second of them begins, -1 if there is none.
        damaged_at: where the header could not be read, -1 if it could.
        astray: the events are looked for wherever they stand.
        astray_at: where the first of them was found so, -1 if they were not looked for.
        complete: the end of the document was seen.
        trailing_at: where other text than white space begins behind that end, -1 without any.
        another_at: where another recording begins in that text, -1 without one.
        head_at: where the recording was found behind other text, -1 if it begins the file.
    """

    def __init__(self, window: Window, *, astray: bool = False) -> None:
        self.window = window
        self._members = False  # some stand before the present place
        self.astray = astray
        self._begun = False
        self._at = 0
        self.keys = Header()
        self.bare = False
        self.arrays = 0
        self.second = -1
        self.damaged_at = -1
        self.astray_at = -1
        self.complete = False
        self.trailing_at = -1
        self.another_at = -1
        self.head_at = -1

    @property
    def header(self) -> dict[str, Any]:
        """The keys read so far with their values."""
        return self.keys.values

    def find_events(self) -> bool:
        """Moves the window to the first event of the next array of events.

        Returns:
            False where no further one follows; then every header key has been read.

        Raises:
            TraceError: there is nothing in the file.
        """
        if not self._begun and self.astray:
            self._begun = True
            return self._find_astray()
        if not self._begun:
            self._begun = True
            self.bare = found = self._begin()
            if self.damaged_at >= 0:
                return False
        elif self.bare:
            self._complete()
            return False
        else:
            found = False
        found = found or self._keys() or (not self.arrays and not self.complete and self._search())
        self._release()
        return found

    def _find_astray(self) -> bool:
        """Moves to the first event, wherever it stands, or by the keys before it."""
        self.window.fill(_LARGEST_VALUE)
        if self._behind_text() and self._keys():
            self._release()
            return True
        found = find_first_event(self.window)
        if found:
            self.arrays = 1
            self.astray_at = self.window.offset
        return found

    def _begin(self) -> bool:
        """Whether the file is a bare array; moves past its opening bracket or brace, if any."""
        window = self.window
        window.fill(_STEP)
        if window.data.startswith(_BYTE_ORDER_MARK):
            window.drop(len(_BYTE_ORDER_MARK))
        first = self._peek()
        if not first:
            raise TraceError("there is only white space in it")
        if not begins_usually(window.data[self._at : self._at + _STEP]):
            self._fill(LOOKED_AT)
            if self._behind_text():
                return False
        if first not in (b"{", b"["):
            self.damaged_at = self.window.offset + self._at
            return False
        self._at += 1
        return first == b"["

    def _behind_text(self) -> bool:
        """Whether a recording begins in the text held; moves past its opening brace."""
        found = find_recording(self.window.data, self._at)
        if found >= 0:
            self.head_at = self.window.offset + found
            self._at = found + 1
        return found >= 0

    def _peek(self) -> bytes:
        """The next character that is no white space, empty at the end."""
        while True:
            data = self.window.data
            skipped = _WHITE_SPACE.match(data, self._at)
            self._at = skipped.end() if skipped else self._at
            if self._at < len(data) or self.window.ended:
                return data[self._at : self._at + 1]
            self._fill(_STEP)

    def _pass_separators(self) -> tuple[int, int]:
        """Moves past what stands between two keys: how many commas, and what is no white space."""
        commas = strange = 0
        while True:
            found = _SEPARATORS.match(self.window.data, self._at)
            if found:
                commas += found[0].count(b",")
                strange += len(found[0].translate(None, SEPARATORS))
                self._at = found.end()
            if self._at < len(self.window.data) or self.window.ended:
                return commas, strange
            self._fill(_STEP)

    def _fill(self, size: int) -> None:
        """Holds more text from the present place on."""
        self._release()
        self.window.fill(size)

    def _release(self) -> None:
        self.window.drop(self._at)
        self._at = 0

    def _keys(self) -> bool:
        """Reads keys and values up to an array of events; False at the end or at damage."""
        while True:
            if len(self.window.data) - self._at < _STEP:
                self._fill(2 * _STEP)
            if self.keys.full and self._pass_members():
                continue
            offset = self.window.offset + self._at
            commas, strange = self._pass_separators()
            ahead = self._peek()
            ends = ahead == b"}"
            spots = abs(commas - (self._members and not ends)) + strange
            name = None if ends else self._take_key()
            if spots and (ends or name is not None):
                self.keys.repaired.add(offset, name or "", spots)
            if ends or (self.astray and not ahead):
                self._at += ends
                self._complete()
                return False
            self._members = True
            if name is None:
                break
            if self._peek() == b"[" and name == "traceEvents" and self._is_new_array():
                self._at += 1
                return True
            if not self._take_value(name):
                break
        self.damaged_at = self.window.offset + self._at
        return False

    def _complete(self) -> None:
        """Notes the end of the document here, and what stands behind it."""
        if not self.complete and self._peek():
            self.trailing_at = self.window.offset + self._at
            self._fill(LOOKED_AT)
            found = find_recording(self.window.data)
            self.another_at = self.window.offset + found if found >= 0 else -1
        self.complete = True

    def _pass_members(self) -> bool:
        """Moves past keys that are too many to be kept; whether there were any."""
        found = _MEMBERS.match(self.window.data, self._at)
        if found is None:
            return False
        count = len(_ONE_MEMBER.findall(found[0] + b","))
        self.keys.left_out.add(self.window.offset + self._at, "", count)
        self._at = found.end()
        return True

    def _take_key(self) -> str | None:
        """The key here, moved past with its colon; None if there is none."""
        data = self.window.data
        found = _KEY.match(data, self._at)
        if found is None and not self.window.ended and data[self._at : self._at + 1] == b'"':
            self._fill(_LARGEST_VALUE)  # only a key of enormous length needs as much
            found = _KEY.match(self.window.data)
        if found is None:
            return None
        offset = self.window.offset + self._at
        self._at = found.end()
        text = found[1]
        if _PLAIN_KEY.match(text):
            return text[1:-1].decode()
        decoded = decode_repaired(text)
        name = str(decoded.value) if decoded else text.decode(errors="replace")
        if decoded is None or decoded.spots:
            self.keys.repaired.add(offset, name, decoded.spots if decoded else 1)
        return name

    def _is_new_array(self) -> bool:
        """Counts the array of events here; false where nothing is to be read of it."""
        if self.arrays and _EMPTY.match(self.window.data, self._at):
            return False
        self.arrays += 1
        if self.arrays == 2:
            self.second = self.window.offset + self._at
        return self.arrays <= _MOST_ARRAYS

    def _take_value(self, name: str) -> bool:
        """Reads the value here and moves past it; False if it has no end."""
        found = _SMALL_VALUE.match(self.window.data, self._at)
        offset = self.window.offset + self._at
        if found:
            self._at = found.end()
            self._keep(name, found[0], _SMALL_DEPTH, offset)
            return True
        return self._pass_value(name, offset)

    def _pass_value(self, name: str, offset: int) -> bool:
        """As :func:`_take_value`, for a value that may be of any size."""
        self._release()
        window, scan, seen = self.window, ValueScan(), 0
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
        window = self.window
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
