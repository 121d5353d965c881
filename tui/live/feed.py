"""Where the windows of a live screen come from, as the screen sees it."""

from __future__ import annotations

import shutil
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from whichlayer.tui.live.model import LiveModel
from whichlayer.tui.live.shots import Shot

if TYPE_CHECKING:
    from whichlayer.tui.document import Document

_MOST_HELD_BYTES: Final = 1 << 30


class Feed:
    """A source of windows; one of a program, of a folder.

    Attributes:
        name: what is watched, for the header.
        waits_for: what is said before the first window.
        stands: what is said where no recorder tells what it does.
        records: it can be asked to record.
        is_saved: all windows were there before anybody looked.
        preferred: whose windows are to be shown first, or empty.
    """

    name = ""
    waits_for = "waiting for the first window …"
    stands = "nobody connected yet"
    records = False
    is_saved = False
    preferred = ""

    def __init__(self) -> None:
        """Nothing has come."""
        self._held: OrderedDict[int, tuple[Document, int]] = OrderedDict()

    def start(self, tell: Callable[[Any], object]) -> None:
        """Begin to tell what happens, from any thread."""

    def stop(self) -> None:
        """Tell nothing more."""

    def apply(self, model: LiveModel, event: Any) -> None:
        """Take what was told into the model, in the screen's thread."""

    def learned(self, shot: Shot, document: Document) -> Shot:
        """What is known of a window now that its trace was read."""
        return shot

    def record(self, steps: int, source: str) -> str:
        """Ask for a window of the next steps, 0: as many as usual; what to tell the user."""
        return "nothing can be recorded here: traces are only read"

    def pause(self, source: str) -> str:
        """Ask for no windows unasked, or for windows again; what to tell the user."""
        return "nothing is recorded here: traces are only read"

    def pin(self, shots: set[int]) -> None:
        """These are on the screen: they stay."""

    def hold(self, shot: Shot, document: Document) -> None:
        """Keep what was loaded as long as there is room for it."""
        self._held[shot.id] = (document, size_of(document))
        total = sum(size for _, size in self._held.values())
        while total > _MOST_HELD_BYTES and len(self._held) > 1:
            _, (_, size) = self._held.popitem(last=False)
            total -= size

    def held(self, shot: Shot) -> Document | None:
        """What is kept of a window."""
        found = self._held.get(shot.id)
        return None if found is None else found[0]

    def drop(self, shot_id: int) -> None:
        """Keep nothing of a window: its file has changed."""
        self._held.pop(shot_id, None)

    def save(self, shot: Shot, target: Path) -> None:
        """Copy a window's trace.

        Raises:
            OSError: it cannot be read or written; what was there stays.
            KeyError: it is no more.
        """
        part = target.with_name(f".{target.name}.part")
        try:
            shutil.copyfile(shot.path, part)
            part.replace(target)
        finally:
            with suppress(OSError):
                part.unlink()

    def title_of(self, shot: Shot) -> str:
        """A window in the header."""
        return shot.label

    def save_name(self, shot: Shot) -> str:
        """The file name that is offered for saving a window."""
        return shot.path.name


def size_of(document: Document) -> int:
    """About how many bytes a document takes: several times its largest columns."""
    return 4096 + 400 * document.trace.events
