"""The program that is watched: started unchanged, its exit status handed on.

With a screen it runs on a pseudo-terminal of its own, and what it prints goes to a pane. Without one
it keeps our standard streams: nothing of them is read or written here.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import threading
import tty
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from whichlayer.analysis.live import holder, inject
from whichlayer.analysis.live.recorder_options import OPTIONS_VARIABLE, RecorderOptions
from whichlayer.analysis.live.rendezvous import SOCKET_VARIABLE

_PIECE: Final = 1 << 16
_DRAIN_SECONDS: Final = 0.2
"""After the program's end: so long nothing has to come for its output to be complete."""

_FROM_TERMINAL: Final = (signal.SIGINT, signal.SIGQUIT)
"""What a terminal sends to the program as well as to us."""


def recorder_environment(
    environment: Mapping[str, str], screen: Path, options: RecorderOptions
) -> dict[str, str]:
    """The environment in which a program is recorded; all else stays as it is."""
    folder = os.path.dirname(os.path.abspath(inject.__file__))
    path = environment.get("PYTHONPATH", "")
    return {
        "KINETO_LOG_LEVEL": "99",  # it writes to the program's standard error
        **environment,
        "PYTHONPATH": os.pathsep.join([folder, path]) if path else folder,
        SOCKET_VARIABLE: str(screen),
        OPTIONS_VARIABLE: options.to_text(),
    }


