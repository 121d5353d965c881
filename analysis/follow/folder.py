"""A folder that traces are dropped into: what is there, what is still written, what has gone.

Folders are listed again and again, with ``os.scandir``: that works on every file system, network
ones too, where being told of changes does not. A listing of a thousand files takes a millisecond.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from whichlayer.analysis.follow.completeness import Completeness, completeness
from whichlayer.analysis.reader.opening import is_trace_name

#: A file counts as written once it has kept its size for so long (seconds) and has an end.
SETTLED_S: Final = 0.4

#: Without an end it is shown as it is after so long: its writer is gone, or pauses.
PATIENCE_S: Final = 10.0

_MOST_DEPTH: Final = 3


@dataclass(frozen=True, slots=True)
class Seen:
    """A file of the folder.

    Attributes:
        path: where it is.
        size, changed_ns, inode: as the system tells them.
    """

    path: str
    size: int
    changed_ns: int
    inode: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Changes:
    """What a look at the folder has found.

    Attributes:
        ready: complete files that are new, oldest first.
        rewritten: files that were told before, and hold something else now.
        moved: pairs of (path before, file now).
        removed: paths that are no more.
        writing: files that are still being written.
        failure: why the folder cannot be listed, or empty.
    """

    ready: tuple[Seen, ...] = ()
    rewritten: tuple[Seen, ...] = ()
    moved: tuple[tuple[str, Seen], ...] = ()
    removed: tuple[str, ...] = ()
    writing: tuple[Seen, ...] = ()
    failure: str = ""


class FolderWatch:
    """Compares a folder with what it was at the last look."""

    def __init__(
        self,
        folder: str,
        clock: Callable[[], float] = time.monotonic,
        wall_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        """Nothing is known yet.

        Args:
            folder: it and folders in it are looked through.
            clock: seconds, for how long a size has stayed.
            wall_ns: the clock of files' times: those written long ago are not waited for.
        """
        self._folder = folder
        self._clock, self._wall_ns = clock, wall_ns
        self._since: dict[str, tuple[Seen, float]] = {}
        self._known: dict[str, Seen] = {}
        self._open: dict[str, Seen] = {}

    def look(self) -> Changes:
        """List the folder, and tell what is otherwise than before."""
        now = self._clock()
        try:
            found = {one.path: one for one in _files(self._folder)}
        except OSError as error:
            return Changes(failure=error.strerror or str(error))
        moved = self._moved(found)
        removed = [path for path in self._known if path not in found]
        for path in removed:
            del self._known[path]
        for gone in [path for path in self._since if path not in found]:
            del self._since[gone]
        ready: list[Seen] = []
        rewritten: list[Seen] = []
        writing: list[Seen] = []
        for seen in sorted(found.values(), key=lambda one: (one.changed_ns, one.path)):
            before = self._known.get(seen.path)
            if before == seen:
                continue
            if not self._is_ready(seen, now):
                writing.append(seen)
                continue
            (ready if before is None else rewritten).append(seen)
            self._known[seen.path] = seen
        return Changes(tuple(ready), tuple(rewritten), tuple(moved), tuple(removed), tuple(writing))

    def _is_ready(self, seen: Seen, now: float) -> bool:
        before, since = self._since.get(seen.path, (None, now))
        if before != seen:
            self._since[seen.path] = (seen, now)
            since = now
        age = max(now - since, (self._wall_ns() - seen.changed_ns) / 1e9 if before is None else 0.0)
        if age < SETTLED_S or not seen.size:
            return False
        if age < PATIENCE_S and self._open.get(seen.path) == seen:
            return False  # it had no end when it was last looked at, and has not changed
        try:
            whole = age >= PATIENCE_S or completeness(seen.path) is Completeness.WHOLE
        except OSError:
            return False
        if whole:
            self._open.pop(seen.path, None)
        else:
            self._open[seen.path] = seen
        return whole

    def _moved(self, found: dict[str, Seen]) -> list[tuple[str, Seen]]:
        """Files with another name: the same inode, size and time as one that is gone."""
        lost = {
            (one.inode, one.size, one.changed_ns): path
            for path, one in self._known.items()
            if path not in found
        }
        moved = []
        for path, one in found.items():
            old = lost.pop((one.inode, one.size, one.changed_ns), None)
            if old is not None and path not in self._known:
                del self._known[old]
                self._known[path] = one
                moved.append((old, one))
        return moved


def _files(folder: str, depth: int = 0) -> list[Seen]:
    """The traces of a folder and of the folders in it; links to folders are not followed.

    Raises:
        OSError: the folder itself cannot be listed.
    """
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                if entry.is_dir(follow_symlinks=False):
                    if depth < _MOST_DEPTH and not entry.name.startswith("."):
                        found += _files(entry.path, depth + 1)
                elif is_trace_name(entry.name):
                    status = entry.stat()
                    if stat.S_ISREG(status.st_mode):
                        inode = (status.st_dev, status.st_ino)
                        found.append(Seen(entry.path, status.st_size, status.st_mtime_ns, inode))
            except OSError:
                continue  # it has gone since it was listed, or is none of ours
    return found
