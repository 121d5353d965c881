"""The simulated training speaks to a screen as any recorder does."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from whichlayer.analysis import analyse, load
from whichlayer.analysis.live.events import Event, Left, WindowArrived
from whichlayer.analysis.live.history import History
from whichlayer.analysis.live.protocol import Message, send
from whichlayer.analysis.live.server import LiveServer
from whichlayer.tui.live.demo_program import SCRIPT, DemoTraining, recording, renumbered
from whichlayer.tui.live.model import LiveModel
from whichlayer.tui.live.server_feed import ServerFeed

#: What the windows of each phase show: the verdict and the first finding.
SHOWS = {
    "loader": ("above-cuda", "dataloader-wait"),
    "fixed": ("healthy", None),
    "sync": ("above-cuda", "python-overhead"),
    "pageable": ("above-cuda", "h2d-pageable"),
}


@pytest.fixture
def server() -> Iterator[LiveServer]:
    server = LiveServer(History())
    yield server
    server.close()


def trained(server: LiveServer, steps: int) -> list[Event]:
    """All events of a training of so many steps, which takes no time."""
    ours, theirs = socket.socketpair()
    server.join(ours)
    training = DemoTraining(theirs, pause=lambda seconds: None)
    thread = threading.Thread(target=training.run, args=(steps,), daemon=True)
    thread.start()
    events: list[Event] = []
    while not events or not isinstance(events[-1], Left):
        try:
            events.append(server.events.get(timeout=30))
        except queue.Empty:
            raise AssertionError(f"no end of the training: {events}") from None
    thread.join()
    theirs.close()
    return events


def test_windows_come_through_the_server_with_steps_that_go_on(
    server: LiveServer, capsys: pytest.CaptureFixture[str]
) -> None:
    events = trained(server, 100)
    windows = [event.window for event in events if isinstance(event, WindowArrived)]
    assert [(one.first_step, one.last_step) for one in windows] == [(4, 5), (47, 48), (90, 91)]
    trace = load(str(windows[1].path))
    assert [step.number for step in trace.steps] == [47, 48]
    assert "loss" in capsys.readouterr().out

    model, feed = LiveModel(), ServerFeed(server, "")
    for event in events:
        feed.apply(model, event)
    assert [shot.label for shot in model.line] == ["steps 4–5", "steps 47–48", "steps 90–91"]
    assert feed.name.startswith("train.py") and model.now.gone
    assert feed.title_of(model.line[1]) == "window 2"


def test_a_screen_that_was_silent_for_longer_than_connecting_may_take_is_still_heard() -> None:
    ours, theirs = socket.socketpair()
    theirs.settimeout(0.01)
    training = DemoTraining(theirs)
    listener = threading.Thread(target=training._listen, daemon=True)
    listener.start()
    listener.join(0.2)
    assert listener.is_alive()
    send(ours, Message("pause", {}))
    ours.close()
    listener.join(30)
    theirs.close()
    assert training._asked.paused and not listener.is_alive()


@pytest.mark.parametrize("phase", sorted(SHOWS))
def test_each_phase_shows_the_problem_that_it_is_about(phase: str, tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    path.write_bytes(recording(phase))
    analysis = analyse(load(str(path)))
    first = analysis.findings[0].rule if analysis.findings else None
    assert (analysis.verdict.side, first) == SHOWS[phase]


def test_the_script_holds_every_phase_and_begins_with_the_problem() -> None:
    assert {name for name, _, _ in SCRIPT} == set(SHOWS)
    assert SCRIPT[0][0] == "loader"


def test_steps_are_counted_on() -> None:
    trace = b'{"name": "ProfilerStep#3"}, {"name": "ProfilerStep#4"}'
    assert renumbered(trace, 120) == b'{"name": "ProfilerStep#120"}, {"name": "ProfilerStep#121"}'
