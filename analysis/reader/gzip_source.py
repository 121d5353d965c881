"""Decompresses gzip, and as much of a damaged file as there is."""

from __future__ import annotations

import zlib
from typing import IO

from isal import isal_zlib
from isal.igzip_lib import IsalError

#: Compressed bytes taken at a time.
_BLOCK = 1 << 16

#: zlib's code for "expect a gzip header and trailer".
_GZIP = 31


class GzipSource:
    """The decompressed bytes of a gzip stream of one or more members.

    Attributes:
        damage: why the data end before their end, or empty.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._member = isal_zlib.decompressobj(wbits=_GZIP)
        self._member_start = 0
        self._member_size = 0
        self._taken = 0
        self._pending = b""
        self._salvaged = b""
        self.damage = ""

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes, empty at the end."""
        while not self.damage:
            if self._member.eof and not self._next_member():
                return b""
            block = self._pending or self._compressed()
            try:
                text: bytes = self._member.decompress(block, size)
            except (IsalError, zlib.error) as error:  # type: ignore[misc]  # its stub is wrong
                self.damage = f"the gzip data are damaged ({str(error).lower()})"
                self._salvaged = self._salvage()
                break
            self._pending = self._member.unconsumed_tail
            self._member_size += len(text)
            if text:
                return text
            if not block and not self._member.eof:
                self.damage = self.damage or "the gzip data end before their end"
        block, self._salvaged = self._salvaged[:size], self._salvaged[size:]
        return block

    def _compressed(self) -> bytes:
        try:
            block = self._stream.read(_BLOCK)
        except (EOFError, zlib.error, ValueError) as error:
            self.damage = f"the archive is damaged ({error})"
            return b""
        except OSError as error:
            self.damage = f"it could not be read on ({error.strerror or error})"
            return b""
        self._taken += len(block)
        return block

    def _next_member(self) -> bool:
        """Begins the next member; False if only padding or nothing follows."""
        rest = (self._member.unused_data or self._pending).lstrip(b"\0")
        while not rest:
            block = self._compressed()
            if not block:
                return False
            rest = block.lstrip(b"\0")
        self._member = isal_zlib.decompressobj(wbits=_GZIP)
        self._member_start = self._taken - len(rest)
        self._member_size = 0
        self._pending = rest
        return True

    def _salvage(self) -> bytes:
        """What the damaged member still holds behind the bytes already given out.

        The fast decompressor gives nothing of a block with a fault; zlib, fed byte by byte,
        gives everything before it.
        """
        parts: list[bytes] = []
        decoder = zlib.decompressobj(_GZIP)
        done = 0
        self._stream.seek(self._member_start)
        while block := self._stream.read(_BLOCK):
            before = decoder.copy()
            try:
                pieces = [decoder.decompress(block)]
            except zlib.error:
                pieces = _byte_by_byte(before, block)
            for piece in pieces:
                parts.append(piece[max(0, self._member_size - done) :])
                done += len(piece)
            if len(pieces) > 1:
                break
        return b"".join(parts)


def _byte_by_byte(decoder: zlib._Decompress, block: bytes) -> list[bytes]:
    pieces: list[bytes] = [b""]
    try:
        pieces.extend(decoder.decompress(block[at : at + 1]) for at in range(len(block)))
    except zlib.error:
        pieces.append(b"")
    return pieces
