"""The recorder inside a program: takes windows of its steps and hands them to whoever listens.

It must never change what the program does: every entry from the program catches everything, and
after a failure of its own the recorder says so once and is no more.
"""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections import deque
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final, Protocol

from whichlayer.analysis.live.protocol import Message, Phase
from whichlayer.analysis.live.recorder_options import RecorderOptions
from whichlayer.analysis.live.recording_key import RecordingCost
from whichlayer.analysis.live.torch_window import (
    Recorded,
    TorchWindow,
    profiler_is_on,
    silence,
    unsilence,
)

_TIMES_KEPT: Final = 512
_FEWEST_USUAL: Final = 3
"""So many steps without the profiler tell how long a step usually takes."""

_YIELD_SECONDS: Final = 30.0
"""So long a profiler of the program's waits for the thread that our window is in to end a step."""


class Outlet(Protocol):
    """Where a recorder's messages go; neither call ever blocks."""

    def post(self, message: Message) -> None:
        """Send soon, or drop it if nobody listens."""

    def offer(self, make: Callable[[], Message | None]) -> bool:
        """Make a window's message in another thread and send it; False if there is no room."""


class Recorder:
    """Decides at the end of each step whether a window begins, goes on or ends.

    ``step_ended`` is called by the thread that runs the steps; requests come from others.
    """

    def __init__(
        self,
        options: RecorderOptions,
        outlet: Outlet,
        metadata: Callable[[], dict[str, str]] = dict,
    ) -> None:
        """Be ready for the first step.

        Args:
            options: how windows are taken.
            outlet: where they go.
            metadata: what is known of the card, asked once a window.
        """
        self.options = options
        self.step = 0
        self.phase = Phase.WAITING
        self.dropped = 0
        self.failure = ""
        self.times: deque[int] = deque(maxlen=_TIMES_KEPT)
        self._outlet = outlet
        self._metadata = metadata
        self._window: TorchWindow | None = None
        self._number = 0
        self._begin_at = 2 if options.every else 0  # the first step warms the program up
        self._asked = 0
        self._length = options.window
        self._first = 0
        self._last = 0
        self._usual_ns: int | None = None
        self._pid = os.getpid()
        self._thread: threading.Thread | None = None
        self._foreign = False
        self._silenced = False
        self._free = threading.Event()  # no window runs
        self._free.set()
        self._exporting = threading.Event()
        self._leaving = False

    def step_ended(self) -> None:
        """The end of a step; returns within microseconds unless a window begins or ends."""
        self.step += 1
        self.times.append(time.perf_counter_ns())
        try:
            if self._window is not None:
                self._advance()
            elif self._asked or (self._begin_at and self.step >= self._begin_at):
                self._begin()
            elif self.phase is Phase.WAITING:
                self.phase = Phase.IDLE
        except Exception as error:  # noqa: BLE001  the program must not notice
            self._fail(error)

    def record(self, steps: int = 0) -> None:
        """Take a window of the next steps, from any thread; one that runs is not disturbed."""
        self._asked = max(1, steps or self.options.window)

    def pause(self) -> None:
        """Take no windows unasked."""
        self._begin_at = 0
        if self._window is None:
            self.phase = Phase.PAUSED

    def resume(self) -> None:
        """Take windows as the options say."""
        if self.options.every:
            self._begin_at = self.step + 1
        if self.phase is Phase.PAUSED:
            self.phase = Phase.IDLE

    def detach(self) -> None:
        """The screen is gone, said by any thread: a window that runs ends with this step."""
        self._begin_at = self._asked = 0
        self._leaving = self._window is not None
        if not self._leaving:
            self.phase = Phase.PAUSED

    def yield_profiler(self) -> None:
        """The program starts a profiler of its own: give up a window that runs, at once."""
        self._foreign = True
        self.phase = Phase.FOREIGN
        if self._silenced:  # in a forked child: its parent's profiler must go first
            self._silenced = False
            unsilence()
        if self._window is None or self._pid != os.getpid():
            return
        self._outlet.post(
            Message("note", {"text": "the program profiles itself: this window is given up"})
        )
        if threading.current_thread() is self._thread:
            self._abandon()
        else:
            # Two threads that profile at the same time, or one that stops another's profiler,
            # are the end of the process.
            self._leaving = True
            self._free.wait(_YIELD_SECONDS)

    def foreign_ended(self) -> None:
        """The program's own profiler is done."""
        self._foreign = False
        if self.phase is Phase.FOREIGN:
            self.phase = Phase.IDLE

    def close(self) -> None:
        """The program ends: end a window that runs and keep nothing of it."""
        self._begin_at = self._asked = 0
        self._leaving = True
        self.phase = Phase.PAUSED
        thread = self._thread
        if self._pid == os.getpid() and (
            thread is threading.current_thread() or (thread is not None and not thread.is_alive())
        ):
            self._abandon()

    def forked(self) -> None:
        """In a forked child, by its only thread: what the parent records is not to go on here."""
        if self._window is not None and threading.current_thread() is self._thread:
            self._silenced = True
            silence()
        self._window = None
        self._begin_at = self._asked = 0

    def lost(self) -> None:
        """A window that was offered will never be made: nobody is there to take it any more."""
        self.dropped += 1
        self._ended()

    def state(self) -> Message:
        """What a screen shows between windows."""
        times = list(self.times)[-33:]
        lengths = [(b - a) // 1000 for a, b in pairwise(times)]
        fields: dict[str, Any] = {
            "phase": self.phase.value,
            "step": self.step,
            "step_us": lengths,
            "dropped": self.dropped,
            "reason": self.failure,
        }
        return Message("state", fields)

    def _begin(self) -> None:
        """Warm the profiler up during the step that begins now."""
        if self._exporting.is_set() or self._foreign:
            return
        if profiler_is_on():
            self.phase = Phase.FOREIGN
            return
        self._length = self._asked or self.options.window
        self._leaving = False
        window = TorchWindow(self.options, self._metadata())
        self._window, self._asked = window, 0
        self._usual_ns = self._usual_step_ns()
        self._first = self.step + 1
        self._thread = threading.current_thread()
        self._free.clear()
        self.phase = Phase.WARMING_UP
        window.warm_up()

    def _advance(self) -> None:
        window, thread = self._window, self._thread
        if window is None or thread is None:
            return
        if threading.current_thread() is not thread:
            # A thread's profiler can only be driven by that thread, or when that has ended.
            if not thread.is_alive() and thread is not threading.main_thread():
                self._abandon()
            return
        if self._leaving:
            self._abandon()
        elif self.step == self._first:
            window.start(self.step)
            self.phase = Phase.RECORDING
        elif self.step < self._first + self._length:
            window.next(self.step)
        else:
            self._window = None
            try:
                self._finish(window.stop(self.step - 1, self._usual_ns))
            finally:
                self._free.set()
                self._last = self.step

    def _usual_step_ns(self) -> int | None:
        """How long a step takes without the profiler: the median of those since the last window."""
        # The one that the last window's end was in is none of them, nor is the first of all.
        whole = self.step - max(self._last + 1, 2)
        lengths = [b - a for a, b in pairwise(list(self.times)[-whole - 1 :])] if whole > 0 else []
        return int(statistics.median(lengths)) if len(lengths) >= _FEWEST_USUAL else None

    def _finish(self, recorded: Recorded) -> None:
        """Hand a window over to be exported and sent while the program goes on."""
        self._number += 1
        number = self._number
        if self.options.every and self._begin_at:
            # Counted from where the window began, but never without a step in between.
            self._begin_at = max(self._first - 1 + self.options.every, self.step + 1)
        self.phase = Phase.EXPORTING
        self._exporting.set()

        def make() -> Message | None:
            try:
                trace, cost = recorded.export()
            except Exception as error:  # noqa: BLE001
                self.dropped += 1
                return Message("note", {"text": f"window {number} is lost: {_told(error)}"})
            finally:
                self._ended()
            return window_message(number, recorded, cost, trace)

        if not self._outlet.offer(make):
            self.lost()

    def _ended(self) -> None:
        self._exporting.clear()
        if self.phase is Phase.EXPORTING:
            self.phase = Phase.IDLE if self._begin_at or not self.options.every else Phase.PAUSED

    def _abandon(self) -> None:
        """End a window that runs and keep nothing of it; only where no other thread is in it."""
        window, self._window = self._window, None
        self._leaving = False
        if not self._foreign:
            self.phase = Phase.IDLE if self._begin_at else Phase.PAUSED
        try:
            if window is not None:
                window.abandon()
        except Exception:  # noqa: BLE001  it is given up anyway
            return
        finally:
            self._free.set()

    def _fail(self, error: Exception) -> None:
        """Say once what went wrong, and be no more."""
        self._begin_at = self._asked = 0
        if not self.failure:
            self.failure = f"the recorder failed and has stopped: {_told(error)}"
            self._outlet.post(Message("note", {"text": self.failure}))
        self._abandon()


def window_message(
    number: int, recorded: Recorded, cost: RecordingCost, trace: bytes | bytearray
) -> Message:
    """The message that carries a window."""
    return Message(
        "window",
        {
            "number": number,
            "first_step": recorded.first_step,
            "last_step": recorded.last_step,
            "profiled_ns": recorded.profiled_ns,
            "overhead_ns": cost.switching_ns,
            "export_ns": cost.export_ns,
            "cost": cost.as_dict(),
            "ended_ns": recorded.ended_ns,
            "own": False,
        },
        trace,
    )


def _told(error: Exception) -> str:
    text = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
