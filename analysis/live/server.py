"""The screen's end of live recording: takes what recorders send, and tells it as events.

For a screen or a headless recording::

    server = LiveServer(History())            # or History(Path("windows")): kept there for good
    address = server.listen()                 # for `run`: a recorder is told this path
    server.join(connect(armed()[pid]))        # for `attach`: go to an armed program
    event = server.events.get(timeout=0.1)    # queue.SimpleQueue[Event], see events.py; queue.Empty
    server.record(steps=5, rank=None)         # also pause(rank), resume(rank), detach(rank)
    server.recorders                          # tuple[Recorder, ...]: those connected now
    server.history                            # pin, hold/held, save, windows
    server.close()                            # programs go on; sockets and files are gone

Events: ``Joined``, ``StateTold``, ``WindowArrived``, ``Noted``, ``WindowsRemoved``, ``Left``. A window is
loaded from ``event.window.path`` with ``whichlayer.analysis.load``.

No method blocks on a peer. Each recorder has a thread; what a peer does wrong ends its connection
alone. Recorders run as this user, checked by the kernel's word; over TCP with a token, see relay.py.
"""

from __future__ import annotations

import os
import queue
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from whichlayer.analysis.live.events import (
    Event,
    Joined,
    Left,
    Noted,
    Recorder,
    StateTold,
    Window,
    WindowArrived,
    WindowsRemoved,
    count,
    recorder_from,
    state_from,
    text,
)
from whichlayer.analysis.live.history import History, window_name, window_prefix
from whichlayer.analysis.live.private_folder import remove_abandoned
from whichlayer.analysis.live.protocol import (
    FROM_RECORDER,
    MOST_PAYLOAD,
    Message,
    ProtocolError,
    encoded,
    payload_pieces,
    receive_head,
)
from whichlayer.analysis.live.recording_key import recording_cost
from whichlayer.analysis.live.rendezvous import RendezvousError, armed, is_same_user, listen

_HELLO_SECONDS: Final = 10
_ENDED: Final = "the connection has ended"
_STALL_SECONDS: Final = 60
"""A recorder that sends nothing for so long in the middle of a window is given up."""

_MOST_RECORDERS: Final = 512
_MOST_EVENTS: Final = 10_000
"""States and notes are dropped beyond that: nobody takes them."""


