"""Textual's driver of a terminal, on a link that may be slow or break."""

from __future__ import annotations

import os
import selectors
import sys
from codecs import getincrementaldecoder
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from textual import events
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver

from whichlayer.tui.pasted import Pasted
from whichlayer.tui.terminal_link import TerminalLink

if TYPE_CHECKING:
    from textual.app import App
    from textual.message import Message

_PIECE: Final = 4096
_LOOK_S: Final = 0.1


class TerminalDriver(LinuxDriver):
    """Tells when the terminal is behind, and when it is gone."""

    def __init__(self, app: App[Any], **settings: Any) -> None:
        """Take the application, whose ``link_freed`` and ``link_lost`` are called."""
        super().__init__(app, **settings)
        for name in ("COLUMNS", "LINES"):  # exported by some shells, and true but once
            os.environ.pop(name, None)
        self.link = TerminalLink(self._file or sys.stderr, self._tell_freed)
        self._file = self.link  # type: ignore[assignment]
        self._characters = 0

    def write(self, data: str) -> None:
        """Write, and count what a frame takes."""
        self._characters += len(data)
        super().write(data)

    def end_frame(self) -> None:
        """A frame was written: what comes next waits until the terminal has taken it."""
        count, self._characters = self._characters, 0
        if count and self._writer_thread is not None:
            super().write(self.link.frame_end(count))

    def _tell_freed(self) -> None:
        with suppress(RuntimeError):  # the application has just ended
            self._loop.call_soon_threadsafe(self._app.link_freed)  # type: ignore[attr-defined]

    def start_application_mode(self) -> None:
        """Take the terminal."""
        self.link.stay()
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def disable_input(self) -> None:
        """Take no more keys, once what the terminal was asked is answered."""
        self.link.leave()
        if not self.exit_event.is_set() and self._key_thread is not None:
            self.link.await_answers()
        super().disable_input()

    def process_message(self, message: Message) -> None:
        """Take answers of the terminal; all else is Textual's."""
        if isinstance(message, events.CursorPosition):
            self.link.answered()
        else:
            super().process_message(message)

    def run_input_thread(self) -> None:
        """Hand on what is typed, until the screen is left or the terminal is gone."""
        parser, pasted = XTermParser(self._debug), Pasted()
        decode = getincrementaldecoder("utf-8")("replace").decode
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(_LOOK_S):
                    try:
                        typed = os.read(self.fileno, _PIECE)
                    except BlockingIOError:
                        continue
                    except OSError:
                        typed = b""
                    if not typed:
                        self._loop.call_soon_threadsafe(self._app.link_lost)  # type: ignore[attr-defined]
                        return
                    for is_pasted, text in pasted.parted(decode(typed)):
                        events_of = [events.Paste(text)] if is_pasted else parser.feed(text)
                        for event in events_of:
                            self.process_message(event)
                for event in parser.tick():
                    self.process_message(event)