def find_command(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Make sure that a command can be started.

    Raises:
        FileNotFoundError: there is no such program.
    """
    if shutil.which(command[0], path=environment.get("PATH")) is None:
        raise FileNotFoundError(2, "no such program", command[0])


def exit_status(code: int) -> int:
    """What a shell says of a program that ended: 128+N after signal N."""
    return 128 - code if code < 0 else code


_LOOK_S: Final = 0.5
"""Seconds after which a wait for the program lets signals be handled."""


def run_attached(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a program on our own standard streams to its end, for the main thread.

    Signals that reach only us are passed on.

    Returns:
        Its exit status.

    Raises:
        OSError: it cannot be started.
    """
    with _forwarding() as forward:
        # What we were given stays open: only our own descriptors are closed.
        program = subprocess.Popen(list(command), env=dict(environment), close_fds=False)
        forward(program.send_signal)
        while True:
            # A signal that another thread of ours was given does not end a wait without limit.
            with contextlib.suppress(subprocess.TimeoutExpired):
                return exit_status(program.wait(timeout=_LOOK_S))


class Child:
    """A program on a pseudo-terminal of its own.

    Attributes:
        command: the program and its arguments.
        output: called with what it prints, by a thread of its own, from :meth:`start` on; may be
            replaced at any time. Blocking there blocks the program.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], source: int | None = None
    ) -> None:
        """Prepare.

        Args:
            command: the program and its arguments.
            environment: all of its environment variables.
            source: a descriptor that becomes its standard input in place of its terminal, and is
                closed here once it is started.
        """
        self.command = tuple(command)
        self.output: Callable[[bytes], None] = lambda data: None
        self._environment = dict(environment)
        self._source = source
        self._ended = threading.Event()
        self._lock = threading.Lock()  # a descriptor's number may be another's once it is closed
        self._status: int | None = None
        self._master = self._alive = -1
        self._holder: subprocess.Popen[bytes] | None = None

    def start(self, output: Callable[[bytes], None], rows: int = 24, columns: int = 80) -> None:
        """Start it, once.

        Args:
            output: see above.
            rows: of its terminal.
            columns: of its terminal.

        Raises:
            OSError: it cannot be started.
        """
        self.output = output
        self._master, slave = pty.openpty()
        self.resize(rows, columns)
        os.set_blocking(self._master, False)
        screen, self._alive = os.pipe()  # ends when we do, however that happens
        source = -1 if self._source is None else self._source
        passed = (self._master, slave, screen, source)
        for one in passed:
            if one >= 0:
                os.set_inheritable(one, True)
        start = [sys.executable, "-I", "-S", holder.__file__, *map(str, passed), *self.command]
        try:
            # Of our session, the end of a screen that leads it would hang up the program too.
            self._holder = subprocess.Popen(
                start,
                env=self._environment,
                close_fds=False,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        finally:
            os.close(slave)
            os.close(screen)
            if source >= 0:
                os.close(source)
            os.set_inheritable(self._master, False)
        threading.Thread(target=self._read, name="whichlayer-output", daemon=True).start()

    @property
    def runs(self) -> bool:
        """Whether it was started and has not ended."""
        return self._holder is not None and self._status is None

    @property
    def status(self) -> int | None:
        """Its exit status once it has ended and all of its output was handed on; else None."""
        return self._status

    def wait(self, seconds: float | None = None) -> int | None:
        """Wait for its end; its exit status, or None if that has not come in time."""
        self._ended.wait(seconds)
        return self._status

    def write(self, data: bytes) -> None:
        """Type something; what the program has no room for, because it does not read, is lost."""
        with self._lock, contextlib.suppress(OSError):
            os.write(self._master, data)

    def resize(self, rows: int, columns: int) -> None:
        """Give its terminal another size; the program is told by the system."""
        size = struct.pack("HHHH", max(1, min(rows, 9999)), max(1, min(columns, 9999)), 0, 0)
        with self._lock, contextlib.suppress(OSError, ValueError):  # it may have ended
            fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)

    def send_signal(self, number: int) -> None:
        """Send a signal to the program and those that it has started on its terminal."""
        if self._holder is not None:
            with contextlib.suppress(OSError):
                self._holder.send_signal(number)

    def kill(self) -> None:
        """End the program at once."""
        with self._lock, contextlib.suppress(OSError):
            group = os.tcgetpgrp(self._master)
            os.killpg(group, signal.SIGKILL)

    def stay(self) -> int:
        """Let the program go on in our terminal, now that the screen has left it; for the main thread.

        Returns:
            Its exit status.
        """
        with _forwarding() as forward:
            forward(self.send_signal)
            self.hand_over()
        return self.wait() or 0

    def hand_over(self, back: bytes = b"") -> bool:
        """Let our terminal be the program's, its keys and its output; for the main thread.

        Args:
            back: the key that ends this, one byte; without it this ends with the program.

        Returns:
            Whether the program has ended, or the terminal is gone.
        """
        out, source = sys.stdout.fileno(), sys.stdin.fileno()
        taken = self.output

        def show(data: bytes) -> None:
            _write_all(out, data)
            if back:  # it is looked up on the screen, too
                taken(data)

        self.output = show

        def fit(*_: object) -> None:
            columns, rows = os.get_terminal_size(out)
            self.resize(rows, columns)

        fit()
        before, resized = termios.tcgetattr(source), signal.signal(signal.SIGWINCH, fit)
        try:
            tty.setraw(source)  # Ctrl-C is for the program's own terminal
            return self._pass_keys(source, back)
        finally:
            termios.tcsetattr(source, termios.TCSADRAIN, before)
            signal.signal(signal.SIGWINCH, resized)
            if back:
                self.output = taken

    def _pass_keys(self, source: int, back: bytes) -> bool:
        while not self._ended.is_set():
            ready, _, _ = select.select([source], [], [], 0.1)
            if not ready:
                continue
            keys = os.read(source, _PIECE)
            if back and back in keys:
                self.write(keys[: keys.index(back)])
                return False
            if not keys and back:
                return True
            self.write(keys)
        return True

    def _read(self) -> None:
        """Hand on what the program prints until it has ended and nothing comes any more."""
        process = self._holder
        while process is not None:
            ended = process.poll() is not None
            try:
                ready, _, _ = select.select([self._master], [], [], _DRAIN_SECONDS)
                data = os.read(self._master, _PIECE) if ready else b""
            except BlockingIOError:
                continue
            except OSError:  # nobody has the other end open any more
                break
            if data:
                self.output(data)
            elif ended:
                break
        with self._lock:
            for one in (self._master, self._alive):
                os.close(one)
            self._master = self._alive = -1
        if process is not None:
            self._status = exit_status(process.wait())
        self._ended.set()


@contextlib.contextmanager
def _forwarding() -> Iterator[Callable[[Callable[[int], None]], None]]:
    """Pass signals that reach us on to what is yet to be named; those before are kept for it."""
    target: list[Callable[[int], None]] = []
    early: list[int] = []

    def pass_on(number: int, frame: object) -> None:
        if number in _FROM_TERMINAL and _in_foreground():
            return  # the terminal has sent it to the program, too
        if target:
            target[0](number)
        else:
            early.append(number)

    def name(send: Callable[[int], None]) -> None:
        target.append(send)
        for number in early:
            send(number)

    before = {}
    for text in holder.FORWARDED:
        number = getattr(signal, text)
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            before[number] = signal.signal(number, pass_on)
    try:
        yield name
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _in_foreground() -> bool:
    """Whether a terminal counts this process among those that it sends its signals to."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _write_all(descriptor: int, data: bytes) -> None:
    with contextlib.suppress(OSError):
        while data:
            data = data[os.write(descriptor, data) :]
