"""Arrays and a header in one file, with checksums, as it lies on the disk.

| bytes | what |
|---|---|
| 16 | ``whichlayer cache`` |
| 4 | version of this layout |
| 4, 4 | CRC-32 of the header, CRC-32 of everything behind it |
| 8, 8 | length of the header, length of the file |
| 4 | CRC-32 of all of the above |
| … | the header: JSON, an object; ``arrays`` lists name, type, offset and length of each array |
| … | the arrays, each at a multiple of 64 bytes, zeros between them |

Numbers are little-endian. No byte is without a checksum, and nothing in here is executed.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any, Final, NamedTuple

import msgspec
import numpy as np
from isal.isal_zlib import crc32
from numpy.typing import NDArray

Array = NDArray[Any]

_VERSION: Final = 1
_MAGIC: Final = b"whichlayer cache"
_PREAMBLE: Final = struct.Struct("<16sIIIQQ")
_CHECKSUM: Final = struct.Struct("<I")
_HEADER_AT: Final = _PREAMBLE.size + _CHECKSUM.size
_ALIGNED: Final = 64

#: Types of arrays that are stored.
_TYPES: Final = frozenset({"<i8", "<i4", "<u4", "|u1", "<f8"})

#: Longest header that is written or read.
LARGEST_HEADER: Final = 1 << 25

_BLOCK: Final = 1 << 20

#: So much is compared at a time: between two blocks another thread may have to give way first.
_COMPARED: Final = 1 << 22


class Damaged(Exception):
    """A file is not what it should be."""


class _Place(NamedTuple):
    name: str
    type: str
    offset: int
    length: int


class _Arrays(msgspec.Struct):
    arrays: list[_Place]


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file whose header has been read.

    Attributes:
        header: all of it but the list of arrays.
        places: where the arrays are.
        body_at: where the header ends.
        size: of the file.
        checksum: of what comes behind the header.
    """

    header: dict[str, Any]
    places: list[_Place]
    body_at: int
    size: int
    checksum: int


def write_file(file: IO[bytes], header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write a file; it is not valid before the last byte is written.

    Args:
        file: empty, open for writing.
        header: what JSON can hold.
        arrays: of the types that are stored, in one dimension.

    Raises:
        ValueError: the header is too long, or holds what JSON cannot hold.
        OSError: it cannot be written.
    """
    places, text, size = _laid_out(header, arrays)
    body_at = _HEADER_AT + len(text)
    file.write(bytes(_HEADER_AT) + text)
    at, checksum = body_at, 0
    for place, array in zip(places, arrays.values(), strict=True):
        for block in (bytes(place.offset - at), np.ascontiguousarray(array).view(np.uint8).data):
            for start in range(0, len(block), _BLOCK):
                part = block[start : start + _BLOCK]
                checksum = crc32(part, checksum)
                file.write(part)
        at = place.offset + array.nbytes
    preamble = _PREAMBLE.pack(_MAGIC, _VERSION, crc32(text), checksum, len(text), size)
    file.seek(0)
    file.write(preamble + _CHECKSUM.pack(crc32(preamble)))


def stored_size(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> int:
    """Bytes that :func:`write_file` would write.

    Raises:
        ValueError: the header is too long, or holds what JSON cannot hold.
    """
    return _laid_out(header, arrays)[2]


def _laid_out(
    header: Mapping[str, Any], arrays: Mapping[str, Array]
) -> tuple[list[_Place], bytes, int]:
    """Where everything goes: offsets stand in the header, whose length they depend on."""
    body_at, text = 0, b""
    while True:
        places, at = [], body_at
        for name, array in arrays.items():
            at += -at % _ALIGNED
            places.append(_Place(name, array.dtype.str, at, len(array)))
            at += array.nbytes
        text = json.dumps({**header, "arrays": places}).encode()
        if len(text) > LARGEST_HEADER:
            raise ValueError("the header is too long")
        if _HEADER_AT + len(text) <= body_at:
            # Blanks behind JSON say nothing: the guess was long enough.
            return places, text.ljust(body_at - _HEADER_AT), at
        body_at = _HEADER_AT + len(text) + _ALIGNED


def read_header(file: int) -> StoredFile:
    """Read the header of an open file.

    Raises:
        Damaged: it is no such file, of another version, cut short, lengthened or changed.
        OSError: it cannot be read.
    """
    size = os.fstat(file).st_size
    begin = os.pread(file, _HEADER_AT, 0)
    preamble, own = begin[: _PREAMBLE.size], begin[_PREAMBLE.size :]
    if len(begin) < _HEADER_AT or _CHECKSUM.unpack(own)[0] != crc32(preamble):
        raise Damaged("the preamble is damaged")
    magic, version, header_sum, checksum, length, told_size = _PREAMBLE.unpack(preamble)
    if magic != _MAGIC or version != _VERSION:
        raise Damaged("of another layout")
    if told_size != size or length > min(LARGEST_HEADER, size - _HEADER_AT):
        raise Damaged("of another length")
    text = os.pread(file, length, _HEADER_AT)
    if len(text) != length or crc32(text) != header_sum:
        raise Damaged("the header is damaged")
    try:
        header = json.loads(text)
        places = msgspec.convert(header, _Arrays).arrays
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise Damaged("the header is not understood") from error
    header.pop("arrays")
    return StoredFile(header, places, _HEADER_AT + length, size, checksum)


def read_arrays(file: int, stored: StoredFile, mapped: bool) -> dict[str, Array]:
    """The arrays of a file, read-only.

    Args:
        file: the open file; it can be closed and deleted afterwards.
        stored: its header.
        mapped: leave them in the file, of which the system keeps in memory what is used.

    Raises:
        Damaged: the file has changed, or its arrays lie outside of it.
        OSError: it cannot be read.
    """
    if mapped:
        _check_body(file, stored)
        data: bytes | mmap.mmap = mmap.mmap(file, stored.size, prot=mmap.PROT_READ)
    else:
        data = _read_all(file, stored.size)
        if crc32(memoryview(data)[stored.body_at :]) != stored.checksum:
            raise Damaged("the arrays are damaged")
    return {place.name: _array(data, place, stored) for place in stored.places}


def _array(data: bytes | mmap.mmap, place: _Place, stored: StoredFile) -> Array:
    if place.type not in _TYPES:
        raise Damaged(f"{place.name} is of an unknown type")
    kind = np.dtype(place.type)
    if place.offset % _ALIGNED or place.length < 0:
        raise Damaged(f"{place.name} has no place")
    if not stored.body_at <= place.offset <= stored.size - place.length * kind.itemsize:
        raise Damaged(f"{place.name} lies outside")
    if not place.length:
        return np.zeros(0, kind)
    return np.frombuffer(data, kind, place.length, place.offset)


def _check_body(file: int, stored: StoredFile) -> None:
    """Compare the checksum, through a small buffer: mapped memory would all count as ours.

    A disk that cannot be read is found out here, where that is an error and not a signal.
    """
    buffer = bytearray(min(_COMPARED, max(stored.size - stored.body_at, 1)))
    view = memoryview(buffer)
    checksum, at = 0, stored.body_at
    while at < stored.size:
        count = os.preadv(file, [view[: stored.size - at]], at)
        if not count:
            break
        checksum = crc32(view[:count], checksum)
        at += count
    if checksum != stored.checksum or at != stored.size:
        raise Damaged("the arrays are damaged")


def _read_all(file: int, size: int) -> bytes:
    parts: list[bytes] = []
    at = 0
    while at < size and (part := os.pread(file, size - at, at)):
        parts.append(part)
        at += len(part)
    return b"".join(parts)
