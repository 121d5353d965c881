"""Only this user's processes meet, and dead sockets do not stay."""

from __future__ import annotations

import os
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from whichlayer.analysis.live import rendezvous
from whichlayer.analysis.live.rendezvous import (
    RendezvousError,
    armed,
    connect,
    is_alive,
    listen,
    peer_user,
    runtime_folder,
)


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A runtime folder whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


def test_the_folder_and_its_sockets_are_the_users_alone(home: Path) -> None:
    server, path = listen(str(os.getpid()))
    with server:
        assert path.parent == runtime_folder() == home / "whichlayer"
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_programs_that_listen_are_found_and_dead_ones_cleared_away(home: Path) -> None:
    server, path = listen("123")
    gone, left = listen("456")
    gone.close()
    (runtime_folder() / "1x.sock").touch()
    with server:
        assert armed() == {123: path}
    assert not left.exists()


def test_a_name_in_use_is_refused_and_a_dead_one_taken_over(home: Path) -> None:
    server, path = listen("123")
    with server, pytest.raises(RendezvousError, match="another process"):
        listen("123")
    assert path.exists() and not is_alive(path)
    again, _ = listen("123")
    again.close()


def test_the_kernel_says_whose_process_is_at_the_other_end(home: Path) -> None:
    server, path = listen("123")
    with server, connect(path) as peer:
        assert peer_user(peer) in (os.getuid(), None)


def test_another_users_process_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server, path = listen("123")
    monkeypatch.setattr(rendezvous, "peer_user", lambda peer: os.getuid() + 1)
    with server, pytest.raises(RendezvousError, match="another user"):
        connect(path)


def test_a_folder_that_others_reach_is_not_used(home: Path) -> None:
    (home / "whichlayer").mkdir()
    (home / "whichlayer").chmod(0o755)
    with pytest.raises(RendezvousError, match="only this user"):
        runtime_folder()


def test_a_link_is_not_followed(home: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    (home / "whichlayer").symlink_to(tmp_path)
    with pytest.raises(RendezvousError, match="only this user"):
        runtime_folder()


def test_a_long_runtime_folder_gives_way_to_a_short_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    deep = tmp_path / ("x" * 90)
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with server:
        server.bind(str(runtime_folder() / f"test-{os.getpid()}.sock"))
    (runtime_folder() / f"test-{os.getpid()}.sock").unlink()


def test_nobody_there_is_one_line(home: Path) -> None:
    with pytest.raises(RendezvousError) as caught:
        connect(home / "none.sock")
    assert "\n" not in str(caught.value)
