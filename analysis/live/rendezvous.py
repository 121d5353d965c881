"""Where recorders and screens of one user find each other: sockets that only this user reaches.

Each armed program listens at ``<runtime folder>/whichlayer/<pid>.sock``; each screen that starts
a program listens at ``screen-<pid>.sock`` there. The folder has mode 0700 and belongs to the user;
whoever connects is asked for its user by the kernel, too.
"""

from __future__ import annotations

import os
import socket
import stat
import struct
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from whichlayer.analysis.live.own_socket import OwnSocket

SOCKET_VARIABLE: Final = "WHICHLAYER_LIVE_SOCKET"
"""Environment variable that tells a recorder which screen to connect to."""

_MOST_PATH: Final = 100
"""Bytes that a Unix socket's path may have on every system (104 on macOS, 108 on Linux)."""


class RendezvousError(Exception):
    """There is no safe place for sockets; the message is one line."""


def runtime_folder() -> Path:
    """The folder for this user's sockets, made if need be.

    ``$XDG_RUNTIME_DIR/whichlayer``; without it ``whichlayer-<uid>`` in the temporary folder.

    Raises:
        RendezvousError: it cannot be made, is a link, or others can reach it.
    """
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    named = Path(base, "whichlayer") if os.path.isabs(base) and os.path.isdir(base) else None
    folder = named or Path(tempfile.gettempdir(), f"whichlayer-{os.getuid()}")
    if len(os.fsencode(folder)) > _MOST_PATH - len("/screen-4194304.sock"):
        folder = Path("/tmp", f"whichlayer-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise RendezvousError(f"{folder}: {error.strerror or error}") from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise RendezvousError(f"{folder}: not a folder that only this user can reach")
    return folder


def listen(name: str) -> tuple[OwnSocket, Path]:
    """Listen at a name in the runtime folder; a socket that nobody listens at is replaced.

    Raises:
        RendezvousError: the name is taken by a living process, or cannot be used.
    """
    path = runtime_folder() / f"{name}.sock"
    if path.exists() and is_alive(path):
        raise RendezvousError(f"{path}: another process listens there")
    server = OwnSocket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with suppress(FileNotFoundError):
            path.unlink()
        before = os.umask(0o177)
        try:
            server.bind(str(path))
        finally:
            os.umask(before)
        server.listen(16)
    except OSError as error:
        server.close()
        raise RendezvousError(f"{path}: {error.strerror or error}") from error
    return server, path


def is_alive(path: Path) -> bool:
    """Whether anybody listens at a socket."""
    with OwnSocket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.settimeout(1.0)
            probe.connect(str(path))
        except OSError:
            return False
    return True


def connect(path: Path | str, timeout: float = 5.0) -> OwnSocket:
    """Connect to a socket of this user.

    Raises:
        RendezvousError: nobody listens there, or somebody else does.
    """
    peer = OwnSocket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        peer.settimeout(timeout)
        peer.connect(str(path))
    except OSError as error:
        peer.close()
        raise RendezvousError(f"{path}: {error.strerror or error}") from error
    if not is_same_user(peer):
        peer.close()
        raise RendezvousError(f"{path}: belongs to another user")
    return peer


def is_same_user(peer: socket.socket) -> bool:
    """Whether the process at the other end runs as this user (root may look at everybody's)."""
    user = peer_user(peer)
    return user is None or user in (os.getuid(), 0)


def peer_user(peer: socket.socket) -> int | None:
    """The user of the process at the other end; None where the system does not tell.

    The mode of folder and socket keep others out there already.
    """
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return None
    credentials = peer.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i"))
    _, user, _ = struct.unpack("3i", credentials)
    return int(user)


def armed() -> dict[int, Path]:
    """The programs of this user that listen, by process; sockets that nobody listens at go."""
    found = {}
    for path in sorted(runtime_folder().glob("*.sock")):
        if not is_alive(path):
            with suppress(OSError):
                path.unlink()
        elif path.stem.isdecimal():
            found[int(path.stem)] = path
    return found
