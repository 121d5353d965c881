"""The bytes of a trace file, decompressed on the way: plain, gzip, zstd or one file in a zip.

What a file is compressed with is read off its first bytes, never off its name. A source
does not fail when the compressed data end early or are damaged: it ends there and
:attr:`ByteSource.damage` says why, so that everything before can still be shown.
"""

from __future__ import annotations

import io
import os
import stat
import zlib
from typing import IO, Protocol, Self

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.reader.gzip_source import GzipSource
from whichlayer.analysis.reader.text_limit import TextLimit
from whichlayer.analysis.reader.utf8_source import Utf8Source, tell_encoding
from whichlayer.analysis.reader.zip_member import archive_errors, zip_member
from whichlayer.analysis.reader.zstd_source import ZstdSource, is_zstd

GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK\x03\x04"

#: First bytes that are kept to tell the format.
_HEAD = 4096

#: Text that is decompressed at a time to be thrown away.
_SKIPPED = 1 << 20

_UNREADABLE = {
    b"\xfd7zXZ\x00": "it is compressed with xz, which is not supported: decompress it first",
    b"BZh": "it is compressed with bzip2, which is not supported: decompress it first",
    b"7z\xbc\xaf": "it is a 7-Zip archive, which is not supported: extract it first",
}


class ByteSource(Protocol):
    """A stream of decompressed bytes."""

    @property
    def damage(self) -> str:
        """Why the data end before their end, or empty."""
        ...

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes, empty at the end."""
        ...


def unreadable(error: OSError) -> str:
    """What to say of a file that the system cannot read on."""
    return f"it could not be read on ({error.strerror or error})"


class PlainSource:
    """The bytes of a stream as they are."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.seekable = isinstance(stream, io.FileIO)
        self.damage = ""

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes, empty at the end."""
        try:
            return self._stream.read(size)
        except archive_errors(zlib.error, EOFError) as error:
            self.damage = f"the zip archive is damaged ({error})"
        except OSError as error:
            self.damage = unreadable(error)
        return b""


class TraceSource:
    """A trace file opened for reading, whatever it is compressed with.

    Args:
        path: the file.
        limited: end where the user's limit, or that of bombs, is reached.

    Attributes:
        path: the file.
        encoding: what its text is in, empty for UTF-8.
        size: bytes on disk.
        stamp: size and time of change, by which a changed file is told.
        head: its first decompressed bytes.
    """

    def __init__(self, path: str, *, limited: bool = True) -> None:
        self.path = path
        self._limit = TextLimit(limited)
        self._stopped = ""
        self._file = io.FileIO(path, opener=_open_without_waiting)
        try:
            status = os.fstat(self._file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise TraceError("not an ordinary file")
            self.size = status.st_size
            self.stamp = (status.st_size, status.st_mtime_ns)
            self._source = _unwrap(self._file)
            head = self._source.read(_HEAD)
            self.encoding = tell_encoding(head)
            if self.encoding:
                self._source = Utf8Source(self._source, head, self.encoding)
                head = self._source.read(_HEAD)
            self.head = head
        except BaseException:
            self._file.close()
            raise
        self._unread = self.head
        self._given = len(self.head)

    @property
    def damage(self) -> str:
        """Why the data end before their end, or empty."""
        return self._stopped or self._source.damage or self._changed()

    @property
    def position(self) -> int:
        """How many bytes of the file on disk have been read."""
        return self._file.tell()

    def read(self, size: int) -> bytes:
        """Up to ``size`` decompressed bytes, empty at the end."""
        if self._unread:
            block, self._unread = self._unread[:size], self._unread[size:]
            return block
        self._stopped = self._stopped or self._limit.reached(self._given, self._file.tell())
        if self._stopped:
            return b""
        block = self._source.read(size)
        self._given += len(block)
        return block

    def skip(self, count: int) -> None:
        """Moves past as many decompressed bytes from the beginning of the text."""
        if isinstance(self._source, PlainSource) and self._source.seekable:
            self._file.seek(count)
            self._unread = b""
            return
        while count > 0 and (block := self.read(min(_SKIPPED, count))):
            count -= len(block)

    def _changed(self) -> str:
        """Whether the file became shorter while it was read."""
        return "the file became shorter while it was read" if self._growth() < 0 else ""

    @property
    def grown(self) -> bool:
        """Whether the file became longer while it was read."""
        return self._growth() > 0

    def _growth(self) -> int:
        return 0 if self._file.closed else os.fstat(self._file.fileno()).st_size - self.size

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _open_without_waiting(path: str, flags: int) -> int:
    """As ``open``, but a pipe that took the file's place does not make it wait for a writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _unwrap(file: io.FileIO) -> ByteSource:
    head = file.read(6) or b""
    file.seek(0)
    for magic, reason in _UNREADABLE.items():
        if head.startswith(magic):
            raise TraceError(reason)
    if head.startswith(ZIP_MAGIC):
        member = zip_member(file)
        inner = member.read(4)
        member.seek(0)
        return _decompressed(member, inner)
    return _decompressed(file, head)


def _decompressed(stream: IO[bytes], head: bytes) -> ByteSource:
    if head.startswith(GZIP_MAGIC):
        return GzipSource(stream)
    return ZstdSource(stream) if is_zstd(head) else PlainSource(stream)
