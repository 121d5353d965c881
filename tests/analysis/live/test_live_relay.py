"""A program is reached over TCP only on the loopback device and only with the token."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from tests.support.live_peer import PATIENCE, hello, wait_for
from whichlayer.analysis.live.events import Joined
from whichlayer.analysis.live.history import History
from whichlayer.analysis.live.protocol import FROM_SCREEN, Message, receive, send
from whichlayer.analysis.live.relay import Relay, RelayError, connect_to_relay
from whichlayer.analysis.live.server import LiveServer


class Program:
    """What the relay connects to: the other ends of its connections."""

    def __init__(self) -> None:
        self.ends: list[socket.socket] = []

    def connect(self) -> socket.socket:
        here, there = socket.socketpair()
        there.settimeout(PATIENCE)
        self.ends.append(there)
        return here


@pytest.fixture
def program() -> Program:
    return Program()


@pytest.fixture
def relay(program: Program) -> Iterator[Relay]:
    made = Relay("127.0.0.1", 0, program.connect)
    thread = threading.Thread(target=made.serve)
    thread.start()
    yield made
    made.close()
    thread.join()


def test_a_screen_with_the_token_talks_to_the_program(relay: Relay, program: Program) -> None:
    server = LiveServer(History())
    server.join(connect_to_relay("127.0.0.1", relay.port, relay.token))
    while not program.ends:
        threading.Event().wait(0.01)
    assert receive(program.ends[0], FROM_SCREEN) == Message("join")
    send(program.ends[0], hello(pid=11))
    assert wait_for(server, Joined).recorder.pid == 11
    server.close()
    assert receive(program.ends[0], FROM_SCREEN) == Message("detach")
    assert receive(program.ends[0], FROM_SCREEN) is None


@pytest.mark.parametrize("token", ["", "x", "ä" * 32])
def test_without_the_token_nobody_reaches_the_program(
    relay: Relay, program: Program, token: str
) -> None:
    with connect_to_relay("127.0.0.1", relay.port, token) as peer:
        peer.settimeout(PATIENCE)
        assert peer.recv(1) == b""
    with socket.create_connection(("127.0.0.1", relay.port), PATIENCE) as peer:
        peer.sendall(b"GET / HTTP/1.1\r\n\r\n")
        try:
            assert peer.recv(1) == b""
        except ConnectionResetError:
            pass  # it has not read all of that
    assert program.ends == []


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", ""])
def test_only_the_loopback_device_is_listened_on(host: str, program: Program) -> None:
    with pytest.raises(RelayError, match=r"loopback|not an address"):
        Relay(host, 0, program.connect)


def test_a_port_that_is_taken_is_one_line(relay: Relay, program: Program) -> None:
    with pytest.raises(RelayError, match="in use"):
        Relay("127.0.0.1", relay.port, program.connect)


def test_tokens_are_long_and_each_relay_has_its_own(relay: Relay, program: Program) -> None:
    other = Relay("127.0.0.1", 0, program.connect)
    other.close()
    assert len(relay.token) >= 32
    assert relay.token != other.token
