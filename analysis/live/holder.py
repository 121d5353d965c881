"""Between the screen and the program: holds the program's terminal, so that it outlives the screen.

Run as a process of its own (``python -I -S holder.py MASTER SLAVE SCREEN SOURCE COMMAND...``) with
descriptors: both ends of a pseudo-terminal, a pipe that ends when the screen ends, and what becomes the
program's standard input (-1: its terminal). It starts the program in a session of its own on that terminal, passes signals on, and ends as the program does:
with its exit status, or 128+N after signal N. While the screen lives it touches no output. When the
screen is gone it reads what the program prints to nowhere: otherwise writing would fail, and the
closed terminal would end the program.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys

FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGCONT")
"""Signals that are passed on to the program, where the system has them."""

_CANNOT_RUN, _NOT_FOUND = 126, 127


def hold(master: int, slave: int, screen: int, source: int, command: list[str]) -> int:
    """Run a program to its end and return what its exit status becomes."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    program = os.fork()
    if program == 0:
        _become(master, slave, screen, source, command)
    for given in (slave, source):
        if given >= 0:
            os.close(given)
    for name in FORWARDED:
        signal.signal(getattr(signal, name), lambda number, frame: _pass_on(program, number))
    watched = [woken, screen]
    while True:
        ended, status = os.waitpid(program, os.WNOHANG)
        if ended:
            break
        ready, _, _ = select.select(watched, [], [])
        if woken in ready:
            _emptied(woken)
        if screen in ready and not _emptied(screen):
            watched = [woken, master]
        if master in ready and not _emptied(master):
            watched = [woken]
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


def _become(master: int, slave: int, screen: int, source: int, command: list[str]) -> None:
    """In the child: take the terminal, undo what this process changed, and be the program."""
    code = _CANNOT_RUN
    try:
        import fcntl
        import termios

        signal.set_wakeup_fd(-1)
        for name in ("SIGPIPE", "SIGXFSZ"):  # Python ignores them, and so would the program
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for standard in (0, 1, 2):
            os.dup2(slave, standard)
        if source >= 0:
            os.dup2(source, 0)
        for ours in (master, slave, screen, source):
            if ours >= 0:
                os.close(ours)
        os.execvp(command[0], command)
    except FileNotFoundError:
        code = _NOT_FOUND
    except BaseException:  # noqa: BLE001  nothing of this process may go on in the child
        code = _CANNOT_RUN
    finally:
        os._exit(code)


def _pass_on(program: int, number: int) -> None:
    try:
        os.killpg(program, number)
    except OSError:  # it has just ended, or has no session of its own yet
        with contextlib.suppress(OSError):
            os.kill(program, number)


def _emptied(descriptor: int) -> bool:
    """Read what is there to nowhere; False where nothing will come any more."""
    try:
        return bool(os.read(descriptor, 1 << 16))
    except BlockingIOError:
        return True
    except OSError:
        return False  # a terminal whose other end is closed


if __name__ == "__main__":
    numbers = [int(one) for one in sys.argv[1:5]]
    sys.exit(hold(numbers[0], numbers[1], numbers[2], numbers[3], sys.argv[5:]))