class LiveServer:
    """Connections to recorders, and what they send."""

    def __init__(self, history: History, most_payload: int = MOST_PAYLOAD) -> None:
        """Prepare; nothing is opened yet.

        Args:
            history: where windows go; closed with the server.
            most_payload: bytes of a trace; a recorder that sends a larger one is cut off.
        """
        self.history = history
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._most_payload = most_payload
        self._lock = threading.Lock()
        self._listening: tuple[socket.socket, Path] | None = None
        self._peers: dict[int, _Peer] = {}
        self._threads: list[threading.Thread] = []
        self._number = self._window = 0
        self._without_rank = 0
        self._closed = False

    @property
    def recorders(self) -> tuple[Recorder, ...]:
        """Those that are connected and have introduced themselves."""
        with self._lock:
            return tuple(one.recorder for one in self._peers.values() if one.recorder is not None)

    def listen(self) -> Path:
        """Listen for the programs that this process starts.

        Returns:
            The socket, to be told to them in ``WHICHLAYER_LIVE_SOCKET``.

        Raises:
            RendezvousError: there is no safe place for a socket.
        """
        self._listening = listen(f"screen-{os.getpid()}")
        self._begin(self._accept, "whichlayer-accept")
        return self._listening[1]

    def join(self, peer: socket.socket) -> None:
        """Talk to a recorder over a connected socket."""
        with self._lock:
            if self._closed or len(self._peers) >= _MOST_RECORDERS:
                peer.close()
                return
            self._number += 1
            found = _Peer(peer, self._number)
            self._peers[found.number] = found
        found.send(Message("join"))
        self._begin(lambda: self._serve(found), f"whichlayer-recorder-{found.number}")

    def record(self, steps: int = 0, rank: int | None = None, recorder: int | None = None) -> int:
        """Ask for a window of the next steps; 0: as many as the recorder's options say.

        Args:
            steps: how many.
            rank: of the one that is asked; None asks all.
            recorder: number of the one that is asked, for those that have no rank of their own.

        Returns:
            How many recorders were asked.
        """
        return self._tell(Message("record", {"steps": steps}), rank, recorder)

    def pause(self, rank: int | None = None, recorder: int | None = None) -> int:
        """Ask for no more windows unasked."""
        return self._tell(Message("pause"), rank, recorder)

    def resume(self, rank: int | None = None, recorder: int | None = None) -> int:
        """Ask for windows again."""
        return self._tell(Message("resume"), rank, recorder)

    def detach(self, rank: int | None = None, recorder: int | None = None) -> int:
        """Leave; the programs go on."""
        return self._tell(Message("detach"), rank, recorder)

    def close(self, seconds: float = 2.0) -> None:
        """Leave all programs and remove socket and files; for at most so long."""
        self.detach()
        with self._lock:
            self._closed = True
            peers = list(self._peers.values())
            threads = list(self._threads)
        listening, self._listening = self._listening, None
        if listening is not None:
            with suppress(OSError):
                listening[0].shutdown(socket.SHUT_RDWR)
            listening[0].close()
            with suppress(OSError):
                listening[1].unlink()
        for peer in peers:
            peer.end()
        ends = time.monotonic() + seconds
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(max(0.0, ends - time.monotonic()))
        self.history.close()
        # What programs left that were killed: their sockets, and windows that they exported.
        with suppress(RendezvousError):
            armed()
        remove_abandoned()

    def _begin(self, work: Callable[[], None], name: str) -> None:
        thread = threading.Thread(target=work, name=name, daemon=True)
        with self._lock:
            self._threads = [one for one in self._threads if one.is_alive()]
            self._threads.append(thread)
            thread.start()

    def _accept(self) -> None:
        listening = self._listening
        while listening is not None and not self._closed:
            try:
                peer, _ = listening[0].accept()
            except OSError:
                if self._closed or self._listening is None:
                    return
                time.sleep(0.05)  # no descriptor is free: those that are connected go on
                continue
            if is_same_user(peer):
                self.join(peer)
            else:
                peer.close()
                self._tell_user(Noted(None, "a connection of another user was refused"))

    def _tell(self, message: Message, rank: int | None, recorder: int | None) -> int:
        with self._lock:
            asked = [
                one
                for one in self._peers.values()
                if one.recorder is not None
                and rank in (None, one.recorder.rank)
                and recorder in (None, one.recorder.id)
            ]
        return sum(one.send(message) for one in asked)

    def _tell_user(self, event: Event) -> None:
        if isinstance(event, (StateTold, Noted)) and self.events.qsize() >= _MOST_EVENTS:
            return
        self.events.put(event)

    def _serve(self, peer: _Peer) -> None:
        reason = _ENDED
        try:
            reason = self._introduced(peer) or self._listened(peer) or reason
        except ProtocolError as error:
            reason = str(error)
        except ConnectionError:
            pass  # it ended without having read everything
        except BlockingIOError:
            reason = "it has stopped in the middle of a message"
        except OSError as error:
            reason = f"the connection broke: {error.strerror or error}"
        except Exception as error:  # noqa: BLE001  one peer's thread must not take the rest along
            reason = f"its messages cannot be read: {type(error).__name__}: {error}"
        peer.end()
        peer.socket.close()
        with self._lock:
            self._peers.pop(peer.number, None)
        if peer.recorder is not None:
            self._tell_user(Left(peer.recorder, reason, peer.said_goodbye))
        elif not self._closed and reason != _ENDED:  # else somebody only looked
            self._tell_user(Noted(None, f"a connection was refused: {reason}"))

    def _introduced(self, peer: _Peer) -> str:
        """Wait for the first message; what is wrong with it, or empty."""
        peer.wait_at_most(_HELLO_SECONDS)
        found = receive_head(peer.socket, frozenset({"hello"}), most_payload=0)
        if found is None:
            return _ENDED
        recorder = recorder_from(found[0], peer.number)
        with self._lock:
            others = [one.recorder for one in self._peers.values() if one.recorder is not None]
            if recorder.rank is None:
                self._without_rank += 1
                first = self._without_rank == 1
            else:
                first = recorder.rank not in {one.rank for one in others}
            peer.recorder = recorder
        peer.prefix = window_prefix(recorder.rank, recorder.pid, first=first)
        self._tell_user(Joined(recorder))
        return ""

    def _listened(self, peer: _Peer) -> str:
        """Take messages until the connection ends; the reason that was given, or empty."""
        recorder = peer.recorder
        while recorder is not None:
            peer.wait_at_most(0)
            found = receive_head(peer.socket, FROM_RECORDER, self._most_payload)
            if found is None:
                return ""
            message, length = found
            if message.kind == "window":
                peer.wait_at_most(_STALL_SECONDS)
                self._take_window(peer, recorder, message, length)
            elif message.kind == "state":
                self._tell_user(state_from(message, recorder))
            elif message.kind == "note":
                self._tell_user(Noted(recorder, text(message, "text")))
            elif message.kind == "bye":
                peer.said_goodbye = True
                return text(message, "reason")
        return ""

    def _take_window(self, peer: _Peer, recorder: Recorder, message: Message, length: int) -> None:
        """Write a window to its file; what cannot be kept is still read, and told as lost."""
        steps = count(message, "first_step"), count(message, "last_step")
        number = self.history.next_number(peer.prefix)
        with self.history.writing(window_name(peer.prefix, number, steps)) as file:
            for piece in payload_pieces(peer.socket, length):
                file.write(piece)
        if file.failure:
            self._tell_user(Noted(recorder, f"a window could not be kept: {file.failure}"))
            return
        with self._lock:
            self._window += 1
            window_id = self._window
        window = Window(
            id=window_id,
            recorder=recorder,
            number=number,
            first_step=steps[0],
            last_step=steps[1],
            own=message.fields.get("own") is True,
            path=file.path,
            file_bytes=file.file_bytes,
            trace_bytes=file.trace_bytes,
            profiled_ns=count(message, "profiled_ns"),
            overhead_ns=count(message, "overhead_ns"),
            export_ns=count(message, "export_ns"),
            ended_ns=count(message, "ended_ns"),
            arrived_ns=time.time_ns(),
            cost=recording_cost(message.fields.get("cost")),
        )
        removed = self.history.add(window)
        self.events.put(WindowArrived(window))
        if removed:
            self.events.put(WindowsRemoved(removed, "the oldest windows made room for new ones"))


class _Peer:
    """A connected socket; only its own thread receives, any thread sends."""

    def __init__(self, peer: socket.socket, number: int) -> None:
        # Not settimeout: sending would then wait, too.
        peer.settimeout(None)
        self.socket, self.number = peer, number
        self.recorder: Recorder | None = None
        self.prefix = ""
        self.said_goodbye = False
        self._lock = threading.Lock()

    def wait_at_most(self, seconds: int) -> None:
        """How long receiving may take; 0: for ever."""
        limit = struct.pack("ll", seconds, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)

    def send(self, message: Message) -> bool:
        """Send at once or not at all: a peer that takes no small message any more is given up."""
        data = encoded(message)
        with self._lock:
            try:
                whole = self.socket.send(data, socket.MSG_DONTWAIT) == len(data)
            except OSError:
                whole = False
        if not whole:
            self.end()
        return whole

    def end(self) -> None:
        """End the connection; whoever receives wakes up, and closes it."""
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
