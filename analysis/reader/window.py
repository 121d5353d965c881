"""A sliding window over the decompressed text of a file."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from whichlayer.analysis.reader.source import ByteSource


@dataclass(frozen=True, slots=True)
class _Kept:
    """Text that was let go by but is kept, and what the window was when it began with that.

    Attributes:
        held: how many bytes were held.
        ended: nothing followed those.
    """

    offset: int
    text: bytes
    held: int
    ended: bool

    @property
    def end(self) -> int:
        return self.offset + len(self.text)


class Window:
    """The part of the text that is held in memory.

    Attributes:
        data: the bytes held.
        offset: where ``data`` begins in the whole decompressed text.
        ended: nothing follows ``data``.
    """

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._ahead: deque[bytes] = deque()
        self._keeping = False
        self._kept: deque[_Kept] = deque()
        self.data = b""
        self.offset = 0
        self.ended = False

    @property
    def end(self) -> int:
        """How much of the whole text has been read."""
        return self.offset + len(self.data) + sum(map(len, self._ahead))

    def fill(self, size: int) -> None:
        """Read on until at least ``size`` bytes are held or the text ends."""
        missing = size - len(self.data)
        if missing <= 0 or self.ended:
            return
        blocks = [self.data]
        while missing > 0:
            block = self._read(missing)
            if not block:
                self.ended = True
                break
            blocks.append(block)
            missing -= len(block)
        self.data = b"".join(blocks)

    def drop(self, count: int) -> None:
        """Forget the first ``count`` bytes."""
        if self._keeping:
            self.take(count)
            return
        self.data = self.data[count:]
        self.offset += count

    def take(self, count: int) -> bytes:
        """The first ``count`` bytes, which are forgotten here."""
        text = self.data[:count]
        if self._keeping and text:
            self._kept.append(_Kept(self.offset, text, len(self.data), self.ended))
        self.data = self.data[count:]
        self.offset += count
        return text

    def keep(self) -> None:
        """From here on, keep what is dropped, until it is let go."""
        self._keeping = True

    def let_go(self, end: int | None = None) -> None:
        """Forget what was kept before an offset; without one all of it, and keep no more."""
        if end is None:
            self._keeping = False
            self._kept.clear()
            return
        while self._kept and self._kept[0].end <= end:
            self._kept.popleft()

    def rewind(self, offset: int) -> None:
        """Go back to where something was taken that is still kept, and keep no more.

        As much is held as was then: where text is cut follows from how much of it is held.
        """
        while self._kept[0].offset < offset:
            self._kept.popleft()
        then = self._kept[0]
        pieces = [one.text for one in self._kept]
        self._ahead = deque([*filter(None, (*pieces, self.data)), *self._ahead])
        self.data, self.offset, self.ended = b"", offset, False
        self.fill(then.held)
        self.ended = then.ended
        self.let_go()

    def _read(self, size: int) -> bytes:
        if not self._ahead:
            return self._source.read(size)
        piece = self._ahead.popleft()
        if len(piece) > size:
            self._ahead.appendleft(piece[size:])
        return piece[:size]
