"""Tells whether a file is still the one that was read."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

#: Bytes that are looked at: at both ends, and in between at places evenly spread.
_END: Final = 1 << 16
_SAMPLE: Final = 1 << 12
_SAMPLES: Final = 16

#: Files beside an SQLite export that say that it was not finished.
_BESIDE: Final = ("-wal", "-journal")


@dataclass(frozen=True, slots=True)
class Identity:
    """What changes when a file does.

    Attributes:
        path: absolute, with links resolved.
        size: bytes.
        changed: times of the last change to the contents and to the file at all, in ns. Who
            rewrites a file can set back the first, and not the second.
        beside: bytes of what a database has beside it.
        digest: of bytes at both ends and in between.
    """

    path: str
    size: int
    changed: tuple[int, int]
    beside: tuple[int, ...]
    digest: str

    @property
    def key(self) -> str:
        """The name of the file's entry: a later state of the file takes the place of this one."""
        return blake2b(os.fsencode(self.path), digest_size=16).hexdigest()


def identify(path: str) -> Identity:
    """The identity of a file as it is now.

    Raises:
        OSError: it cannot be read, or is no ordinary file.
    """
    real = os.path.realpath(path)
    with open(real, "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{path}: not an ordinary file")
        digest = blake2b(digest_size=16)
        for start, length in _samples(status.st_size):
            file.seek(start)
            digest.update(file.read(length))
    return Identity(
        path=real,
        size=status.st_size,
        changed=(status.st_mtime_ns, status.st_ctime_ns),
        beside=tuple(_size(real + ending) for ending in _BESIDE),
        digest=digest.hexdigest(),
    )


def _samples(size: int) -> list[tuple[int, int]]:
    if size <= 2 * _END:
        return [(0, size)]
    step = size // (_SAMPLES + 1)
    inside = [(step * place, _SAMPLE) for place in range(1, _SAMPLES + 1)]
    return [(0, _END), *inside, (size - _END, _END)]


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
