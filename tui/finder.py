"""Answers queries in the background: whoever types does not wait, and only the last one counts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from textual.message import Message

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.search.matcher import Matcher, Stopped
from whichlayer.analysis.search.query import Field, Query, QueryError, parse_query
from whichlayer.analysis.search.regex_process import Interrupted
from whichlayer.analysis.text import clean
from whichlayer.tui.find_messages import Answered

if TYPE_CHECKING:
    from whichlayer.analysis.search.hits import Hits
    from whichlayer.analysis.trace.columns import Trace

#: How progress is told at most (seconds).
_PACE_S: Final = 0.1

Start = Callable[[Callable[[], None]], object]


def in_thread(run: Callable[[], None]) -> None:
    """Run beside the screen; the program does not wait for it at its end."""
    threading.Thread(target=run, name="find", daemon=True).start()


class Finder:
    """Asks about one trace; a later question of a purpose replaces the one before."""

    def __init__(
        self,
        trace: Trace,
        post: Callable[[Message], object],
        start: Start = in_thread,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the trace; ``post`` takes answers from any thread."""
        self.trace = trace
        self._matcher = Matcher(trace)
        self._post = post
        self._start = start
        self._clock = clock
        self._latest: dict[str, int] = {}
        self._busy = threading.Lock()
        self._closed = False

    def ask(self, purpose: str, text: str) -> None:
        """Look for what a query asks; the answer comes as a message."""
        serial = self._latest[purpose] = self._latest.get(purpose, 0) + 1
        if self._busy.locked():
            self._matcher.interrupt()
        self._start(lambda: self._answer(purpose, text, serial))

    def forget(self, purpose: str) -> None:
        """Nobody waits for an answer any more."""
        self._latest[purpose] = self._latest.get(purpose, 0) + 1

    def close(self) -> None:
        """Ask nothing any more."""
        self._closed = True
        self._matcher.interrupt()

    def _answer(self, purpose: str, text: str, serial: int) -> None:
        told = self._clock()

        def stale() -> bool:
            return self._closed or self._latest.get(purpose) != serial

        def report(share: float) -> None:
            nonlocal told
            if stale():
                raise Stopped
            now = self._clock()
            if now - told >= _PACE_S and 0 < share < 1:
                told = now
                self._post(Answered(purpose, text, share=share))

        with self._busy, suppress(Stopped):
            answer = None
            while answer is None:
                report(0.0)
                try:
                    hits, any_case = self._found(parse_query(text), report)
                    answer = Answered(purpose, text, hits, any_case=any_case)
                except Interrupted:
                    continue  # for the sake of another purpose, unless nobody waits any more
                except (QueryError, TraceError) as error:
                    answer = Answered(purpose, text, error=clean(str(error)))
            if not stale():
                self._post(answer)

    def _found(self, query: Query, report: Callable[[float], None]) -> tuple[Hits, bool]:
        """The hits, and whether there are some only where capitals do not count."""
        hits = self._matcher.find(query, report)
        loose = None if len(hits) else query.ignoring_case
        if loose is None:
            return hits, False
        loosely = self._matcher.find(loose, report)
        return (loosely, True) if len(loosely) else (hits, False)


def reads_file(text: str) -> bool:
    """Whether a query needs the file again, and so waits for Enter."""
    try:
        return bool(parse_query(text).of(Field.ARGUMENT))
    except QueryError:
        return False


def is_empty(text: str) -> bool:
    """Whether a query asks for nothing."""
    try:
        return not parse_query(text).terms
    except QueryError:
        return False
