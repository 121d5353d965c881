"""The windows that a screen has received: as files, the oldest of which go when there are too many.

Files lie in a folder that only this user can read and that goes with the screen, or in one that the
user has named, where nothing is ever removed. What was loaded of a window is held in memory up to
a limit; beyond that the oldest is on disk alone.
"""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from isal import igzip

from whichlayer.analysis.live.events import Window
from whichlayer.analysis.live.folder_guard import FolderGuard
from whichlayer.analysis.live.private_folder import PrivateFolder, remove_abandoned

MOST_DISK_BYTES: Final = 2 << 30
MOST_MEMORY_BYTES: Final = 1 << 30

_NUMBERED: Final = re.compile(r"(rank\d+(?:_pid\d+)?|pid\d+)_window(\d{4,9})_.*\.json\.gz")
_GZIP: Final = b"\x1f\x8b"

_compressed: Any = igzip.open

_LEVEL: Final = 1
"""Of igzip: a tenth of the size of a trace, at more than 200 MB/s."""


class History:
    """Windows by their number in the order of arrival; every method may be called by any thread."""

    def __init__(
        self,
        folder: Path | None = None,
        most_disk_bytes: int = MOST_DISK_BYTES,
        most_memory_bytes: int = MOST_MEMORY_BYTES,
    ) -> None:
        """Prepare; a private folder is made when the first window comes.

        What screens left that were killed is removed.

        Args:
            folder: where windows are kept for good; it is made if need be. None: in a private
                folder, until :meth:`close`.
            most_disk_bytes: of files in the private folder.
            most_memory_bytes: of what :meth:`hold` is given.
        """
        remove_abandoned()
        self._named = folder
        self._private: PrivateFolder | None = None
        self._guard: FolderGuard | None = None
        self._most_disk, self._most_memory = most_disk_bytes, most_memory_bytes
        self._lock = threading.RLock()
        self._windows: OrderedDict[int, Window] = OrderedDict()
        self._held: OrderedDict[int, tuple[Any, int]] = OrderedDict()
        self._pinned: set[int] = set()
        self._counts: dict[str, int] = {}

    def folder(self) -> Path:
        """Where the files are.

        Raises:
            OSError: it cannot be made or written to.
        """
        with self._lock:
            if self._named is not None:
                self._named.mkdir(parents=True, exist_ok=True)
                return self._named
            if self._private is None:
                self._private = PrivateFolder()
                self._guard = FolderGuard(self._private.path)
            return self._private.path

    def next_number(self, prefix: str) -> int:
        """The number of the next window of a rank; goes on from files that lie there already."""
        with self._lock:
            if prefix not in self._counts:
                names: list[str] = []
                with suppress(OSError):  # told when the window is written
                    names = os.listdir(self.folder())
                found = (_NUMBERED.fullmatch(one) for one in names)
                numbers = [int(one[2]) for one in found if one is not None and one[1] == prefix]
                self._counts[prefix] = max(numbers, default=0)
            self._counts[prefix] += 1
            return self._counts[prefix]

    @contextmanager
    def writing(self, name: str) -> Iterator[WindowFile]:
        """Write the trace of a window; it appears under its name only when it is complete.

        What the disk refuses is told by the file's ``failure``; of a window that failed, or in the
        middle of which an exception was raised, nothing is left.
        """
        file = WindowFile()
        try:
            file.place(self, name)
            yield file
            file.finish()
        finally:
            file.discard()

    def add(self, window: Window) -> tuple[Window, ...]:
        """Keep a window.

        Returns:
            The oldest ones, removed to make room; never a pinned one, and never this one.
        """
        with self._lock:
            self._windows[window.id] = window
            if self._named is not None:
                return ()
            size = sum(one.file_bytes for one in self._windows.values())
            removed = []
            for one in list(self._windows.values()):
                if size <= self._most_disk:
                    break
                if one.id == window.id or one.id in self._pinned:
                    continue
                size -= one.file_bytes
                removed.append(one)
                self._remove(one)
            return tuple(removed)

    def windows(self) -> tuple[Window, ...]:
        """Those that can be loaded, oldest first."""
        with self._lock:
            return tuple(self._windows.values())

    def pin(self, ids: set[int]) -> None:
        """Never remove these, in place of those pinned before: what is on the screen stays."""
        with self._lock:
            self._pinned = set(ids)

    def hold(self, window_id: int, value: Any, size_bytes: int) -> None:
        """Keep what was loaded of a window in memory as long as there is room for it.

        The oldest go first; pinned windows stay.
        """
        with self._lock:
            if window_id not in self._windows:
                return
            self._held[window_id] = (value, size_bytes)
            total = sum(size for _, size in self._held.values())
            for one in sorted(self._held):
                if total <= self._most_memory:
                    break
                if one != window_id and one not in self._pinned:
                    total -= self._held.pop(one)[1]

    def held(self, window_id: int) -> Any | None:
        """What :meth:`hold` was given, or None: load the window's path again."""
        with self._lock:
            found = self._held.get(window_id)
            return None if found is None else found[0]

    def save(self, window_id: int, target: Path) -> None:
        """Copy the trace of a window to a file of the user's; compressed if it ends on ``.gz``.

        Raises:
            KeyError: it has been removed.
            OSError: it cannot be written; what was there before stays.
        """
        with self._lock:
            window = self._windows[window_id]
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            opener: Any = open if target.suffix == ".gz" else _compressed
            with opener(window.path, "rb") as source, open(part, "wb") as file:
                shutil.copyfileobj(source, file, 1 << 20)
            part.replace(target)
        finally:
            with suppress(OSError):
                part.unlink()

    def close(self) -> None:
        """Forget all windows; a private folder goes with them."""
        with self._lock:
            self._windows.clear()
            self._held.clear()
            private, self._private = self._private, None
            guard, self._guard = self._guard, None
        if private is not None:
            private.remove()
        if guard is not None:
            guard.dismiss()

    def _remove(self, window: Window) -> None:
        self._windows.pop(window.id, None)
        self._held.pop(window.id, None)
        with suppress(OSError):
            window.path.unlink()


