"""Whether a trace file is complete, told from its end, whatever is inside."""

from __future__ import annotations

import json
import os
import re
import zlib
from enum import Enum
from typing import Any, Final

from isal import igzip, isal_zlib

_isal_error: Any = isal_zlib.error

_TAIL: Final = 32 * 1024
"""Longer than most events, so that the last one of an open array is seen from its beginning."""

_PIECE: Final = 1 << 20
_GZIP, _ZSTD, _ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"
_ZIP_END: Final = b"PK\x05\x06"
_ZIP_END_BYTES: Final = 22
_SQLITE: Final = b"SQLite format 3\x00"
_BRACKETS = re.compile(rb'["{}\[\]]')


class Completeness(Enum):
    """What the end of a file says."""

    WHOLE = "whole"
    OPEN = "open"
    """It ends in the middle: more is to come, or its writer is gone."""
    EMPTY = "empty"


def completeness(path: str) -> Completeness:
    """Whether a file has an end.

    Plain text ends on a closing bracket; compressed files are decompressed to their end, in
    constant memory, and what they hold has to end so as well.

    Raises:
        OSError: it cannot be read.
    """
    with open(path, "rb") as file:
        head = file.read(16)
        if not head:
            return Completeness.EMPTY
        if head.startswith(_GZIP):
            return _of_text(_tail_of_gzip(path))
        if head.startswith(_ZSTD):
            return _of_text(_tail_of_zstd(path))
        if head.startswith(_ZIP):
            tail = _tail(path, 1 << 17)
            end = tail.rfind(_ZIP_END)
            return _ended(0 <= end <= len(tail) - _ZIP_END_BYTES)
        if head.startswith(_SQLITE):
            return _ended(not os.path.exists(f"{path}-journal"))
        return _of_text(_tail(path, _TAIL))


def _ended(is_whole: bool) -> Completeness:
    return Completeness.WHOLE if is_whole else Completeness.OPEN


def _of_text(tail: bytes | None) -> Completeness:
    r"""Whether text ends where its first bracket is closed, as far as the end of it can tell.

    A file that ends behind an event of an array that is still open, ``[…},\n{…}``, has a last
    bracket that closes what was opened shortly before it, and not at the beginning.
    """
    text = b"" if tail is None else tail.rstrip(b" \t\r\n\x00")
    if not text.endswith((b"}", b"]")):
        return Completeness.OPEN
    if tail is not None and len(tail) < _TAIL:  # that is all of it
        return _ended(_is_json(text))
    depth, in_text = 0, False
    for found in reversed(list(_BRACKETS.finditer(text))):
        char, at = found.group(), found.start()
        if char == b'"':
            behind = len(text[:at]) - len(text[:at].rstrip(b"\\")) if at else 0
            in_text = in_text if behind % 2 else not in_text
        elif not in_text:
            depth += 1 if char in b"}]" else -1
            if depth == 0:
                return _ended(at == 0 or not text[:at].strip(b" \t\r\n\xef\xbb\xbf"))
    return Completeness.WHOLE


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return False
    return True


def _tail(path: str, size: int) -> bytes:
    with open(path, "rb") as file:
        length = os.fstat(file.fileno()).st_size
        file.seek(max(length - size, 0))
        return file.read(size)


def _tail_of_gzip(path: str) -> bytes | None:
    opener: Any = igzip.open
    try:
        with opener(path, "rb") as file:
            return _last_of(file)
    except (EOFError, zlib.error, _isal_error, OSError):
        return None


def _tail_of_zstd(path: str) -> bytes | None:
    import zstandard

    tail = b""
    with open(path, "rb") as file:
        decompressor = zstandard.ZstdDecompressor().decompressobj()
        try:
            while piece := file.read(_PIECE):
                tail = (tail + decompressor.decompress(piece))[-_TAIL:]
        except zstandard.ZstdError:
            return None
    return tail if decompressor.eof else None


def _last_of(file: Any) -> bytes:
    tail = b""
    while piece := file.read(_PIECE):
        tail = (tail + piece)[-_TAIL:]
    return tail
