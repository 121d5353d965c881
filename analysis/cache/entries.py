"""The files in the cache folder: which there are, how they are bounded, how they are cleared.

Files that are not named as ours are left alone. Several programs may do all of this at once:
a file that is gone when its turn comes was removed by another.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

_ENTRY: Final = re.compile(r"[0-9a-f]{32}\.columns")
_PART: Final = re.compile(r"[0-9a-f]{32}\.([0-9a-f]{8})-([0-9]{1,10})-[0-9a-f]{8}\.part")

#: A file takes seconds to be written; one so old was left behind, whoever wrote it.
_ABANDONED_S: Final = 3600.0

#: Room that is left on the disk for everybody else.
_RESERVE: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the cache.

    Attributes:
        path: where it is.
        size: bytes.
        used_s: when it was last written or read, in seconds since 1970.
    """

    path: Path
    size: int
    used_s: float


def entry_path(folder: Path, key: str) -> Path:
    """The file of an entry."""
    return folder / f"{key}.columns"


def part_path(folder: Path, key: str) -> Path:
    """A new name for an entry that is being written."""
    return folder / f"{key}.{_host()}-{os.getpid()}-{os.urandom(4).hex()}.part"


def entries(folder: Path) -> list[Entry]:
    """Every entry, the one that was not used for longest first."""
    return sorted(_files(folder, _ENTRY), key=lambda entry: (entry.used_s, entry.path))


def make_room(folder: Path, size: int, limit: int, replaced: Path) -> bool:
    """Remove what was not used for longest until another entry fits, or all fit without it.

    Args:
        folder: the cache.
        size: of the new entry.
        limit: of all entries together.
        replaced: the entry whose place it takes.

    Returns:
        Whether it fits.
    """
    fits = size <= limit
    others = [entry for entry in entries(folder) if not fits or entry.path != replaced]
    taken = sum(entry.size for entry in others) + (size if fits else 0)
    for entry in others:
        if taken <= limit:
            break
        _remove(entry.path)
        taken -= entry.size
    return fits


def obstacle(folder: Path, size: int = 0) -> str:
    """Why a file cannot be written into a folder that is there, or empty."""
    try:
        if not os.access(folder, os.W_OK | os.X_OK):
            return "the folder is read-only"
        if shutil.disk_usage(folder).free < size + _RESERVE:
            return "the disk is almost full"
    except OSError as error:
        return error.strerror or str(error)
    return ""


def remove_abandoned(folder: Path) -> None:
    """Remove what was being written when a program ended."""
    for part in _files(folder, _PART):
        found = _PART.fullmatch(part.path.name)
        ended = found is not None and found[1] == _host() and not _runs(int(found[2]))
        if ended or time.time() - part.used_s > _ABANDONED_S:
            _remove(part.path)


def clear(folder: Path) -> tuple[int, int]:
    """Remove every entry.

    Returns:
        How many are gone, and how many bytes they took.
    """
    gone = [entry for entry in entries(folder) if _remove(entry.path)]
    freed = sum(entry.size for entry in gone)
    freed += sum(part.size for part in list(_files(folder, _PART)) if _remove(part.path))
    return len(gone), freed


def _files(folder: Path, names: re.Pattern[str]) -> Iterator[Entry]:
    try:
        with os.scandir(folder) as found:
            for file in found:
                if not names.fullmatch(file.name):
                    continue
                try:
                    status = file.stat(follow_symlinks=False)
                except OSError:
                    continue
                if not stat.S_ISDIR(status.st_mode):
                    yield Entry(Path(file.path), status.st_size, status.st_mtime)
    except OSError:
        return


def _remove(path: Path) -> bool:
    try:
        path.unlink()
    except OSError:
        return False
    return True


def _host() -> str:
    name = os.uname().nodename if hasattr(os, "uname") else ""
    return blake2b(name.encode(errors="replace"), digest_size=4).hexdigest()


def _runs(process: int) -> bool:
    """Whether a process of this machine is running, as far as one can see."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
