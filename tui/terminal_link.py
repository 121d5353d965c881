"""What is written to the terminal, no faster than the terminal takes it.

A slow line holds what was written in buffers that nobody can look into: whoever goes on writing
frames sees keys answered seconds late, and ever later. So a frame that takes long to travel asks the
terminal for a sign (the place of the cursor, which every terminal since the VT100 tells), and until
that has come no other one is begun: what would have been drawn meanwhile is left out. Of a
terminal that gives no sign only its own buffer is known: the next frame waits until that took this one.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Final

ASK: Final = "\x1b[6n"
"""Asks a terminal where the cursor is; it answers once it has taken all before."""

ASKED_FROM: Final = 1024
"""Characters from which a frame asks for a sign: shorter ones are soon there."""

PATIENCE_S: Final = 5.0
"""Seconds after which a sign is not waited for any more: it may have been lost with a connection."""

_PIECE: Final = 1024
_CONTROL: Final = 256
"""Characters that no sequence of modes exceeds, and few frames fall short of."""
_ANSWER_S: Final = 3.0

_CANCEL: Final = b"\x18"
"""Ends a control sequence that was begun, on every terminal."""


class FrameEnd(str):
    """What is written behind a frame: nothing, or a question."""

    __slots__ = ()


class TerminalLink:
    """Stands for the terminal's file; written to by one thread, asked by others."""

    def __init__(self, file: IO[str], freed: Callable[[], object]) -> None:
        """Take the file.

        Args:
            file: of the terminal.
            freed: called, by any thread, whenever the next frame can be written.
        """
        self._file = file
        self._freed = freed
        self._lock = threading.Condition()
        self._writing = 0
        self._asked = 0
        self._asked_at = 0.0
        self._answers = False
        self._leaving = False
        self.gone = False

    def isatty(self) -> bool:
        """It is one."""
        return True

    def fileno(self) -> int:
        """Its descriptor."""
        return self._file.fileno()

    def flush(self) -> None:
        """Nothing is held back."""

    @property
    def is_behind(self) -> bool:
        """Whether a frame is still on its way: the next one has to wait."""
        with self._lock:
            if self._asked and time.monotonic() - self._asked_at > PATIENCE_S:
                self._asked, self._answers = 0, False
            return bool(self._writing or (self._asked and self._answers))

    def frame_end(self, characters: int) -> FrameEnd:
        """A frame is to be written; what has to be written behind it."""
        with self._lock:
            self._writing += 1
        return FrameEnd(ASK if characters >= ASKED_FROM else "")

    def answered(self) -> None:
        """The terminal has told where the cursor is."""
        with self._lock:
            # What was asked of a terminal that did not answer yet will not be answered any more.
            self._asked = max(self._asked - 1, 0) if self._answers else 0
            self._answers = True
            self._lock.notify_all()
        self._freed()

    def leave(self) -> None:
        """Cut off what is being written: the screen is left."""
        with self._lock:
            self._leaving = True

    def stay(self) -> None:
        """Write all again."""
        with self._lock:
            self._leaving = False

    def await_answers(self) -> None:
        """Wait for signs on their way: they would be typed into what runs next."""
        ends = time.monotonic() + _ANSWER_S
        with self._lock:
            while self._answers and self._asked and (left := ends - time.monotonic()) > 0:
                self._lock.wait(left)
            self._asked = 0

    def write(self, text: str) -> None:
        """Write a text; a frame may be left out or cut off while the screen is being left."""
        ends_frame = isinstance(text, FrameEnd)
        if ends_frame and text and not self._leaving:
            with self._lock:
                self._asked += 1
                self._asked_at = time.monotonic()
        if not (ends_frame and self._leaving):
            self._write_bytes(text.encode("utf-8", "replace"), len(text) > _CONTROL)
        if ends_frame:
            with self._lock:
                self._writing -= 1
            self._freed()

    def _write_bytes(self, data: bytes, can_be_cut: bool) -> None:
        for start in range(0, len(data), _PIECE):
            if can_be_cut and self._leaving:
                if start:
                    self._write_piece(_CANCEL)
                return
            self._write_piece(data[start : start + _PIECE])

    def _write_piece(self, piece: bytes) -> None:
        while piece and not self.gone:
            try:
                piece = piece[os.write(self.fileno(), piece) :]
            except BlockingIOError:  # another program made the terminal's file non-blocking
                with suppress(OSError, ValueError):
                    select.select([], [self.fileno()], [], 0.1)
            except (OSError, ValueError):
                self.gone = True  # who reads keys hears of it as well, and leaves
