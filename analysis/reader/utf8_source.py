"""Text in UTF-16 or UTF-32, as PowerShell and some editors save it, read as UTF-8."""

from __future__ import annotations

import codecs
import re
from typing import Final, Protocol

#: What marks an encoding, and how many bytes of it are no text. Order matters.
_MARKS: Final = (
    (b"\x00\x00\xfe\xff", "UTF-32-BE"),
    (b"\xff\xfe\x00\x00", "UTF-32-LE"),
    (b"\xff\xfe", "UTF-16-LE"),
    (b"\xfe\xff", "UTF-16-BE"),
)

#: The first character of JSON with none but zero bytes around it.
_UNMARKED: Final = (
    (re.compile(rb"\x00\x00\x00[\[{ \t\r\n]"), "UTF-32-BE"),
    (re.compile(rb"[\[{ \t\r\n]\x00\x00\x00"), "UTF-32-LE"),
    (re.compile(rb"\x00[\[{ \t\r\n]\x00[^\x00]"), "UTF-16-BE"),
    (re.compile(rb"[\[{ \t\r\n]\x00[^\x00]\x00"), "UTF-16-LE"),
)


class _Source(Protocol):
    @property
    def damage(self) -> str: ...

    def read(self, size: int) -> bytes: ...


def tell_encoding(head: bytes) -> str:
    """The encoding of text that begins so, empty where it is UTF-8 or none that is known."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    for pattern, encoding in _UNMARKED:
        if pattern.match(head):
            return encoding
    return ""


class Utf8Source:
    """The text of another source as UTF-8; what is no character is replaced.

    Args:
        source: what is read.
        head: what was read of it already.
        encoding: what it is in.
    """

    def __init__(self, source: _Source, head: bytes, encoding: str) -> None:
        self._source = source
        self._decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
        self._begun = False
        self._ready = self._decoded(head)

    @property
    def damage(self) -> str:
        """Why the data end before their end, or empty."""
        return self._source.damage

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes, empty at the end."""
        while not self._ready:
            block = self._source.read(size)
            self._ready = self._decoded(block)
            if not block:
                break
        block, self._ready = self._ready[:size], self._ready[size:]
        return block

    def _decoded(self, block: bytes) -> bytes:
        text = self._decoder.decode(block, final=not block)
        if text and not self._begun:
            self._begun = True
            text = text.removeprefix("\ufeff")
        # A surrogate alone cannot be written in UTF-8.
        return text.encode(errors="replace")
