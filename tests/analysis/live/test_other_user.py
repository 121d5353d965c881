"""A process of another user, a real one, reaches neither a screen nor a program of ours."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.live_peer import every_event, left_over, peer_of, wait_for
from whichlayer.analysis.live.events import Noted
from whichlayer.analysis.live.history import History
from whichlayer.analysis.live.protocol import Message
from whichlayer.analysis.live.recorder_options import RecorderOptions
from whichlayer.analysis.live.rendezvous import (
    RendezvousError,
    connect,
    listen,
    runtime_folder,
)
from whichlayer.analysis.live.server import LiveServer
from whichlayer.analysis.live.session import Session

NOBODY = 65534
REACHED, CLOSED, DENIED = 0, 3, 4

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user"),
    pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel as Linux answers"),
]


def as_nobody(act: Callable[[], int]) -> int:
    """What a process of another user returns, which has nothing else of ours."""
    pid = os.fork()
    if pid == 0:
        status = 99
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            status = act()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def knocks(path: Path) -> Callable[[], int]:
    """Connects and waits to be spoken to: what came of it."""

    def knock() -> int:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            peer.settimeout(30)
            try:
                peer.connect(str(path))
                return REACHED if peer.recv(1) else CLOSED
            except PermissionError:
                return DENIED
            except ConnectionError:
                return CLOSED

    return knock


@contextmanager
def careless(path: Path) -> Iterator[None]:
    """Somebody has opened the way to a socket to all users, one folder after the other."""
    opened = [path, *path.parents]
    before = [(one, one.stat().st_mode & 0o7777) for one in opened if one != Path("/")]
    for one, mode in before:
        one.chmod(mode | (0o666 if one == path else 0o711))
    try:
        yield
    finally:
        for one, mode in before:
            if one.exists():
                one.chmod(mode)


@pytest.fixture
def home(own_folders: Path) -> Path:
    return own_folders


def test_the_mode_of_the_folder_keeps_another_user_from_the_socket(home: Path) -> None:
    server = LiveServer(History())
    path = server.listen()
    assert as_nobody(knocks(path)) == DENIED
    server.close()
    assert list(every_event(server)) == [] and left_over() == []


def test_a_screen_refuses_another_user_who_reaches_its_socket_and_goes_on(home: Path) -> None:
    server = LiveServer(History())
    path = server.listen()
    with careless(path):
        assert as_nobody(knocks(path)) == CLOSED
    assert "another user was refused" in wait_for(server, Noted).text
    assert server.recorders == ()
    with peer_of(path) as ours:
        assert ours.recv(1), "one of ours is spoken to"
    server.close()
    assert left_over() == []


def test_a_program_refuses_another_user_who_reaches_its_socket(home: Path) -> None:
    session = Session(RecorderOptions(every=0))
    session._meet()
    assert session._path is not None

    def looks() -> int:
        from whichlayer.analysis.live.protocol import send

        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            peer.settimeout(30)
            try:
                peer.connect(str(session._path))
                send(peer, Message("look"))
                return REACHED if peer.recv(1) else CLOSED
            except ConnectionError:
                return CLOSED

    with careless(session._path):
        assert as_nobody(looks) == CLOSED
    assert looks() == REACHED, "a process of ours is answered"
    session.close()
    assert left_over() == []


def test_a_socket_of_another_user_is_not_spoken_to(home: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="wl", dir="/tmp") as folder:
        os.chown(folder, NOBODY, NOBODY)
        path = Path(folder, "4711.sock")
        ready, told = os.pipe()

        def listens() -> int:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
                server.bind(str(path))
                server.listen()
                os.write(told, b"1")
                peer, _ = server.accept()
                peer.settimeout(30)
                return REACHED if peer.recv(1) else CLOSED

        pid = os.fork()
        if pid == 0:
            os._exit(as_nobody(listens))
        os.read(ready, 1)
        with pytest.raises(RendezvousError, match="belongs to another user"):
            connect(path)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == CLOSED
        for one in (ready, told):
            os.close(one)


def test_a_folder_of_another_user_in_the_place_of_ours_is_not_used(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a temporary folder that all users share: whoever comes first takes the name."""
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    taken = Path(tempfile.gettempdir(), f"whichlayer-{os.getuid()}")
    taken.mkdir(mode=0o700)
    os.chown(taken, NOBODY, NOBODY)
    with pytest.raises(RendezvousError, match="only this user can reach"):
        runtime_folder()
    with pytest.raises(RendezvousError):
        listen("123")
    assert list(taken.iterdir()) == []
    os.chown(taken, 0, 0)
