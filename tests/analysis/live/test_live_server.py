"""What recorders send arrives as events, and what a peer does wrong ends its connection alone."""

from __future__ import annotations

import gzip
import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.live_peer import (
    PATIENCE,
    every_event,
    hello,
    left_over,
    peer_of,
    wait_for,
    window,
)
from whichlayer.analysis import load
from whichlayer.analysis.live import server as server_module
from whichlayer.analysis.live.events import (
    Joined,
    Left,
    Noted,
    StateTold,
    WindowArrived,
    WindowsRemoved,
)
from whichlayer.analysis.live.history import History
from whichlayer.analysis.live.protocol import FROM_SCREEN, Message, Phase, encoded, receive, send
from whichlayer.analysis.live.rendezvous import is_alive
from whichlayer.analysis.live.server import LiveServer

TRACE = b'{"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 1, "pid": 1, "tid": 1}]}'


@pytest.fixture
def server() -> Iterator[LiveServer]:
    made = LiveServer(History())
    made.path = made.listen()  # type: ignore[attr-defined]
    yield made
    made.close()
    assert left_over() == []


def at(server: LiveServer) -> Path:
    path = server.path  # type: ignore[attr-defined]
    assert isinstance(path, Path)
    return path


def test_a_recorder_joins_tells_its_state_and_leaves(server: LiveServer) -> None:
    state = Message("state", {"phase": "recording", "step": 4, "step_us": [9, "x", -1, 8]})
    with peer_of(
        at(server), hello(rank=3, world_size=8), state, Message("note", {"text": "a\x1bb"})
    ):
        assert wait_for(server, Joined).recorder.rank == 3
        told = wait_for(server, StateTold)
        assert (told.phase, told.step, told.step_us) == (Phase.RECORDING, 4, (9, 8))
        assert wait_for(server, Noted).text == r"a\x1bb"
        assert [one.rank for one in server.recorders] == [3]
    assert wait_for(server, Left).reason == "the connection has ended"
    assert server.recorders == ()


def test_a_window_can_be_loaded_from_where_it_was_put(server: LiveServer) -> None:
    with peer_of(at(server), hello(), window(TRACE, overhead_ns=5, export_ns=6)):
        arrived = wait_for(server, WindowArrived).window
    assert arrived.path.name == "rank0_window0001_steps3-5.json.gz"
    assert (arrived.trace_bytes, arrived.overhead_ns, arrived.export_ns) == (len(TRACE), 5, 6)
    assert arrived.file_bytes == arrived.path.stat().st_size
    assert gzip.decompress(arrived.path.read_bytes()) == TRACE
    assert len(load(arrived.path)) == 1
    assert (
        arrived.path.stat().st_mode & 0o077 == 0 or arrived.path.parent.stat().st_mode & 0o077 == 0
    )


def test_a_window_that_is_compressed_already_is_not_compressed_again(server: LiveServer) -> None:
    with peer_of(at(server), hello(), window(gzip.compress(TRACE), own=True, first_step=None)):
        arrived = wait_for(server, WindowArrived).window
    assert arrived.own
    assert arrived.path.name == "rank0_window0001_own.json.gz"
    assert len(load(arrived.path)) == 1


def test_commands_reach_the_rank_that_is_meant(server: LiveServer) -> None:
    with peer_of(at(server), hello(rank=0)) as zero, peer_of(at(server), hello(rank=1)) as one:
        wait_for(server, Joined)
        wait_for(server, Joined)
        assert server.record(4, rank=1) == 1
        assert server.pause() == 2
        said = [receive(peer, FROM_SCREEN) for peer in (one, one, one, zero, zero)]
    kinds = [message.kind if message is not None else None for message in said]
    assert kinds == ["join", "record", "pause", "join", "pause"]
    assert said[1] is not None
    assert said[1].number("steps") == 4


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n" + b"x" * 100,
        struct.pack(">4sIQ", b"WLv1", 2, 1 << 62) + b"{}",
        struct.pack(">4sIQ", b"WLv1", 3, 0) + b"[1]",
        encoded(Message("record")),
        encoded(Message("hello"))[:-1],
    ],
)
def test_a_peer_that_talks_nonsense_is_refused_and_others_go_on(
    server: LiveServer, data: bytes
) -> None:
    with peer_of(at(server), hello()) as good:
        wait_for(server, Joined)
        with peer_of(at(server)) as bad:
            bad.sendall(data)
            bad.shutdown(socket.SHUT_WR)
            assert "refused" in wait_for(server, Noted, lambda one: one.recorder is None).text
        send(good, window(TRACE))
        wait_for(server, WindowArrived)


