"""When to look at what was read so far: early, and never so often that it costs much."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from whichlayer.tui.loading import Clock

if TYPE_CHECKING:
    from whichlayer.analysis.reader.progress import Progress

#: Seconds between two snapshots, and how often the time that the last one took has to pass
#: before the next: that of making it, and that of making and drawing it. So making them takes
#: at most a tenth of the reader's time, and all of it at most a fifth.
_LEAST_S: Final = 0.5
_MADE, _DRAWN = 10, 5

#: A snapshot is worth while only if reading will go on for so many seconds, and for so many
#: times what it costs: else the whole trace is there as soon.
_WORTH_S: Final = 0.3
_WORTH_COSTS: Final = 3


class Snapshots:
    """Decides when the next snapshot is due."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        """Start to count now."""
        self._clock = clock
        self._begun = clock()
        self._next = self._begun
        self._cost = 0.0

    def due(self, progress: Progress) -> bool:
        """Whether what was read so far is worth a look now."""
        now = self._clock()
        if progress.snapshot is None or now < self._next:
            return False
        left = self._left(progress, now)
        return left is None or left >= max(_WORTH_S, _WORTH_COSTS * self._cost)

    def took(self, made_s: float, drawn_s: float | None) -> None:
        """Note how long the last snapshot took to make, and to draw if there was anything in it."""
        pause = _MADE * made_s
        if drawn_s is not None:
            pause = max(pause, _DRAWN * (made_s + drawn_s), _LEAST_S)
        self._cost = made_s
        self._next = self._clock() + pause

    def _left(self, progress: Progress, now: float) -> float | None:
        """Seconds that the rest will take if it is read as fast as what was."""
        if not progress.bytes_total or not progress.bytes_read:
            return None
        rest = progress.bytes_total - progress.bytes_read
        return (now - self._begun) * rest / progress.bytes_read
