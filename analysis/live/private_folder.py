"""Temporary folders that do not outlive their process for long, even if that is killed.

Each holds a locked file: as long as the process lives nobody else gets the lock. Whoever comes later
removes the folders whose lock is free.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from whichlayer.analysis.live.own_descriptor import Identity, close_if_same, identity

_PREFIX: Final = "whichlayer-live-"
_LOCK: Final = "in-use"


class PrivateFolder:
    """A folder in the temporary folder that only this user can read."""

    def __init__(self) -> None:
        """Make it.

        Raises:
            OSError: there is no temporary folder that takes it.
        """
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = -1
        self._noted: Identity | None = None
        made = self.path / f".{_LOCK}"
        try:
            self._lock = os.open(made, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
            self._noted = identity(self._lock)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            made.rename(self.path / _LOCK)  # never seen without being locked
        except OSError:
            self.remove()
            raise

    def remove(self) -> None:
        """Remove it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        lock, self._lock = self._lock, -1
        close_if_same(lock, self._noted)


def remove_abandoned() -> None:
    """Remove the folders of processes that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:
            continue  # somebody is just making it, or it is none of ours
        try:
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)
