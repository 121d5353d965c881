"""An armed program's socket, reachable over TCP on the loopback device alone: for ``ssh -L``.

Every user of this machine reaches the loopback device, so whoever connects has to name a token that is
made for this relay, and is compared in constant time.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from whichlayer.analysis.live.protocol import Message, ProtocolError, receive, send

TOKEN_VARIABLE: Final = "WHICHLAYER_LIVE_TOKEN"
"""Environment variable from which a screen takes the token."""

_TOKEN_SECONDS: Final = 10.0
_MOST_CONNECTIONS: Final = 16
_PIECE: Final = 1 << 16


class RelayError(Exception):
    """There is no such relay, or it may not be; the message is one line."""


class Relay:
    """Listens on a TCP port and connects whoever knows the token to a program."""

    def __init__(self, host: str, port: int, connect: Callable[[], socket.socket]) -> None:
        """Listen.

        Args:
            host: an address of the loopback device.
            port: 0 for a free one.
            connect: a new connection to the program; raises where it is gone.

        Raises:
            RelayError: the address is another, or taken.
        """
        self.token = secrets.token_urlsafe(24)
        self._connect = connect
        self._open = threading.BoundedSemaphore(_MOST_CONNECTIONS)
        address = _loopback(host)
        family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
        self._server = socket.socket(family, socket.SOCK_STREAM)
        try:
            self._server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._server.bind((str(address), port))
            self._server.listen(_MOST_CONNECTIONS)
        except (OSError, OverflowError) as error:
            self._server.close()
            reason = getattr(error, "strerror", None) or str(error)
            raise RelayError(f"{host}:{port}: {reason}") from error
        self.port: int = self._server.getsockname()[1]

    def serve(self) -> None:
        """Take connections until :meth:`close` is called."""
        while True:
            try:
                peer, _ = self._server.accept()
            except OSError:
                return
            if not self._open.acquire(blocking=False):
                peer.close()
                continue
            threading.Thread(target=self._admit, args=(peer,), daemon=True).start()

    def close(self) -> None:
        """Listen no more; connections end with the process."""
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def _admit(self, peer: socket.socket) -> None:
        try:
            with peer:
                peer.settimeout(_TOKEN_SECONDS)
                said = receive(peer, frozenset({"token"}), most_payload=0)
                given = said.text("token") if said is not None else ""
                if not hmac.compare_digest(given.encode(), self.token.encode()):
                    return
                peer.settimeout(None)
                with self._connect() as program:
                    program.settimeout(None)
                    back = threading.Thread(target=_pump, args=(program, peer), daemon=True)
                    back.start()
                    _pump(peer, program)
                    back.join()
        except Exception:  # noqa: BLE001  whatever one connection does, others go on
            return
        finally:
            self._open.release()


def connect_to_relay(host: str, port: int, token: str, timeout: float = 5.0) -> socket.socket:
    """Connect to a program through a relay.

    Raises:
        RelayError: nobody listens there.
    """
    try:
        peer = socket.create_connection((host, port), timeout)
        send(peer, Message("token", {"token": token}))
    except (OSError, ProtocolError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise RelayError(f"{host}:{port}: {reason}") from error
    peer.settimeout(None)
    return peer


def _loopback(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise RelayError(f"{host}: not an address; write 127.0.0.1 or localhost") from None
    if not address.is_loopback:
        raise RelayError(
            f"{host}: only the loopback device may be listened on, such as 127.0.0.1; "
            "reach it from elsewhere with ssh -L"
        )
    return address


def _pump(source: socket.socket, target: socket.socket) -> None:
    """Hand on what one side sends until it ends, then end the other."""
    with suppress(OSError):
        while data := source.recv(_PIECE):
            target.sendall(data)
    for one in (source, target):
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
