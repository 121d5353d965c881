"""A sliding window over the decompressed text of a file."""

from __future__ import annotations

from whichlayer.analysis.reader.source import ByteSource


class Window:
    """The part of the text that is held in memory.

    Attributes:
        data: the bytes held.
        offset: where ``data`` begins in the whole decompressed text.
        ended: nothing follows ``data``.
    """

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self.data = b""
        self.offset = 0
        self.ended = False

    def fill(self, size: int) -> None:
        """Read on until at least ``size`` bytes are held or the text ends."""
        missing = size - len(self.data)
        if missing <= 0 or self.ended:
            return
        blocks = [self.data]
        while missing > 0:
            block = self._source.read(missing)
            if not block:
                self.ended = True
                break
            blocks.append(block)
            missing -= len(block)
        self.data = b"".join(blocks)

    def drop(self, count: int) -> None:
        """Forget the first ``count`` bytes."""
        self.data = self.data[count:]
        self.offset += count
