"""Whether a file has changed since it was read."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileState:
    """A file at one moment: what differs once it has been written to."""

    inode: tuple[int, int]
    size: int
    changed_ns: int


def file_state(path: str) -> FileState | None:
    """The state of a file now; None where there is none, as while it is being replaced."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return FileState((status.st_dev, status.st_ino), status.st_size, status.st_mtime_ns)
