"""Loading a file that is still being written: read again as it grows, for as long as one looks."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from textual.message import Message

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.follow.growth import FileState, file_state
from whichlayer.tui.load import Loader, Post
from whichlayer.tui.loading import Loading, Stage
from whichlayer.tui.messages import DocumentOpened, LoadProgressed

if TYPE_CHECKING:
    from whichlayer.analysis.options import Options
    from whichlayer.analysis.results import Analysis
    from whichlayer.analysis.trace.columns import Trace

#: Seconds between two looks at the file, and how often the time that reading took has to pass
#: before it is read again: reading takes at most a fifth of one core.
LOOK_S: Final = 0.5
_PAUSES: Final = 4

#: Seconds without a change after which it is said to have stopped growing.
_QUIET_S: Final = 5.0

#: Bytes up to which a file may be the beginning of a trace that nothing can be read of yet.
_BEGINNING: Final = 4096


class Followed(Message):
    """Whether the file grows just now."""

    def __init__(self, grows: bool) -> None:
        """Take whether it does."""
        super().__init__()
        self.grows = grows


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
        changed_at = self._time()
        grew: bool | None = None
        while not self._stop.wait(max(LOOK_S, _PAUSES * took_s)):
            now = self._state_of(self.path)
            grows = now is not None and now != seen
            if grows:
                changed_at = begun = self._time()
                with suppress(TraceError, OSError, ValueError):
                    self._read_again(tell)
                    seen = now
                took_s = self._time() - begun
            grows = self._time() - changed_at < _QUIET_S
            if grows != grew:
                grew = grows
                tell(Followed(grows))

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
