"""Texts that lie one after another in a file and become objects when someone looks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np

from whichlayer.analysis.trace.columns import Int64, UInt8

_ENCODING = "utf-8"
_KEEP = "surrogatepass"

#: So many texts are decoded together when one of them is wanted; it takes milliseconds.
_FEW = 1 << 16


class StoredBytes(Sequence[bytes]):
    """Pieces of an array of bytes.

    Args:
        data: uint8, all pieces one after another.
        bounds: int64 (n + 1,), where each begins, rising from 0 to the length of ``data``.
    """

    def __init__(self, data: UInt8, bounds: Int64) -> None:
        self._data = data
        self._bounds = bounds

    def __len__(self) -> int:
        return len(self._bounds) - 1

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> list[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | list[bytes]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        return bytes(self._data[int(self._bounds[place]) : int(self._bounds[place + 1])])

    def __iter__(self) -> Iterator[bytes]:
        data = self._data.tobytes()
        begin = 0
        for end in self._bounds[1:].tolist():
            yield data[begin:end]
            begin = end


class StoredTexts(Sequence[str]):
    """Pieces of an array of bytes as text, all of them decoded at once unless they are many."""

    def __init__(self, pieces: StoredBytes) -> None:
        self._pieces = pieces
        self._decoded: list[str] = []

    def __len__(self) -> int:
        return len(self._pieces)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if self._decoded or len(self) <= _FEW or isinstance(index, slice):
            return self._all()[index]
        return _text(self._pieces[index])

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def _all(self) -> list[str]:
        if not self._decoded:
            self._decoded = [_text(piece) for piece in self._pieces]
        return self._decoded


def joined(pieces: Sequence[bytes]) -> tuple[UInt8, Int64]:
    """The arrays that :class:`StoredBytes` takes."""
    bounds = np.zeros(len(pieces) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)), out=bounds[1:])
    return np.frombuffer(b"".join(pieces), np.uint8), bounds


def encoded(texts: Sequence[str]) -> list[bytes]:
    """Texts as bytes; lone surrogates, which no file should hold, included."""
    return [text.encode(_ENCODING, _KEEP) for text in texts]


def _text(piece: bytes) -> str:
    try:
        return piece.decode(_ENCODING, _KEEP)
    except UnicodeDecodeError:
        return piece.decode(_ENCODING, "replace")
