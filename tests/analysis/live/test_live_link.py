"""A screen that takes nothing costs windows, never the program's time."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from tests.support.live_peer import PATIENCE, hello, window
from whichlayer.analysis.live import link as link_module
from whichlayer.analysis.live.link import Link
from whichlayer.analysis.live.protocol import FROM_RECORDER, Message, Phase, receive, send
from whichlayer.analysis.live.recorder import Recorder
from whichlayer.analysis.live.recorder_options import RecorderOptions

LARGE = window(b"x" * (8 << 20))


class Nowhere:
    """An outlet that nobody listens at."""

    def post(self, message: Message) -> None:
        pass

    def offer(self, make: Callable[[], Message | None]) -> bool:
        return False


@pytest.fixture
def recorder() -> Recorder:
    return Recorder(RecorderOptions(), Nowhere())


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    here, there = socket.socketpair()
    there.settimeout(PATIENCE)
    with here, there:
        yield here, there


def opened(recorder: Recorder, peer: socket.socket, gone: Callable[[], None]) -> Link:
    link = Link(peer)
    link.open(recorder, hello(), gone)
    return link


def test_windows_that_find_no_room_are_refused_at_once(
    recorder: Recorder, ends: tuple[socket.socket, socket.socket]
) -> None:
    gone = threading.Event()
    link = opened(recorder, ends[0], gone.set)
    taken = [link.offer(lambda: LARGE) for _ in range(20)]
    assert sum(taken) <= 3  # one that is being sent, two that wait
    assert not taken[-1]
    link.close(0.1)
    assert gone.wait(PATIENCE)
    assert recorder.dropped >= 1, "those that waited in vain are counted"
    assert not link.offer(lambda: LARGE)


def test_a_screen_that_reads_nothing_is_given_up(
    recorder: Recorder,
    ends: tuple[socket.socket, socket.socket],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(link_module, "_SEND_SECONDS", 1)
    gone = threading.Event()
    opened(recorder, ends[0], gone.set).offer(lambda: LARGE)
    assert gone.wait(PATIENCE)


def test_what_waits_is_sent_before_the_end(
    recorder: Recorder, ends: tuple[socket.socket, socket.socket]
) -> None:
    link = opened(recorder, ends[0], lambda: None)
    small = window(b"trace")
    link.offer(lambda: small)
    link.close(PATIENCE, Message("bye", {"reason": "done"}))
    messages = iter(lambda: receive(ends[1], FROM_RECORDER), None)
    said = [message for message in messages if message.kind != "state"]
    assert [message.kind for message in said] == ["hello", "window", "bye"]


def test_a_process_does_not_end_while_a_window_is_made(
    recorder: Recorder, ends: tuple[socket.socket, socket.socket]
) -> None:
    began, go, done = threading.Event(), threading.Event(), threading.Event()

    def make() -> None:
        began.set()
        go.wait(PATIENCE)
        done.set()

    link = opened(recorder, ends[0], lambda: None)
    link.offer(make)
    began.wait(PATIENCE)
    closer = threading.Thread(target=link.close, args=(0.0,))
    closer.start()
    assert closer.is_alive()
    go.set()
    closer.join(PATIENCE)
    assert done.is_set()


def test_a_screen_asks_for_windows_and_leaves(
    recorder: Recorder, ends: tuple[socket.socket, socket.socket]
) -> None:
    gone = threading.Event()
    opened(recorder, ends[0], gone.set)
    for kind in ("join", "pause", "detach"):
        send(ends[1], Message(kind))
    assert gone.wait(PATIENCE)
    assert recorder.phase is Phase.PAUSED


@pytest.mark.parametrize("nonsense", [b"\x00" * 64, b"WLv1" + b"\xff" * 60])
def test_a_screen_that_talks_nonsense_is_left(
    recorder: Recorder, ends: tuple[socket.socket, socket.socket], nonsense: bytes
) -> None:
    gone = threading.Event()
    opened(recorder, ends[0], gone.set)
    ends[1].sendall(nonsense)
    assert gone.wait(PATIENCE)
