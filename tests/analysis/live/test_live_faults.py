"""Faults beside a program: it ends and prints as without us, and nothing of ours is left or open.

After each fault its exit status, its output, files, sockets and open descriptors are looked at.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.analysis.live.test_live_programs import TRAINING, script
from tests.support.live_peer import PATIENCE, left_over
from whichlayer.analysis.live.child import recorder_environment
from whichlayer.analysis.live.protocol import FROM_RECORDER, MAGIC, Message, receive, send
from whichlayer.analysis.live.recorder_options import RecorderOptions
from whichlayer.analysis.live.rendezvous import armed, listen

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="records with torch"),
    pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors as Linux lists them"),
]

RECORDS = RecorderOptions(window=4, every=8)
LONG = RecorderOptions(window=1000, every=1001)

PROGRAM = """
    import os, pathlib

    def opened():
        links = []
        for one in os.listdir("/proc/self/fd"):
            try:
                links.append(os.readlink(f"/proc/self/fd/{one}").split(":")[0])
            except OSError:
                pass
        return sorted(links)

    before = opened()
    stop, number = pathlib.Path(sys.argv[1]), 0
    while not stop.exists() and number < 20000:
        step(0.005)
        number += 1
    for _ in range(12):
        step(0.01)
    ends = time.monotonic() + float(sys.argv[2])  # our threads close what they have
    while len(opened()) > len(before) + 1 and time.monotonic() < ends:
        time.sleep(0.01)
    more = opened()
    for one in before:
        more.remove(one)
    print("steps", number > 0, more, flush=True)
    sys.exit(3)
"""
"""Ends with what is open that was not before: the socket at which others may join it."""


class Screen:
    """A screen's socket, and what has come at it."""

    def __init__(self) -> None:
        self.last = Message("hello")
        self.server, self.path = listen("screen-1")
        self.server.settimeout(PATIENCE)

    def meet(self, *, begun: bool = True) -> socket.socket:
        """The recorder that connects, welcomed, once it has told of a window, or of one that is lost.

        Args:
            begun: a window that is being recorded is enough.
        """
        peer, _ = self.server.accept()
        peer.settimeout(PATIENCE)
        send(peer, Message("join"))
        while (message := receive(peer, FROM_RECORDER)) is not None:
            recording = begun and message.fields.get("phase") == "recording"
            if recording or message.kind == "window" or "is lost" in message.text("text"):
                self.last = message
                return peer
        raise AssertionError("the recorder has left")

    def close(self) -> None:
        self.server.close()
        with suppress(OSError):
            self.path.unlink()


