"""Traces that land in a folder, as windows of the live screen."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from whichlayer.analysis.communication.job import rank_of_file
from whichlayer.analysis.follow.folder import Changes, FolderWatch, Seen
from whichlayer.analysis.ranks import find_rank
from whichlayer.analysis.text import clean, plural
from whichlayer.tui.live.feed import Feed
from whichlayer.tui.live.model import LiveModel
from whichlayer.tui.live.shots import Shot

if TYPE_CHECKING:
    from whichlayer.tui.document import Document

#: Seconds between two looks at the folder.
LOOK_S: Final = 0.5

#: As inference servers name the traces of their workers: ``TP-0``, ``TP-1-DP-0``.
_PROCESS = re.compile(r"pid(\d{1,9})_window\d")
"""Windows of processes that had no rank, as ``whichlayer run`` names them."""

_GRID = re.compile(r"(?<![A-Za-z])(TP|DP|PP|EP)-(\d{1,5})(?!\d)")


class FolderFeed(Feed):
    """What :class:`~whichlayer.analysis.follow.folder.FolderWatch` sees, by rank."""

    def __init__(self, folder: str, rank: int | None = None, look_s: float = LOOK_S) -> None:
        """Take the folder, and the one rank that is wanted, if it is one."""
        super().__init__()
        self.name = os.path.basename(os.path.abspath(folder)) + "/"
        self.waits_for = "waiting for traces to land here …"
        self.stands = "following the folder"
        self.folder = folder
        self._rank = rank
        self.preferred = "" if rank is None else f"rank {rank}"
        self._look_s = look_s
        self._stopped = threading.Event()
        self._watch = FolderWatch(folder)
        self._ids: dict[str, int] = {}
        self._last = 0
        self._writing: tuple[Seen, ...] = ()
        self._failure = ""
        self._has_looked = False
        self._half_written: tuple[tuple[str, int], ...] = ()

    def start(self, tell: Callable[[Any], object]) -> None:
        """Look at the folder now and then, in a thread of its own."""

        def watch() -> None:
            is_first = True
            while not self._stopped.is_set():
                changes = self._watch.look()
                if not self._stopped.is_set() and (self._is_news(changes) or is_first):
                    tell(changes)
                is_first = False
                self._stopped.wait(self._look_s)

        threading.Thread(target=watch, name="folder", daemon=True).start()

    def stop(self) -> None:
        """Look no more."""
        self._stopped.set()

    def apply(self, model: LiveModel, event: Changes) -> None:
        """What has changed in the folder."""
        for path, now in event.moved:
            if path in self._ids:
                number = self._ids[now.path] = self._ids.pop(path)
                self._rename(model, number, now)
        gone = [self._ids.pop(path) for path in event.removed if path in self._ids]
        if gone:
            model.remove(gone)
            model.note(f"{plural(len(gone), 'trace')} removed from the folder")
        for seen in event.rewritten:
            if seen.path in self._ids:
                number = self._ids[seen.path]
                self.drop(number)
                model.replace(self._shot(number, seen))
            else:
                self._add(model, seen)
        for seen in event.ready:
            self._add(model, seen)
        model.writing = tuple((self._told(seen.path), seen.size) for seen in event.writing)
        # What was half written then and still is has not changed: it may be so for years.
        comes = bool(event.ready or event.rewritten) or model.writing != self._half_written
        if not self._has_looked:
            self._has_looked = True
            model.initial.update(model.shots)
            self.is_saved = bool(model.shots)
            self._half_written = model.writing
        elif comes:
            self.is_saved = False
        count = plural(len(model.shots) - len(model.gone), "trace")
        self.stands = f"{count} in the folder" if self.is_saved else "following the folder"
        if event.failure and event.failure != self._failure:
            model.note(f"the folder cannot be read: {event.failure}")
        self._failure = event.failure

    def learned(self, shot: Shot, document: Document) -> Shot:
        """What the trace itself tells of its rank."""
        rank = find_rank(document.trace.header)
        if rank is None or shot.source:
            return shot
        return replace(shot, source=f"rank {rank}")

    def _is_news(self, changes: Changes) -> bool:
        before, self._writing = self._writing, changes.writing
        told = changes.ready or changes.rewritten or changes.moved or changes.removed
        return bool(told or before != changes.writing or changes.failure)

    def _add(self, model: LiveModel, seen: Seen) -> None:
        shot = self._shot(self._last + 1, seen)
        rank = rank_of_file(seen.path)
        if self._rank is not None and rank is not None and rank != self._rank:
            return
        self._last += 1
        self._ids[seen.path] = shot.id
        model.add(shot)

    def _rename(self, model: LiveModel, number: int, seen: Seen) -> None:
        shot = model.shots.get(number)
        if shot is not None:
            model.shots[number] = replace(shot, path=Path(seen.path), label=self._told(seen.path))

    def _shot(self, number: int, seen: Seen) -> Shot:
        path, label = Path(seen.path), self._told(seen.path)
        return Shot(number, path, source_of(seen.path), label, seen.size, (), seen.changed_ns)

    def _told(self, path: str) -> str:
        return clean(os.path.relpath(path, self.folder))


def source_of(path: str) -> str:
    """Which rank wrote a file by its name, in words; empty where it does not tell."""
    rank, process = rank_of_file(path), _PROCESS.search(os.path.basename(path))
    names = [] if rank is None else [f"rank {rank}"]
    if process is not None:
        names.append(f"(process {process[1]})" if names else f"process {process[1]}")
    if names:
        return " ".join(names)
    found = _GRID.findall(os.path.basename(path))
    return " ".join(f"{axis} {number}" for axis, number in found)