def test_whoever_looks_whether_a_screen_is_there_is_no_news(server: LiveServer) -> None:
    assert is_alive(at(server))
    with peer_of(at(server), hello()):
        assert isinstance(server.events.get(timeout=PATIENCE), Joined)


def test_an_oversized_window_ends_its_connection_before_it_is_read() -> None:
    server = LiveServer(History(), most_payload=1000)
    with peer_of(server.listen(), hello()) as peer:
        peer.sendall(struct.pack(">4sIQ", b"WLv1", 18, 1001) + b'{"kind": "window"}')
        assert "too large" in wait_for(server, Left).reason
    server.close()


def test_a_window_that_is_cut_off_leaves_nothing(server: LiveServer) -> None:
    data = encoded(window(b"x" * 1000)) + b"x" * 500
    with peer_of(at(server), hello()) as peer:
        assert receive(peer, FROM_SCREEN) == Message("join")
        peer.sendall(data)
    assert "500 of 1000" in wait_for(server, Left).reason
    assert [path.name for path in server.history.folder().iterdir()] == ["in-use"]


def test_a_peer_that_stops_in_the_middle_of_a_window_is_given_up(
    server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "_STALL_SECONDS", 1)
    with peer_of(at(server), hello()) as peer:
        peer.sendall(encoded(window(b"x" * 1000)) + b"x" * 500)
        assert "stopped" in wait_for(server, Left).reason
    assert [path.name for path in server.history.folder().iterdir()] == ["in-use"]


def test_a_peer_that_reads_nothing_never_blocks_the_server(server: LiveServer) -> None:
    with peer_of(at(server), hello()):
        wait_for(server, Joined)
        for _ in range(100_000):
            if not server.record(3):
                break
        else:
            raise AssertionError("a peer that reads nothing was never given up")
        wait_for(server, Left)


def test_another_user_is_refused(server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "is_same_user", lambda peer: False)
    # Nobody reads what it says: it is cut off while it speaks, or when it listens.
    with (
        pytest.raises((BrokenPipeError, ConnectionResetError)),
        peer_of(at(server), hello()) as peer,
    ):
        peer.recv(1)
    assert "another user" in wait_for(server, Noted).text
    assert server.recorders == ()


def test_a_full_disk_loses_the_window_and_not_the_recorder(
    server: LiveServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: History) -> Path:
        raise OSError(28, "No space left on device")

    with peer_of(at(server), hello()) as peer, monkeypatch.context() as broken:
        broken.setattr(History, "folder", full)
        send(peer, window(TRACE))
        assert "No space left" in wait_for(server, Noted).text
        broken.undo()
        send(peer, window(TRACE))
        wait_for(server, WindowArrived)


def test_the_oldest_windows_make_room_and_that_is_told() -> None:
    server = LiveServer(History(most_disk_bytes=400))
    with peer_of(server.listen(), hello()) as peer:
        first = os.urandom(150)
        for number in range(4):
            send(peer, window(first + bytes(number)))
        removed = wait_for(server, WindowsRemoved)
    assert removed.windows[0].id == 1
    assert not removed.windows[0].path.exists()
    assert removed.windows[0] not in server.history.windows()
    server.close()


def test_closing_says_goodbye_and_leaves_nothing(server: LiveServer) -> None:
    with peer_of(at(server), hello()) as peer:
        wait_for(server, Joined)
        server.close()
        kinds = [message.kind for message in iter(lambda: receive(peer, FROM_SCREEN), None)]
    assert kinds == ["join", "detach"]
    assert left_over() == []
    assert not [one for one in every_event(server) if isinstance(one, WindowArrived)]


def test_descriptors_are_given_back(server: LiveServer) -> None:
    def count() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = count()
    for _ in range(20):
        with peer_of(at(server), hello(), window(TRACE)):
            wait_for(server, WindowArrived)
        wait_for(server, Left)
    assert count() <= before + 2  # the lock of the private folder
