"""Loading a file that is still being written: read again as it grows, for as long as one looks."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from math import ceil
from typing import TYPE_CHECKING, Final

from textual.message import Message

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.follow.completeness import Completeness, completeness
from whichlayer.analysis.follow.growth import FileState, file_state
from whichlayer.tui.load import Loader, Post
from whichlayer.tui.loading import Loading, Stage
from whichlayer.tui.messages import DocumentOpened, LoadProgressed

if TYPE_CHECKING:
    from whichlayer.analysis.options import Options
    from whichlayer.analysis.results import Analysis
    from whichlayer.analysis.trace.columns import Trace

#: Seconds between two looks at the file, and how often the time that reading took has to pass
#: before a file without an end is read again: reading takes at most a fifth of one core.
LOOK_S: Final = 0.5
_PAUSES: Final = 4

#: Seconds without a change after which it is said to have stopped growing.
_QUIET_S: Final = 5.0

#: Bytes up to which a file may be the beginning of a trace that nothing can be read of yet.
_BEGINNING: Final = 4096


#: What is said of the file: the end of the screen's first line.
READY: Final = "ready, followed"
GROWING: Final = "growing"
UNFINISHED: Final = "has no end yet, followed"
READING: Final = "changed: reading …"
UNREADABLE: Final = "changed: cannot be read yet"


class Followed(Message):
    """How what is shown stands to what the file holds now."""

    def __init__(self, state: str) -> None:
        """Take it in a word or two."""
        super().__init__()
        self.state = state


class FollowLoader(Loader):
    """Reads a file whenever it has changed; what cannot be read then is read the next time."""

    def __init__(
        self,
        path: str,
        options: Options,
        read: Callable[..., Trace] | None = None,
        analyse_trace: Callable[[Trace, Options], Analysis] | None = None,
        state: Callable[[str], FileState | None] = file_state,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Note what is to be followed; nothing happens before :meth:`start`."""
        super().__init__(path, options, read, analyse_trace)
        self._state_of = state
        self._time = clock
        self._whole: tuple[FileState, bool] | None = None

    def _load(self, tell: Post, trace: Trace | None) -> None:
        seen = self._state_of(self.path)
        begun = self._time()
        try:
            super()._load(tell, trace)
        except TraceError:
            if not self._may_begin_later(seen):
                raise
            tell(LoadProgressed(Loading(Stage.RECEIVING)))
        self._follow(tell, seen, self._time() - begun)

    def _may_begin_later(self, seen: FileState | None) -> bool:
        """Whether a file that cannot be read has only just been begun."""
        now = self._state_of(self.path)
        return seen is None or now != seen or (seen.size < _BEGINNING and _may_begin(self.path))

    def _follow(self, tell: Post, seen: FileState | None, took_s: float) -> None:
        """Look at the file until the screen is left.

        A file that has its end is read as soon as it has rested for one look; one without is read
        now and then, and the time until then is told.
        """
        changed_at = self._time()
        due = changed_at + _PAUSES * took_s
        last, tried, said = seen, seen, ""
        while True:
            now, at = self._state_of(self.path), self._time()
            if now != last:
                changed_at = at
            is_new = now is not None and now != seen
            whole = now is not None and now in (last, seen) and self._is_whole(now)
            last, pause = now, LOOK_S
            if is_new and (at >= due or (whole and now != tried)):
                if now != tried:
                    said = _told(tell, said, READING)
                if self._is_read_again(tell):
                    seen, pause = now, 0.0
                else:
                    said = _told(tell, said, UNREADABLE)
                tried = now
                due = self._time() + _PAUSES * (self._time() - at)
            elif is_new and now != tried:
                said = _told(tell, said, f"changed: read again in {ceil(due - at)} s")
            elif not is_new:
                rests = at - changed_at >= _QUIET_S
                said = _told(tell, said, self._standing(whole=whole, rests=rests))
            if self._stop.wait(pause):
                return

    def _standing(self, *, whole: bool, rests: bool) -> str:
        """What is said while the screen shows what the file holds."""
        if whole or (rests and not _has_an_end(self.path)):
            return READY
        return UNFINISHED if rests else GROWING

    def _is_whole(self, now: FileState) -> bool:
        """Whether the file has an end, found out once for each state of it."""
        if self._whole is None or self._whole[0] != now:
            try:
                whole = completeness(self.path) is Completeness.WHOLE
            except (OSError, ValueError):
                return False
            self._whole = now, whole
        return self._whole[1]

    def _is_read_again(self, tell: Post) -> bool:
        """Read the file and show it; False where that cannot be done now."""
        try:
            self._read_again(tell)
        except (TraceError, OSError, ValueError):
            return False
        return True

    def _read_again(self, tell: Post) -> None:
        from whichlayer.analysis import analyse, load
        from whichlayer.tui.document import Extent, with_analysis
        from whichlayer.tui.first_frame import prepared

        read: Callable[..., Trace] = self._read or load
        trace = read(self.path, **self._wanted)
        document = prepared(trace, Extent.WHOLE)
        analysis = (self._analyse or analyse)(trace, self._options)
        opened = DocumentOpened(with_analysis(document, analysis))
        tell(opened)
        opened.drawn.wait(self.drawing_s)


def _told(tell: Post, before: str, state: str) -> str:
    """Tell a state, unless that is what was told last."""
    if state != before:
        tell(Followed(state))
    return state


def _has_an_end(path: str) -> bool:
    """Whether files of that name are text whose last bracket tells that it is complete."""
    return ".json" in os.path.basename(path).lower()


def _may_begin(path: str) -> bool:
    """Whether a short file is the beginning of JSON: a whole one will not become a trace."""
    try:
        with open(path, "rb") as file:
            text = file.read(_BEGINNING).removeprefix(b"\xef\xbb\xbf").lstrip()
    except OSError:
        return True  # it is being replaced
    if text[:1] not in (b"{", b"[", b""):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return True
    return False
