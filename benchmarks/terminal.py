"""A program in a pseudo-terminal, and when it wrote what."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Sequence
from typing import Self

#: How much is read at once, and how much of what was read is searched for a mark once more
#: (an answer may come in two pieces).
_BLOCK = 1 << 16
_OVERLAP = 64


class Terminal:
    """Runs a program and notes the times of what it writes; a context that ends it.

    Attributes:
        pid: its process.
        begun: when it was started, on the clock of ``time.perf_counter``.
        written: how many bytes it has written.
        cpu_s: user and system time that it had used when it was ended.
        sink: is given everything that is read, where it is set.
    """

    def __init__(self, command: Sequence[str], columns: int, lines: int) -> None:
        """Start the program."""
        env = dict(os.environ, TERM="xterm-256color", COLORTERM="truecolor")
        self.written = 0
        self.cpu_s = 0.0
        self.sink: Callable[[bytes], object] | None = None
        self._tail = b""
        self.begun = time.perf_counter()
        self.pid, self._file = pty.fork()
        if not self.pid:
            # Nothing may run here but the program: not even what a failure would run.
            try:
                os.execvpe(command[0], list(command), env)
            finally:
                os._exit(127)
        fcntl.ioctl(self._file, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def send(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._file, keys)

    def wait_for(self, mark: re.Pattern[bytes], seconds: float, *, fresh: bool = False) -> float:
        """When the program wrote something.

        Args:
            mark: what it is to write.
            seconds: how long to wait for it.
            fresh: only what is written from now on counts.

        Returns:
            The time on the clock of ``begun``; NaN where nothing of that kind came.
        """
        if fresh:
            self._tail = b""
        until = time.perf_counter() + seconds
        while not mark.search(self._tail):
            left = until - time.perf_counter()
            if left <= 0 or not self._read(left):
                return float("nan")
        return time.perf_counter()

    def _read(self, seconds: float) -> bool:
        if not select.select([self._file], [], [], seconds)[0]:
            return True
        try:
            block = os.read(self._file, _BLOCK)
        except OSError:  # the program has ended
            return False
        self.written += len(block)
        if self.sink is not None:
            self.sink(block)
        self._tail = self._tail[-_OVERLAP:] + block
        return bool(block)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self.pid, signal.SIGKILL)
        usage = os.wait4(self.pid, 0)[2]
        self.cpu_s = usage.ru_utime + usage.ru_stime
        os.close(self._file)
