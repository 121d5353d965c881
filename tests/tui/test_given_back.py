"""However the program ends, the terminal is as it was before: screen, cursor, mouse, echo."""

from __future__ import annotations

import signal
import sys
import termios
from typing import Any

import pytest

from tests.tui.test_terminal import SAMPLE, Terminal

#: Ways to leave what the program has taken: the other screen, the mouse, the hidden cursor.
GIVEN_BACK = (b"\x1b[?1049l", b"\x1b[?1000l", b"\x1b[?1003l", b"\x1b[?25h")

#: The program with a defect: folding a lane fails.
BROKEN = """
import sys
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.cli import main

def action_fold(self):
    raise ZeroDivisionError("planted [bold]defect")

WhichlayerApp.action_fold = action_fold
sys.exit(main(sys.argv[1:]))
"""


def echoes(terminal: Terminal) -> bool:
    """Whether the terminal shows what is typed, line by line, as shells have it."""
    child: Any = terminal.child
    flags = termios.tcgetattr(child.child_fd)[3]
    return bool(flags & termios.ECHO) and bool(flags & termios.ICANON)


def ended(terminal: Terminal) -> tuple[int, bool]:
    """The exit status, and whether the terminal echoes again."""
    terminal.sent += terminal.child.read()
    echo = echoes(terminal)
    return terminal.status(), echo


def test_a_defect_gives_the_terminal_back_and_is_told_in_one_line() -> None:
    terminal = Terminal(str(SAMPLE), command=(sys.executable, "-c", BROKEN))
    terminal.wait_for("● ready")
    assert not echoes(terminal), "while the screen is up it takes every key"
    terminal.press("c")
    status, echo = ended(terminal)
    assert status == 70 and echo
    assert all(part in terminal.sent for part in GIVEN_BACK)
    after = terminal.sent.rpartition(b"\x1b[?1049l")[2]
    assert b"ZeroDivisionError" in after and b"Traceback" not in after


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_kill_gives_the_terminal_back(number: signal.Signals) -> None:
    terminal = Terminal(str(SAMPLE))
    terminal.wait_for("● ready")
    terminal.press("?")
    terminal.wait_for("esc closes")
    terminal.child.kill(number)
    status, echo = ended(terminal)
    assert status == 128 + number and echo
    assert all(part in terminal.sent for part in GIVEN_BACK)
