"""Sockets inside a program that may close them behind our back, see ``own_descriptor.py``."""

from __future__ import annotations

import errno
import socket
from contextlib import suppress
from typing import Any, Final

from whichlayer.analysis.live.own_descriptor import identity, is_same

_PIECE: Final = 1 << 20

_QUIETLY: Final = getattr(socket, "MSG_NOSIGNAL", 0)
"""A peer that is gone is an error: where the program has SIGPIPE as it was, it would end by it."""


class OwnSocket(socket.socket):
    """A socket that uses its descriptor only as long as it is its own, and closes in silence."""

    def __init__(
        self,
        family: socket.AddressFamily | int = -1,
        type: socket.SocketKind | int = -1,
        proto: int = -1,
        fileno: int | None = None,
    ) -> None:
        """As ``socket.socket``; what the descriptor stands for is noted."""
        super().__init__(family, type, proto, fileno)
        self._noted = identity(self.fileno())

    def __del__(self) -> None:
        # That of the base class closes whatever has the number now, and may print a warning.
        with suppress(Exception):
            self.close()

    @property
    def is_ours(self) -> bool:
        """Whether it is open, and its descriptor still stands for what was opened."""
        return is_same(self.fileno(), self._noted)

    def accept(self) -> tuple[OwnSocket, Any]:
        """As the base class, for a socket of this kind."""
        self._claim()
        peer, address = super().accept()
        return OwnSocket(peer.family, peer.type, peer.proto, peer.detach()), address

    def recv(self, bufsize: int, flags: int = 0, /) -> bytes:
        """As the base class."""
        self._claim()
        return super().recv(bufsize, flags)

    def send(self, data: Any, flags: int = 0, /) -> int:
        """As the base class, but never a signal."""
        self._claim()
        return super().send(data, flags | _QUIETLY)

    def sendall(self, data: Any, flags: int = 0, /) -> None:
        """As the base class, but never a signal; looked after from piece to piece."""
        with memoryview(data) as whole:
            for start in range(0, len(whole), _PIECE):
                self._claim()
                super().sendall(whole[start : start + _PIECE], flags | _QUIETLY)

    def settimeout(self, value: float | None, /) -> None:
        """As the base class."""
        self._claim()
        super().settimeout(value)

    def setsockopt(self, *arguments: Any) -> None:
        """As the base class."""
        self._claim()
        super().setsockopt(*arguments)

    def shutdown(self, how: int, /) -> None:
        """As the base class."""
        self._claim()
        super().shutdown(how)

    def close(self) -> None:
        """Close it, or forget it where its number is another's; never fails."""
        if self.is_ours:
            with suppress(OSError):
                super().close()
        else:
            self.detach()

    def _claim(self) -> None:
        if not self.is_ours:
            self.detach()
            raise OSError(errno.EBADF, "closed by somebody else")