class WindowFile:
    """The file of a window while it is written.

    Attributes:
        path: where it will be.
        trace_bytes, file_bytes: its size decompressed, and on disk once it is finished.
        failure: why it cannot be kept, or empty; what is written then goes nowhere.
    """

    def __init__(self) -> None:
        """Prepare; see :meth:`History.writing`."""
        self.path, self._part = Path(), Path()
        self.trace_bytes = self.file_bytes = 0
        self.failure = ""
        self._file: Any = None

    def place(self, history: History, name: str) -> None:
        """Choose where it will be."""
        try:
            self.path = history.folder() / name
            self._part = self.path.with_name(f".{name}.part")
        except OSError as error:
            self._fail(error)

    def write(self, piece: bytes) -> None:
        """Append a piece of the trace."""
        if self._file is None and not self.failure:
            self._open(piece)
        self.trace_bytes += len(piece)
        if not self.failure:
            try:
                self._file.write(piece)
            except OSError as error:
                self._fail(error)

    def finish(self) -> None:
        """Let it appear under its name."""
        if self._file is None:
            self.write(b"")
        if not self.failure:
            try:
                file, self._file = self._file, None
                file.close()
                self.file_bytes = self._part.stat().st_size
                self._part.replace(self.path)
            except OSError as error:
                self._fail(error)

    def discard(self) -> None:
        """Leave nothing of a file that is not finished."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                file.close()
        if self._part.name:
            with suppress(OSError):
                self._part.unlink()

    def _open(self, beginning: bytes) -> None:
        """Create it beside its final place; what is compressed already stays as it is."""
        try:
            if beginning.startswith(_GZIP):
                self._file = self._part.open("wb")
            else:
                self._file = _compressed(self._part, "wb", compresslevel=_LEVEL)
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        self.failure = error.strerror or str(error)


def window_prefix(rank: int | None, pid: int, *, first: bool) -> str:
    """How the names of a recorder's windows begin.

    Args:
        rank: None where it has none.
        pid: its process.
        first: it is the first recorder without a rank, and counts as rank 0; or there is no other of
            its rank, as where two jobs run under one screen.
    """
    if rank is not None:
        return f"rank{rank}" if first else f"rank{rank}_pid{pid}"
    return "rank0" if first else f"pid{pid}"


def window_name(prefix: str, number: int, steps: tuple[int | None, int | None]) -> str:
    """A file name such as ``rank0_window0001_steps3-5.json.gz``."""
    first, last = steps
    told = "own" if first is None or last is None else f"steps{first}-{last}"
    return f"{prefix}_window{number:04d}_{told}.json.gz"
