"""Decompresses zstd through the package ``zstandard``, which is imported only for such files."""

from __future__ import annotations

import importlib
import re
import zlib
from typing import IO, Any, Final

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.reader.zip_member import archive_errors

#: A frame of data, or one to be skipped, which parallel compressors put first.
_MAGIC: Final = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")

#: A block's greatest size: whatever is damaged, no more than this before it is lost.
_BLOCK: Final = 1 << 17

#: Compressed bytes taken at a time.
_TAKEN: Final = 1 << 16

#: Memory for what a frame may refer back to; what zstd grants unless told otherwise.
_WINDOW: Final = 1 << 27


def is_zstd(head: bytes) -> bool:
    """Whether a file that begins so is compressed with zstd."""
    return _MAGIC.match(head) is not None


class ZstdSource:
    """The decompressed bytes of a zstd stream of one or more frames.

    Attributes:
        damage: why the data end before their end, or empty.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        """Begins to read.

        Raises:
            TraceError: the package that decompresses is not installed.
        """
        try:
            zstandard: Any = importlib.import_module("zstandard")
        except ImportError as error:
            raise TraceError(
                "it is compressed with zstd: install zstandard (pip install zstandard), or "
                "decompress it first"
            ) from error
        self._error: type[Exception] = zstandard.ZstdError
        self._promised = _content_size(zstandard, stream)
        self._given = 0
        self._reader = zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(
            stream, read_size=_TAKEN, read_across_frames=True, closefd=False
        )
        self.damage = ""

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes, empty at the end."""
        if self.damage:
            return b""
        try:
            block: bytes = self._reader.read(min(size, _BLOCK))
        except archive_errors(self._error, zlib.error, EOFError, ValueError) as error:
            reason = str(error).lower()
            self.damage = f"the zstd data are damaged ({reason})"
            if "too much memory" in reason:
                self.damage = f"the zstd data need a window above {_WINDOW >> 20} MiB: unpack them"
            return b""
        except OSError as error:
            self.damage = f"it could not be read on ({error.strerror or error})"
            return b""
        self._given += len(block)
        if not block and self._given < self._promised:
            self.damage = "the zstd data end before their end"
        return block


def _content_size(zstandard: Any, stream: IO[bytes]) -> int:
    """What the first frame says it holds, 0 where it does not."""
    start = stream.tell()
    head = stream.read(_TAKEN)
    stream.seek(start)
    try:
        return max(0, int(zstandard.frame_content_size(head)))
    except zstandard.ZstdError:
        return 0
