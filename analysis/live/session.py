"""The recorder of this process: begun by ``whichlayer run``, by ``arm()`` or by ``stream()``.

Until the first step nothing is opened and nobody is told: workers of data loaders, launchers and
helpers that merely import torch are never seen on a screen.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from whichlayer.analysis.live.card import card_metadata, device_name
from whichlayer.analysis.live.foreign import ForeignProfiler
from whichlayer.analysis.live.link import Link
from whichlayer.analysis.live.own_socket import OwnSocket
from whichlayer.analysis.live.own_thread import begin_thread
from whichlayer.analysis.live.protocol import (
    MOST_PAYLOAD,
    Message,
    ProtocolError,
    receive,
    send,
)
from whichlayer.analysis.live.recorder import Recorder
from whichlayer.analysis.live.recorder_options import RecorderOptions
from whichlayer.analysis.live.rendezvous import (
    RendezvousError,
    connect,
    is_same_user,
    listen,
)
from whichlayer.analysis.live.step_hooks import StepHooks
from whichlayer.analysis.live.torch_window import rank_of_process

_WELCOME_SECONDS: Final = 5.0
_RETRY_SECONDS: Final = 0.1

_CLOSE_SECONDS: Final = 2.0
"""At the end of the program: so long may the last window take to be sent."""


class Session:
    """One recorder with its hooks and its connection; at most one in a process."""

    def __init__(self, options: RecorderOptions, screen: str = "") -> None:
        """Prepare.

        Args:
            options: how windows are taken while a screen is connected.
            screen: the socket of the screen that started this program, or empty.
        """
        self.options = options
        self._screen = screen
        self._link: Link | None = None
        self._server: OwnSocket | None = None
        self._path: Path | None = None
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._known = False
        self._since_ns = time.time_ns()
        self._cards: dict[str, str] = {}
        self.recorder = Recorder(options, self, self._metadata)
        self.recorder.pause()
        self.hooks = StepHooks(self._stepped)
        self.foreign = ForeignProfiler(
            lambda: self.recorder.yield_profiler(),
            lambda: self.recorder.foreign_ended(),
            self.send_trace,
        )

    def start(self) -> None:
        """Hook into torch; it has to be imported already."""
        self.hooks.install()
        self.foreign.install()
        os.register_at_fork(after_in_child=self._forked)
        atexit.register(self.close)

    def post(self, message: Message) -> None:
        """As an outlet of the recorder: to the screen, if there is one."""
        if self._link is not None:
            self._link.post(message)

    def offer(self, make: Callable[[], Message | None]) -> bool:
        """As an outlet of the recorder."""
        return self._link is not None and self._link.offer(make)

    def tell(self, text: str) -> None:
        """Tell the user something."""
        self.post(Message("note", {"text": " ".join(text.split())[:1000]}))

    def is_watched(self) -> bool:
        """Whether a screen is connected; one that started this program is, or will soon be."""
        return self._link is not None or bool(self._screen)

    def send_trace(self, path: str) -> None:
        """Send a trace that the program has just written itself; read at once, it may go away."""
        self._meet()
        if self._link is None:
            return
        try:
            if os.path.getsize(path) > MOST_PAYLOAD:
                self.tell(f"{path} is too large to be sent")
                return
            trace = Path(path).read_bytes()
        except OSError as error:
            self.tell(f"{path}: {error.strerror or error}")
            return
        message = Message("window", {"own": True, "ended_ns": time.time_ns()}, trace)
        if not self.offer(lambda: message):
            self.recorder.dropped += 1

    def close(self) -> None:
        """The program ends: give the last window a moment, and leave nothing behind."""
        if os.getpid() != self._pid:
            return
        for end in (
            self.recorder.close,
            self.hooks.remove,
            self.foreign.remove,
            self._leave_screen,
            self._stop_listening,
        ):
            # Python would print whatever comes out of here, an interrupt included.
            with suppress(BaseException):
                end()

    def _leave_screen(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            link.post(self.recorder.state())
            link.close(_CLOSE_SECONDS, Message("bye", {"reason": "the program has ended"}))

    def _stepped(self) -> None:
        if not self._known:
            self._known = True
            begin_thread(self._meet, "whichlayer-meet")
        self.recorder.step_ended()

    def _metadata(self) -> dict[str, str]:
        """What is known of the cards; asked until there are any."""
        self._cards = self._cards or card_metadata()
        return self._cards

    def _meet(self) -> None:
        """Connect to the screen that started the program, and listen for others."""
        rank, _ = rank_of_process()
        if self.options.ranks and rank is not None and rank not in self.options.ranks:
            return
        with self._lock:
            if self._server is None and self._path is None:
                with suppress(RendezvousError):
                    self._server, self._path = listen(str(os.getpid()))
                    if begin_thread(self._accept, "whichlayer-accept") is None:
                        self._stop_listening()
            if self._screen and self._link is None:
                screen, self._screen = self._screen, ""
                with suppress(RendezvousError, OSError):
                    self._join(connect(screen))

    def _accept(self) -> None:
        server = self._server
        while server is not None and self._server is server:
            try:
                peer, _ = server.accept()
            except OSError:
                if self._server is not server or not server.is_ours:
                    return  # or the program has closed it
                time.sleep(_RETRY_SECONDS)  # no descriptor is free
                continue
            if begin_thread(partial(self._welcome, peer), "whichlayer-welcome") is None:
                peer.close()

    def _welcome(self, peer: OwnSocket) -> None:
        """Hear what somebody wants who has connected: to join, or only to look."""
        try:
            peer.settimeout(_WELCOME_SECONDS)
            message = None
            if is_same_user(peer):
                message = receive(peer, frozenset({"look", "join"}), most_payload=0)
            with self._lock:
                if message is not None and message.kind == "join" and self._link is None:
                    self._join(peer)
                    return
            if message is not None:
                send(peer, self._hello())
                send(peer, self.recorder.state())
                watched = "another screen is connected" if self._link is not None else ""
                send(peer, Message("bye", {"reason": watched}))
        except (OSError, ValueError, ProtocolError):
            pass  # whoever it was is gone, or none of ours
        peer.close()

    def _join(self, peer: OwnSocket) -> None:
        """Talk to a screen; windows are taken from now on."""
        link = Link(peer)
        self._link = link
        link.open(self.recorder, self._hello(), lambda: self._left(link))
        self.recorder.resume()

    def _left(self, link: Link) -> None:
        if self._link is link:
            self._link = None
            self.recorder.detach()

    def _hello(self) -> Message:
        rank, world_size = rank_of_process()
        return Message(
            "hello",
            {
                "pid": os.getpid(),
                "rank": rank,
                "world_size": world_size,
                "program": " ".join(sys.argv)[:1000],
                "torch": _torch_version(),
                "device": device_name(),
                "mode": self.hooks.mode,
                "since_ns": self._since_ns,
            },
        )

    def _forked(self) -> None:
        """In a child: its parent's connections and windows are not its own.

        Where the parent has run no step, the child may be the one that does.
        """
        with suppress(Exception):  # Python would print it
            self.recorder.forked()
        link, self._link = self._link, None
        if link is not None:
            link.forget()
        server, self._server, self._path = self._server, None, None
        if server is not None:
            server.close()
        self._lock = threading.Lock()
        if self._known or multiprocessing.current_process().daemon:
            self._screen = ""
            with suppress(Exception):
                self.hooks.remove()
            return
        self._pid = os.getpid()
        self.recorder = Recorder(self.options, self, self._metadata)
        self.recorder.pause()

    def _stop_listening(self) -> None:
        server, path = self._server, self._path
        self._server = None
        if server is not None:
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            server.close()
        if path is not None:
            with suppress(OSError):
                path.unlink()


_session: Session | None = None


def begin(options: RecorderOptions, screen: str = "") -> Session:
    """The session of this process, begun if there is none yet."""
    global _session
    if _session is None or _session._pid != os.getpid():
        _session = Session(options, screen)
        _session.start()
    return _session


def _torch_version() -> str:
    torch: Any = sys.modules.get("torch")
    return str(getattr(torch, "__version__", ""))
