"""How far loading is, in figures: what the bar at the top of the screen shows."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from whichlayer.analysis.reader.progress import Progress

Clock = Callable[[], float]


class Stage(Enum):
    """What is being done; the value is the word for it."""

    OPENING = "opening"
    RECEIVING = "receiving"
    READING = "reading"
    SORTING = "sorting"
    ANALYSING = "analysing"
    READY = "ready"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Loading:
    """How far loading is.

    Attributes:
        stage: what is being done.
        bytes_read: of the file on disk.
        bytes_total: likewise, 0 where it is not known.
        events: how many were read.
        rate: bytes a second over the last seconds, None before that can be told.
        left_s: seconds until the last byte, None before that can be told.
        can_stop: what was read so far can be kept without the rest.
    """

    stage: Stage = Stage.OPENING
    bytes_read: int = 0
    bytes_total: int = 0
    events: int = 0
    rate: float | None = None
    left_s: float | None = None
    can_stop: bool = False

    @property
    def share(self) -> float | None:
        """The part of the file that was read; None where its size is not known."""
        return min(self.bytes_read / self.bytes_total, 1.0) if self.bytes_total else None


class Pace:
    """Makes of a reader's many reports the few that are worth showing."""

    #: Seconds between two of them: more often, figures cannot be read.
    EVERY_S: Final = 0.25

    #: Seconds over which the rate is taken, and the least that give one.
    _WINDOW_S: Final = 3.0
    _LEAST_S: Final = 0.5

    #: The remaining time is shown once so many estimates of the end in a row agreed, within
    #: this share of what remains or this many seconds.
    _AGREED: Final = 3
    _WITHIN: Final = 0.2
    _WITHIN_S: Final = 0.7

    def __init__(self, clock: Clock = time.monotonic) -> None:
        """Start to count now."""
        self._clock = clock
        self._told = -self.EVERY_S
        self._samples: deque[tuple[float, int]] = deque([(clock(), 0)])
        self._end: float | None = None
        self._agreed = 0

    def report(self, progress: Progress) -> Loading | None:
        """What to show of a report; None so shortly after the last one."""
        now = self._clock()
        if progress.bytes_read < self._samples[-1][1]:  # what was received is read now
            self._samples = deque([(now, 0)])
            self._end, self._agreed = None, 0
        elif now - self._told < self.EVERY_S:
            return None
        self._told = now
        self._samples.append((now, progress.bytes_read))
        while now - self._samples[1][0] >= self._WINDOW_S:
            self._samples.popleft()
        rate = self.rate
        return Loading(
            self._stage(progress),
            progress.bytes_read,
            progress.bytes_total,
            progress.events,
            rate,
            self._left(progress, rate, now),
            progress.snapshot is not None,
        )

    @property
    def rate(self) -> float | None:
        """Bytes a second over the last seconds."""
        first, last = self._samples[0], self._samples[-1]
        passed = last[0] - first[0]
        return (last[1] - first[1]) / passed if passed >= self._LEAST_S else None

    @staticmethod
    def _stage(progress: Progress) -> Stage:
        if not progress.bytes_total:
            return Stage.RECEIVING
        return Stage.READING if progress.bytes_read < progress.bytes_total else Stage.SORTING

    def _left(self, progress: Progress, rate: float | None, now: float) -> float | None:
        if not rate or not progress.bytes_total:
            return None
        left = max(progress.bytes_total - progress.bytes_read, 0) / rate
        end = now + left
        if self._agreed < self._AGREED:
            near = max(self._WITHIN * left, self._WITHIN_S)
            agrees = self._end is not None and abs(end - self._end) <= near
            self._agreed = self._agreed + 1 if agrees else 0
        self._end = end
        return left if self._agreed >= self._AGREED else None
