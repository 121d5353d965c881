"""A trace that is still being received, as far as it has come: read from the file it is kept in."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from whichlayer.analysis.errors import TraceError

if TYPE_CHECKING:
    from whichlayer.analysis.trace.columns import Trace

#: Seconds between two looks, and how often the time that the last one took has to pass before
#: the next: receiving waits meanwhile, for at most a sixth of the time.
_LEAST_S: Final = 1.0
_PAUSES: Final = 5

#: What has come is read in memory, again and again: not where there is a lot of it.
_MOST_BYTES: Final = 1 << 28


class Partly:
    """Reads what there is of a file now and then, while more is written to it."""

    def __init__(self, path: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Note the file."""
        self._path = path
        self._clock = clock
        self._due = clock() + _LEAST_S
        self._size = 0
        self._trace: Trace | None = None

    def snapshot(self, size: int) -> Callable[[], Trace] | None:
        """What gives a trace of the first ``size`` bytes, or of fewer; None where nothing can."""
        begun = self._clock()
        if self._size < size <= _MOST_BYTES and begun >= self._due:
            self._size = size
            with suppress(TraceError, OSError, ValueError, EOFError):
                self._trace = self._read() or self._trace
            took = self._clock() - begun
            self._due = self._clock() + max(_LEAST_S, _PAUSES * took)
        return None if self._trace is None else self._so_far

    def _so_far(self) -> Trace:
        assert self._trace is not None
        return self._trace

    def _read(self) -> Trace | None:
        from whichlayer.analysis.reader import open_trace

        trace = open_trace(self._path)
        return trace if len(trace.start_ns) else None
