"""Opens a trace that is in the cache while the terminal is set up and the first picture drawn.

Most of it is done outside of Python. Of a trace that was not opened before nothing is done here,
and nothing imported.

It begins once Textual is imported: imports hold Python, and begun together with Textual's they
delayed the first picture by 0.15 s and the timeline by 0.1 s.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from whichlayer.tui.two_threads import short_turns

if TYPE_CHECKING:
    from whichlayer.analysis.trace.columns import Trace

#: Between two of hundreds of calculations with arrays it waits at most so long (seconds) for a
#: thread that imports.
_TURN_S: Final = 0.0002


class Ahead:
    """A trace that is opened ahead of the screen, in a thread of its own."""

    def __init__(self, path: str) -> None:
        """Note which; nothing happens before :meth:`start`."""
        self._path = path
        self._stop = threading.Event()
        self._looked = threading.Event()
        self._is_kept = False
        self._trace: Trace | None = None
        self._thread = threading.Thread(target=self._run, name="ahead", daemon=True)

    def start(self) -> None:
        """Begin, and return at once."""
        self._thread.start()

    def stop(self) -> None:
        """Nobody wants it any more: end after the step that is being done."""
        self._stop.set()

    def is_kept(self) -> bool:
        """Whether there is something in the cache; known after milliseconds."""
        self._looked.wait()
        return self._is_kept

    def trace(self) -> Trace | None:
        """The trace, once it is there; None where it has to be read."""
        self._thread.join()
        return self._trace

    def _run(self) -> None:
        try:
            from whichlayer.analysis.cache.presence import may_be_kept

            self._is_kept = may_be_kept(self._path)
        finally:
            self._looked.set()
        if not self._is_kept or self._stop.is_set():
            return
        # Where it fails, the loader goes the usual way and is told what is wrong.
        with short_turns(_TURN_S), suppress(Exception):
            from whichlayer.analysis.cache.reuse import reopen

            self._trace = None if self._stop.is_set() else reopen(self._path)