@contextmanager
def watched(
    folder: Path,
    screen: Screen,
    *bodies: str,
    patience: float = 60.0,
    options: RecorderOptions = RECORDS,
) -> Iterator[Callable[[], bytes]]:
    """A program under a screen; what ends it and returns what it printed."""
    path, stop = script(folder, *bodies, TRAINING, PROGRAM), folder / "stop"
    program = subprocess.Popen(
        [sys.executable, str(path), str(stop), str(patience)],
        env=recorder_environment(os.environ, screen.path, options),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip

    def ended() -> bytes:
        stop.touch()
        out, err = program.communicate(timeout=4 * PATIENCE)
        assert (program.returncode, err) == (3, b"")
        return out

    try:
        yield ended
    finally:
        if program.poll() is None:
            program.kill()
        program.communicate()


def closes(peer: socket.socket) -> None:
    """As the system does for a screen that is killed."""
    peer.close()


def resets(peer: socket.socket) -> None:
    """A screen that ends with something unread."""
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()


def talks_nonsense(peer: socket.socket) -> None:
    peer.sendall(b"GET / HTTP/1.1\r\n\r\n" + bytes(range(256)))


def announces_too_much(peer: socket.socket) -> None:
    peer.sendall(struct.pack(">4sIQ", MAGIC, (1 << 32) - 1, (1 << 64) - 1))


def announces_a_payload(peer: socket.socket) -> None:
    head = b'{"kind": "record", "steps": 1}'
    peer.sendall(struct.pack(">4sIQ", MAGIC, len(head), 1 << 40) + head)


def sends_what_only_recorders_send(peer: socket.socket) -> None:
    send(peer, Message("hello", {"pid": 1}))


def sends_no_object(peer: socket.socket) -> None:
    peer.sendall(struct.pack(">4sIQ", MAGIC, 5, 0) + b"[[[[[")


def stops_in_a_message(peer: socket.socket) -> None:
    peer.sendall(MAGIC + b"\0\0")
    peer.shutdown(socket.SHUT_WR)


FAULTS = [
    closes, resets, talks_nonsense, announces_too_much, announces_a_payload,
    sends_what_only_recorders_send, sends_no_object, stops_in_a_message,
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_whatever_a_screen_does_in_a_window_the_program_ends_as_it_would(
    tmp_path: Path, fault: Callable[[socket.socket], None]
) -> None:
    screen = Screen()
    with watched(tmp_path, screen) as ended:
        peer = screen.meet()
        fault(peer)
        out = ended()
        peer.close()
    screen.close()
    assert out == b"steps True ['socket']\n"
    assert left_over() == []


def test_a_screen_whose_socket_is_removed_still_gets_its_windows(tmp_path: Path) -> None:
    screen = Screen()
    with watched(tmp_path, screen) as ended:
        peer = screen.meet()
        screen.path.unlink()
        (own,) = armed().values()
        own.unlink()
        while (message := receive(peer, FROM_RECORDER)) is not None and message.kind != "window":
            pass
        peer.close()
        out = ended()
    screen.close()
    assert message is not None and message.payload
    assert out == b"steps True ['socket']\n"
    assert left_over() == []


def test_a_screen_that_reads_nothing_holds_nobody_up(tmp_path: Path) -> None:
    screen = Screen()
    with watched(tmp_path, screen, patience=0.0) as ended:
        peer = screen.meet()
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        out = ended()  # it is still connected: its own socket, and that to the screen
        peer.close()
    screen.close()
    assert out == b"steps True ['socket', 'socket']\n"
    assert left_over() == []


@pytest.mark.parametrize("way", ["a file system that is full", "a limit on files"])
def test_a_full_temporary_folder_loses_windows_and_nothing_else(
    tmp_path: Path, own_folders: Path, way: str
) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"
    place = own_folders / "tmp"
    full = way.startswith("a file system")
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if full and subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can make a file system that is full")
    screen = Screen()
    try:
        with watched(tmp_path, screen, "" if full else limit) as ended:
            peer = screen.meet(begun=False)
            peer.close()
            out = ended()
        screen.close()
        assert "disk full" in screen.last.text("text"), screen.last
        assert out == b"steps True ['socket']\n"
        assert left_over() == []
    finally:
        if full:
            subprocess.run(["umount", str(place)], check=True)


def test_a_killed_screen_leaves_nothing_that_the_next_one_does_not_remove(tmp_path: Path) -> None:
    """A process of its own, with a folder for windows, killed while one is recorded."""
    (tmp_path / "host").mkdir()
    hosts = script(
        tmp_path / "host",
        """
        from whichlayer.analysis.live.events import StateTold
        from whichlayer.analysis.live.history import History
        from whichlayer.analysis.live.private_folder import PrivateFolder
        from whichlayer.analysis.live.protocol import Phase
        from whichlayer.analysis.live.server import LiveServer
        server = LiveServer(History())
        print(server.listen(), flush=True)
        kept = PrivateFolder()  # as where windows have come, and no shell could remove them
        while True:
            event = server.events.get()
            if isinstance(event, StateTold) and event.phase is Phase.RECORDING:
                print("inside a window", flush=True)
        """,
    )
    host = subprocess.Popen([sys.executable, str(hosts)], stdout=subprocess.PIPE)
    assert host.stdout is not None
    screen = Screen()
    screen.close()
    screen.path = Path(host.stdout.readline().decode().strip())
    with watched(tmp_path, screen, options=LONG) as ended:
        assert host.stdout.readline() == b"inside a window\n"
        host.send_signal(signal.SIGKILL)
        host.communicate()
        out = ended()
    assert out == b"steps True ['socket']\n"
    assert len(left_over()) == 2, "the socket of the killed one, and its windows"
    attach = [sys.executable, "-m", "whichlayer", "attach"]
    assert (
        b"no program can be joined"
        in subprocess.run(attach, capture_output=True, check=True).stdout
    )
    assert left_over() == []
