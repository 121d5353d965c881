"""What a program has closed behind our back is none of ours any more, whatever has its number."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from whichlayer.analysis.live.link import Link
from whichlayer.analysis.live.own_descriptor import close_if_same, identity, is_same
from whichlayer.analysis.live.own_socket import OwnSocket
from whichlayer.analysis.live.own_thread import begin_thread
from whichlayer.analysis.live.private_folder import PrivateFolder
from whichlayer.analysis.live.recorder_options import RecorderOptions
from whichlayer.analysis.live.rendezvous import listen
from whichlayer.analysis.live.session import Session


def own_pair() -> tuple[OwnSocket, socket.socket]:
    here, there = socket.socketpair()
    return OwnSocket(here.family, here.type, here.proto, here.detach()), there


@pytest.fixture
def taken() -> Iterator[tuple[OwnSocket, socket.socket]]:
    """A socket of ours whose number is another socket's by now, and that one's other end."""
    ours, there = own_pair()
    here, other = socket.socketpair()
    number = ours.fileno()
    os.dup2(here.fileno(), number)  # as after a close and an open
    other.setblocking(False)
    with there, here, other:
        yield ours, other
        assert is_same(number, identity(here.fileno())), "it stays open"
        os.close(number)


USES: dict[str, Callable[[OwnSocket], object]] = {
    "send": lambda one: one.send(b"x"),
    "sendall": lambda one: one.sendall(b"x" * (3 << 20)),
    "recv": lambda one: one.recv(1),
    "accept": lambda one: one.accept(),
    "shutdown": lambda one: one.shutdown(socket.SHUT_RDWR),
    "settimeout": lambda one: one.settimeout(0.0),
    "setsockopt": lambda one: one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16),
}


@pytest.mark.parametrize("use", USES)
def test_nothing_is_done_to_another_that_has_the_number(
    taken: tuple[OwnSocket, socket.socket], use: str
) -> None:
    ours, other = taken
    with pytest.raises(OSError, match="closed by somebody else"):
        USES[use](ours)
    assert not ours.is_ours
    with pytest.raises(BlockingIOError):
        other.recv(1)


def test_closing_and_forgetting_leave_another_alone(taken: tuple[OwnSocket, socket.socket]) -> None:
    taken[0].close()
    assert taken[0].fileno() == -1


def test_what_is_collected_closes_no_other_and_warns_of_nothing(
    recwarn: pytest.WarningsRecorder,
) -> None:
    ours, there = own_pair()
    number = ours.fileno()
    file = os.open(os.devnull, os.O_RDONLY)
    os.dup2(file, number)
    del ours
    assert is_same(number, identity(file))
    os.close(number)
    os.close(file)
    ours, other = own_pair()
    number = ours.fileno()
    del ours
    assert identity(number) is None, "one of ours is closed"
    assert not [one for one in recwarn if one.category is ResourceWarning]
    there.close()
    other.close()


def test_a_link_whose_number_is_another_s_ends_and_says_nothing_to_it(
    taken: tuple[OwnSocket, socket.socket],
) -> None:
    with pytest.raises(OSError, match="closed by somebody else"):
        Link(taken[0])
    with pytest.raises(BlockingIOError):
        taken[1].recv(1)


def test_a_socket_of_ours_talks_listens_and_closes() -> None:
    server, path = listen("talks")
    with socket.socket(socket.AF_UNIX) as there:
        there.connect(str(path))
        here, _ = server.accept()
        data = bytes(range(256)) * (3 << 13)
        sender = threading.Thread(target=here.sendall, args=(data,))
        sender.start()
        found = bytearray()
        while len(found) < len(data):
            found += there.recv(1 << 20)
        sender.join()
        assert found == data
        here.close()
        assert there.recv(1) == b""
    server.close()
    assert not server.is_ours
    server.close()


def test_a_peer_that_is_gone_sends_no_signal() -> None:
    """Programs that end by SIGPIPE would end with their screen."""
    program = (
        "import signal, socket\n"
        "from whichlayer.analysis.live.own_socket import OwnSocket\n"
        "signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"
        "here, there = socket.socketpair()\n"
        "ours = OwnSocket(fileno=here.detach())\n"
        "there.close()\n"
        "for send in (ours.send, ours.sendall):\n"
        "    try: send(b'x')\n"
        "    except BrokenPipeError: print('told')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"told\ntold\n", b"")


def test_a_folder_s_lock_that_is_another_s_stays_open() -> None:
    folder = PrivateFolder()
    file = os.open(os.devnull, os.O_RDONLY)
    number = folder._lock
    os.dup2(file, number)
    folder.remove()
    assert not folder.path.exists()
    assert is_same(number, identity(file))
    os.close(number)
    os.close(file)


def test_closing_what_is_closed_already_is_silent() -> None:
    number = os.open(os.devnull, os.O_RDONLY)
    noted = identity(number)
    close_if_same(number, noted)
    close_if_same(number, noted)
    close_if_same(-1, None)
    assert identity(number) != noted


def test_what_fails_in_a_thread_is_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[object] = []
    monkeypatch.setattr(threading, "excepthook", printed.append)

    def fails() -> None:
        raise ValueError

    thread = begin_thread(fails, "fails")
    assert thread is not None
    thread.join()
    assert printed == []


def test_a_thread_that_cannot_be_is_told_and_a_link_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    session = Session(RecorderOptions(every=0))
    ours, there = own_pair()
    monkeypatch.setattr(threading.Thread, "start", no_room)
    assert begin_thread(lambda: None, "none") is None
    session._join(ours)
    assert not session.is_watched()
    session._stepped()
    session._meet()
    with there, suppress(OSError):
        assert there.recv(1) == b""


@pytest.mark.parametrize("error", [OSError(9, "closed"), KeyboardInterrupt(), SystemExit(3)])
def test_the_end_of_a_program_raises_nothing_and_is_carried_through(
    monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def fails() -> None:
        raise error

    session = Session(RecorderOptions(every=0))
    session._server, session._path = listen("ends")
    for owner, name in (
        (session.recorder, "close"),
        (session.hooks, "remove"),
        (session, "_leave_screen"),
    ):
        monkeypatch.setattr(owner, name, fails)
    os.close(session._server.fileno())
    path: Path | None = session._path
    session.close()
    assert path is not None and not path.exists()
