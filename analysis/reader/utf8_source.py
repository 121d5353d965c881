"""Text in UTF-16 or UTF-32, as PowerShell and some editors save it, read as UTF-8."""

from __future__ import annotations

import codecs
import re
from typing import Final, Protocol

#: What marks an encoding, before a character of ASCII: damage may look like a mark. Order matters.
_MARKED: Final = (
    (re.compile(rb"\x00\x00\xfe\xff(?:\x00\x00\x00[\x01-\x7f]|\Z)"), "UTF-32-BE"),
    (re.compile(rb"\xff\xfe\x00\x00(?:[\x01-\x7f]\x00\x00\x00|\Z)"), "UTF-32-LE"),
    (re.compile(rb"\xff\xfe(?:[\x01-\x7f]\x00|\Z)"), "UTF-16-LE"),
    (re.compile(rb"\xfe\xff(?:\x00[\x01-\x7f]|\Z)"), "UTF-16-BE"),
)

#: The first characters of JSON with none but zero bytes around them; a lone one may also stand
#: before a hole.
_UNMARKED: Final = (
    (re.compile(rb"\x00\x00\x00[\[{ \t\r\n](?:\x00\x00\x00[^\x00]|\Z)"), "UTF-32-BE"),
    (re.compile(rb"[\[{ \t\r\n]\x00\x00\x00(?:[^\x00]\x00\x00\x00|\Z)"), "UTF-32-LE"),
    (re.compile(rb"\x00[\[{ \t\r\n]\x00[^\x00](?:\x00[^\x00]|\Z)"), "UTF-16-BE"),
    (re.compile(rb"[\[{ \t\r\n]\x00[^\x00]\x00(?:[^\x00]\x00|\Z)"), "UTF-16-LE"),
)


class _Source(Protocol):
    @property
    def damage(self) -> str: ...

    def read(self, size: int) -> bytes: ...


def tell_encoding(head: bytes) -> str:
    """The encoding of text that begins so, empty where it is UTF-8 or none that is known."""
    for pattern, encoding in (*_MARKED, *_UNMARKED):
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
