"""The recorder's end of a connection to a screen: threads that send and listen, never in the way.

The program is never blocked: messages wait in a short queue, and windows that find it full are
dropped and counted. When the screen is gone, so is the link; the program goes on.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from whichlayer.analysis.live.own_thread import begin_thread
from whichlayer.analysis.live.protocol import (
    FROM_SCREEN,
    Message,
    ProtocolError,
    receive,
    send,
)
from whichlayer.analysis.live.recorder import Recorder

_WINDOWS_WAITING: Final = 2
_NOTES_WAITING: Final = 64
_STATE_SECONDS: Final = 0.5
_FIRST_STATE_SECONDS: Final = 0.01
"""The first states come sooner, each after twice the time: of a short program they are all there is."""

_SEND_SECONDS: Final = 30
"""A screen that takes nothing for so long is as good as gone."""

_MAKE_SECONDS: Final = 120

Maker = Callable[[], Message | None]


class Link:
    """A connection to one screen; an :class:`~whichlayer.analysis.live.recorder.Outlet`."""

    def __init__(self, peer: socket.socket) -> None:
        """Take over a connected socket."""
        self._peer = peer
        # Not settimeout: that would hold for listening too, and a screen may be silent for hours.
        peer.settimeout(None)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", _SEND_SECONDS, 0))
        self._notes: deque[Message] = deque(maxlen=_NOTES_WAITING)
        self._windows: deque[Maker] = deque()
        self._busy = 0
        self._pause = _FIRST_STATE_SECONDS
        self._making = False
        self._changed = threading.Condition()
        self._closed = False
        self._drained = False
        self._last: Message | None = None
        self._recorder: Recorder | None = None
        self._gone: Callable[[], None] | None = None
        self._threads: list[threading.Thread] = []

    def open(self, recorder: Recorder, hello: Message, gone: Callable[[], None]) -> None:
        """Start to talk.

        Args:
            recorder: whose state is told, and who is asked for windows.
            hello: the first message.
            gone: called once, by a thread of the link, when the connection has ended.
        """
        self._recorder, self._gone = recorder, gone
        self._notes += hello, recorder.state()
        for work, name in ((self._send, "whichlayer-send"), (self._listen, "whichlayer-listen")):
            thread = begin_thread(work, name)
            if thread is None:
                self._end()
                return
            self._threads.append(thread)

    def post(self, message: Message) -> None:
        """Send soon, or drop it if nobody listens."""
        with self._changed:
            if not self._closed:
                self._notes.append(message)
                self._changed.notify()

    def offer(self, make: Maker) -> bool:
        """Make a window's message in the sending thread; False if there is no room."""
        with self._changed:
            if self._closed or len(self._windows) + self._busy >= _WINDOWS_WAITING:
                return False
            self._windows.append(make)
            self._changed.notify()
            return True

    def close(self, seconds: float, last: Message | None = None) -> None:
        """Send what waits, for at most so long, and end the connection.

        A window that is being made is waited for in any case.
        """
        with self._changed:
            self._last = last  # behind the windows that wait
            self._drained = True
            self._changed.notify()
        if self._threads and threading.current_thread() not in self._threads:
            self._threads[0].join(seconds)
        self._end()
        with self._changed:
            # A process that ended while torch writes a trace in a thread would crash.
            self._changed.wait_for(lambda: not self._making, _MAKE_SECONDS)

    def forget(self) -> None:
        """In a forked child: leave the parent's connection alone."""
        self._closed = True
        with suppress(OSError):
            self._peer.close()

    def _send(self) -> None:
        try:
            while (batch := self._next()) is not None:
                while batch:
                    send(self._peer, batch.pop(0))
        except (OSError, ValueError):
            pass  # told by the end of the connection
        finally:
            self._end()

    def _next(self) -> list[Message] | None:
        """What to send now: notes, then a window, else the state; None at the end."""
        with self._changed:
            self._busy = 0
            if not (self._notes or self._windows or self._drained or self._closed):
                self._changed.wait(self._pause)
                self._pause = min(2 * self._pause, _STATE_SECONDS)
            if self._closed:
                return None
            notes = list(self._notes)
            self._notes.clear()
            make = self._windows.popleft() if self._windows else None
            self._busy = self._making = make is not None
            if not notes and make is None and self._drained:
                last, self._last = self._last, None
                return None if last is None else [last]
        if make is not None:
            try:
                window = make()
            finally:
                with self._changed:
                    self._making = False
                    self._changed.notify_all()
            notes += [window] if window is not None else []
        elif not notes and self._recorder is not None:
            notes.append(self._recorder.state())
        return notes

    def _listen(self) -> None:
        recorder = self._recorder
        try:
            while recorder is not None:
                message = receive(self._peer, FROM_SCREEN, most_payload=0)
                if message is None or message.kind == "detach":
                    break
                _obey(recorder, message)
        except (OSError, ProtocolError):
            pass  # a screen that talks nonsense is left, like one that is gone
        finally:
            self._end()

    def _end(self) -> None:
        with self._changed:
            first, self._closed = not self._closed, True
            dropped = len(self._windows)
            self._windows.clear()
            self._changed.notify_all()
        if not first:
            return
        if self._recorder is not None:
            for _ in range(dropped):
                self._recorder.lost()
        with suppress(OSError):
            self._peer.shutdown(socket.SHUT_RDWR)
        with suppress(OSError):
            self._peer.close()
        if self._gone is not None:
            self._gone()


def _obey(recorder: Recorder, message: Message) -> None:
    if message.kind == "record":
        recorder.record(min(max(message.number("steps") or 0, 0), 1000))
    elif message.kind == "pause":
        recorder.pause()
    elif message.kind == "resume":
        recorder.resume()
