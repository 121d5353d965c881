"""Windows that are recorded without a screen: one line for each, and what they agree on at the end.

Lines go to standard error, where the program's own results are not looked for.
"""

from __future__ import annotations

import os
import queue
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.live.events import (
    Event,
    Left,
    Noted,
    Recorder,
    StateTold,
    Window,
    WindowArrived,
)
from whichlayer.analysis.live.server import LiveServer
from whichlayer.analysis.text import clean, plural

if TYPE_CHECKING:
    from whichlayer.analysis.results import Analysis

_NICE: Final = 10
_TICK_SECONDS: Final = 0.2
_LEAVE_SECONDS: Final = 10.0
"""So long recorders may take to say what they have left to say once the program has ended."""


@dataclass(frozen=True, slots=True)
class Told:
    """What one window said.

    Attributes:
        side: of the verdict.
        shares: by the title of each finding, its share of the window.
    """

    window: Window
    side: str
    shares: dict[str, float]


class Headless:
    """Takes a server's events and says each window in a line."""

    def __init__(self, server: LiveServer, say: Callable[[str], None]) -> None:
        """Prepare.

        Args:
            server: listening already.
            say: writes a line for the user.
        """
        self._server, self._say = server, say
        self.told: list[Told] = []
        self._steps: dict[int, int] = {}
        self._whole: set[int] = set()  # recorders whose count of steps is their last
        self._dropped: dict[int, int] = {}
        self._failures: dict[str, str] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, name="whichlayer-headless", daemon=True)

    def start(self) -> None:
        """Begin to take events, in a thread that leaves the processor to the program."""
        self._thread.start()

    def finish(self) -> None:
        """The program has ended: say what is left, and stop."""
        ends = time.monotonic() + _LEAVE_SECONDS
        while self._server.recorders and time.monotonic() < ends:
            time.sleep(_TICK_SECONDS / 10)
        self._ended.set()
        self._thread.join()

    def summary(self, folder: Path) -> list[str]:
        """What all windows together say, a line each."""
        lines = []
        if self.told:
            sides = Counter(one.side for one in self.told)
            found = ", ".join(f"{side} {count}" for side, count in sides.most_common())
            lines.append(f"{plural(len(self.told), 'window')} in {folder}: {found}")
            lines += _shared_findings(self.told)
            lines.append(f"open them: whichlayer {folder}")
        elif not self._steps:
            lines.append(
                "nothing was recorded: no Python process below this one was seen to import torch and "
                "end a step (it cannot be if it is started with -S, -E or -I, or is killed or calls "
                "os._exit within moments of the first)"
            )
        else:
            lines.append(self._no_window())
        if dropped := sum(self._dropped.values()):
            lines.append(f"{plural(dropped, 'window')} lost on the way")
        return lines + [f"{name}: {why}" for name, why in sorted(self._failures.items())]

    def _no_window(self) -> str:
        """Why there is none, as far as that is known."""
        steps = max(self._steps.values())
        if not self._steps.keys() <= self._whole:
            known = (
                f"the last that was heard of it was step {steps}"
                if steps
                else "how many steps it had done is not known"
            )
            return (
                "no window was completed before the program ended without a word (os._exit, exec or "
                f"a signal) or closed its descriptors; {known}"
            )
        text = f"no window was completed in {plural(steps, 'step')}"
        if self._failures or any(self._dropped.values()):
            return text
        return f"{text}: ask for fewer with --window and --every"

    def _work(self) -> None:
        with suppress(AttributeError, OSError):  # of this thread alone, where the system can
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
        while True:
            try:
                event = self._server.events.get(timeout=_TICK_SECONDS)
            except queue.Empty:
                if self._ended.is_set():
                    return
                continue
            self._take(event)

    def _take(self, event: Event) -> None:
        if isinstance(event, WindowArrived):
            self._say(self._window_line(event.window))
        elif isinstance(event, StateTold):
            key = event.recorder.id
            self._steps[key] = max(event.step, self._steps.get(key, 0))
            self._dropped[key] = event.dropped
            if event.failure:
                self._failures[_name(event.recorder)] = event.failure
        elif isinstance(event, Noted):
            self._say(f"{_who(event)}{event.text}")
        elif isinstance(event, Left):
            self._steps.setdefault(event.recorder.id, 0)
            if event.said_goodbye:
                self._whole.add(event.recorder.id)

    def _window_line(self, window: Window) -> str:
        """What a window says; it stays on the disk whatever that is."""
        name = window.path.name
        self._steps.setdefault(window.recorder.id, window.last_step or 0)
        try:
            from whichlayer.analysis import analyse, load

            analysis = analyse(load(window.path))
        except TraceError as error:
            return clean(str(error))
        except Exception as error:  # noqa: BLE001  the program and its other windows go on
            return clean(f"{name}: cannot be analysed: {type(error).__name__}: {error}")
        self.told.append(_told(window, analysis))
        return f"{name}: {clean(analysis.verdict.text)}{_cost(window)}"


def say(line: str) -> None:
    """Write a line to standard error, whole, so that it does not part a line of the program's."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.write(f"whichlayer: {line}\n")
            sys.stderr.flush()


def _told(window: Window, analysis: Analysis) -> Told:
    shares: dict[str, float] = {}
    for finding in analysis.findings:
        title = clean(finding.title)
        shares[title] = shares.get(title, 0.0) + finding.share
    return Told(window, analysis.verdict.side, shares)


def _shared_findings(told: list[Told]) -> list[str]:
    """The findings that most windows have, by their median share; at most three."""
    titles = Counter(title for one in told for title in one.shares)
    usual = {
        title: statistics.median(one.shares[title] for one in told if title in one.shares)
        for title, count in titles.items()
        if 2 * count >= len(told)
    }
    best = sorted(usual, key=lambda title: (-usual[title], title))[:3]
    return [
        f"  {title}: {usual[title]:.0%} of the window (median), in {titles[title]} of {len(told)}"
        for title in best
    ]


def _cost(window: Window) -> str:
    """What the window cost the program, as far as that is known."""
    from whichlayer.analysis.report.recording_cost import NAME, cost_parts

    parts = [] if window.cost is None else cost_parts(window.cost)
    return f" ({NAME}: {'; '.join(parts)})" if parts else ""


def _who(event: Noted) -> str:
    return "" if event.recorder is None else f"{_name(event.recorder)}: "


def _name(recorder: Recorder) -> str:
    return f"process {recorder.pid}" if recorder.rank is None else f"rank {recorder.rank}"
