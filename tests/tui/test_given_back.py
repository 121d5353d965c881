"""However the program ends, the terminal is as it was before: screen, cursor, mouse, echo."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import termios
from pathlib import Path
from typing import Any

import pytest

from tests.tui.test_terminal import SAMPLE, Terminal

#: Ways to leave what the program has taken: the other screen, the mouse, the hidden cursor, pastes
#: in brackets, news of the focus, lines that are not wrapped, keys as kitty tells them.
GIVEN_BACK = (b"\x1b[?1049l", b"\x1b[?1000l", b"\x1b[?1003l", b"\x1b[?1006l", b"\x1b[?25h",
              b"\x1b[?2004l", b"\x1b[?1004l", b"\x1b[?7h", b"\x1b[<u")  # fmt: skip

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


def test_a_screen_that_is_stopped_comes_back_whole_at_the_size_that_the_terminal_has_then() -> None:
    shell = ("bash", "--norc", "--noprofile", "-i")
    terminal = Terminal(command=shell, PS1="prompt> ")
    terminal.wait_for("prompt>")
    terminal.press(shlex.join([sys.executable, "-m", "whichlayer", str(SAMPLE)]) + "\n")
    terminal.wait_for("● ready")
    shell_id = terminal.child.pid
    pid = int(Path(f"/proc/{shell_id}/task/{shell_id}/children").read_text().split()[0])
    os.kill(pid, signal.SIGTSTP)
    terminal.wait_for("Stopped")
    assert echoes(terminal) or b"prompt> " in terminal.sent.rpartition(b"Stopped")[2]
    assert all(part in terminal.sent for part in GIVEN_BACK)
    terminal.resize(80, 24)
    before = len(terminal.sent)
    terminal.press("fg\n")
    terminal.wait_for("region  findings")
    assert b"\x1b[?1049h" in terminal.sent[before:], "it takes the other screen again"
    terminal.settle()
    drawn = terminal.text
    terminal.press("\x0c")
    terminal.settle()
    assert "● ready" in drawn and terminal.text == drawn, "what is drawn anew is what was there"
    before = len(terminal.sent)
    terminal.press("q")
    while b"prompt> " not in terminal.sent[before:]:
        terminal.read()
    terminal.press("exit 7\n")
    assert terminal.leave() == 7


def test_a_screen_that_no_signal_tells_of_its_closed_terminal_ends_with_it() -> None:
    command = (
        f"trap '' HUP; exec {shlex.quote(sys.executable)} -m whichlayer {shlex.quote(str(SAMPLE))}"
    )
    terminal = Terminal(command=("sh", "-c", command))
    terminal.wait_for("● ready")
    terminal.hang_up()  # waits for the end of the process
