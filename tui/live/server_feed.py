"""Windows of a program that is recorded while it runs."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from whichlayer.analysis.live.events import (
    Event,
    Joined,
    Left,
    Noted,
    Recorder,
    StateTold,
    Window,
    WindowArrived,
    WindowsRemoved,
)
from whichlayer.analysis.live.protocol import Phase
from whichlayer.analysis.report.recording_cost import NAME, cost_parts
from whichlayer.tui.live.after import name_of
from whichlayer.tui.live.feed import Feed, size_of
from whichlayer.tui.live.model import LiveModel, Told
from whichlayer.tui.live.shots import Shot

if TYPE_CHECKING:
    from whichlayer.analysis.live.server import LiveServer
    from whichlayer.tui.document import Document

_PHASES: Final = {
    Phase.WAITING: "waiting for the first step",
    Phase.IDLE: "between windows",
    Phase.WARMING_UP: "profiler warming up",
    Phase.RECORDING: "recording",
    Phase.EXPORTING: "writing the window",
    Phase.PAUSED: "paused",
    Phase.FOREIGN: "the program profiles itself",
}
_ACTIVE: Final = frozenset({Phase.WARMING_UP, Phase.RECORDING, Phase.EXPORTING})


class ServerFeed(Feed):
    """What recorders send to a :class:`~whichlayer.analysis.live.server.LiveServer`."""

    records = True

    def __init__(
        self, server: LiveServer, name: str, *, on_demand: bool = False, waits_for: str = ""
    ) -> None:
        """Take the server, which its owner closes.

        Args:
            server: of the recorders.
            name: of the program; told by the first recorder where empty.
            on_demand: no window comes unasked.
            waits_for: what is said before the program's first step.
        """
        super().__init__()
        self.name = name
        self.waits_for = waits_for or "waiting for the program's first step …"
        self._on_demand = on_demand
        self._server = server
        self._stopped = threading.Event()
        self._paused: set[str] = set()
        self._windows: dict[int, Window] = {}
        self._recorders: dict[str, Recorder] = {}
        self._sources: dict[int, str] = {}

    def start(self, tell: Callable[[Any], object]) -> None:
        """Take events off the server's queue in a thread of its own."""

        def listen() -> None:
            while not self._stopped.is_set():
                try:
                    event = self._server.events.get(timeout=0.2)
                except queue.Empty:
                    continue
                if not self._stopped.is_set():
                    tell(event)

        threading.Thread(target=listen, name="live-events", daemon=True).start()

    def stop(self) -> None:
        """Let go of the queue."""
        self._stopped.set()

    def apply(self, model: LiveModel, event: Event) -> None:
        """One of the server's events."""
        match event:
            case Joined(recorder):
                source = self._named(recorder)
                if not self.name:
                    self.name = name_of(recorder.program.split())
                told = Told("waiting for the first step", step=0)
                model.tell(source, told)
                model.note(_introduction(source, recorder))
            case StateTold():
                if event.step:
                    self.waits_for = (
                        "no window yet: e records one" if self._on_demand
                        else "no window yet: the first is on its way; e records one now"
                    )  # fmt: skip
                model.tell(self._source(event.recorder), told_of(event))
            case WindowArrived(window):
                self._windows[window.id] = window
                model.add(shot_of(window, self._source(window.recorder)))
            case WindowsRemoved(windows, reason):
                model.remove(one.id for one in windows)
                for one in windows:
                    self._windows.pop(one.id, None)
                model.note(f"{len(windows)} old windows removed: {reason}")
            case Noted(recorder, text):
                lead = "" if recorder is None else f"{self._source(recorder)}: "
                model.note(f"{lead}{text}")
            case Left(recorder, reason):
                source = self._source(recorder)
                before = model.told.get(source, Told())
                if not self._server.recorders:
                    self.waits_for = f"no window: {reason}"
                model.tell(source, replace(before, phase=reason, active=False, gone=True))
                model.note(f"{source}: {reason}")

    def record(self, steps: int, source: str) -> str:
        """Ask the recorder of a source."""
        asked = self._server.record(steps, recorder=self._id(source))
        if not asked:
            return "no recorder is connected"
        return f"asked for the next {steps} steps" if steps else "asked for a window now"

    def pause(self, source: str) -> str:
        """Pause, and then resume."""
        number = self._id(source)
        if source in self._paused:
            asked, said = self._server.resume(recorder=number), "windows are recorded again"
            self._paused.discard(source)
        else:
            asked = self._server.pause(recorder=number)
            said = "no windows unasked until p is pressed again"
            if asked:
                self._paused.add(source)
        return said if asked else "no recorder is connected"

    def pin(self, shots: set[int]) -> None:
        """Files on the screen stay."""
        self._server.history.pin(shots)

    def hold(self, shot: Shot, document: Document) -> None:
        """In the history, which knows how much memory there is for it."""
        self._server.history.hold(shot.id, document, size_of(document))

    def held(self, shot: Shot) -> Document | None:
        """From the history."""
        found: Document | None = self._server.history.held(shot.id)
        return found

    def save(self, shot: Shot, target: Path) -> None:
        """Out of the history."""
        self._server.history.save(shot.id, target)

    def title_of(self, shot: Shot) -> str:
        """By its number: the header tells its steps as they are recorded."""
        window = self._windows.get(shot.id)
        return "" if window is None else f"window {window.number}"

    def _id(self, source: str) -> int | None:
        recorder = self._recorders.get(source)
        return None if recorder is None else recorder.id

    def _source(self, recorder: Recorder) -> str:
        return self._sources.get(recorder.id) or self._named(recorder)

    def _named(self, recorder: Recorder) -> str:
        """What a recorder is called: with its process, where another one of its rank is here."""
        source = source_of(recorder)
        other = self._recorders.get(source)
        living = {one.id for one in self._server.recorders}
        if other is not None and other.pid != recorder.pid and other.id in living:
            source = f"{source} (process {recorder.pid})"
        self._recorders[source] = recorder
        self._sources[recorder.id] = source
        return source


def source_of(recorder: Recorder) -> str:
    """A recorder in a word or two."""
    return f"process {recorder.pid}" if recorder.rank is None else f"rank {recorder.rank}"


def told_of(event: StateTold) -> Told:
    """A recorder's state in words."""
    phase = _PHASES[event.phase]
    return Told(
        event.failure or phase,
        event.phase in _ACTIVE and not event.failure,
        event.step,
        event.step_us,
        event.dropped,
        event.failure,
    )


def shot_of(window: Window, source: str = "") -> Shot:
    """A window for the strip, of a source that is called as its recorder is unless named."""
    first, last = window.first_step, window.last_step
    label = f"window {window.number}"
    if first is not None and last is not None:
        label = f"step {first}" if first == last else f"steps {first}–{last}"
    return Shot(
        window.id,
        window.path,
        source or source_of(window.recorder),
        label,
        window.file_bytes,
        tuple(_facts(window)),
        window.arrived_ns,
    )


def _facts(window: Window) -> list[str]:
    facts = ["recorded by the program itself"] if window.own else []
    parts = [] if window.cost is None else cost_parts(window.cost)
    if parts:
        facts.append(f"{NAME}: {'; '.join(parts)}")
    return facts


def _introduction(source: str, recorder: Recorder) -> str:
    parts = [f"{source} connected"]
    if recorder.mode:
        parts.append(recorder.mode)
    if recorder.torch:
        parts.append(f"torch {recorder.torch}")
    if recorder.device:
        parts.append(recorder.device)
    return ", ".join(parts)
