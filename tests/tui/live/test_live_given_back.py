"""However the live screen ends, the terminal is given back, and the program under it goes on or ends as asked."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.tui.test_given_back import GIVEN_BACK, ended
from tests.tui.test_slow_terminal import folder_of
from tests.tui.test_terminal import LIMIT, Terminal

#: The program with a defect: drawing the line under the strip of windows fails at the key ``c``.
BROKEN = """
import sys
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.cli import main
from whichlayer.tui.live.live_line import LiveLine

def broken(self, y):
    raise ZeroDivisionError("planted [bold]defect")

def action_fold(self):
    LiveLine.render_line = broken
    self.query_one("#live").refresh()

WhichlayerApp.action_fold = action_fold
WhichlayerApp.check_action = lambda self, action, parameters: True
sys.exit(main(sys.argv[1:]))
"""

COUNTS = """
import time
for number in range(10000):
    print("counted", number, flush=True)
    time.sleep(0.1)
"""


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, Any]:
    room = tmp_path / "room"
    room.mkdir()
    return {"TMPDIR": str(room), "XDG_CACHE_HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(room)}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_kill_gives_the_terminal_back(
    number: signal.Signals, tmp_path: Path, settings: dict[str, Any]
) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    terminal = Terminal(str(folder_of(runs)), **settings)
    terminal.wait_for("2 of 2")
    terminal.child.kill(number)
    status, echo = ended(terminal)
    assert status == 128 + number and echo
    assert all(part in terminal.sent for part in GIVEN_BACK)


def test_a_defect_of_the_screen_leaves_the_program_running_in_the_terminal(
    settings: dict[str, Any],
) -> None:
    terminal = Terminal(
        "run", "--", sys.executable, "-c", COUNTS,
        command=(sys.executable, "-c", BROKEN), **settings,
    )  # fmt: skip
    terminal.wait_for("counted 3")
    terminal.press("c")
    terminal.wait_for("ZeroDivisionError")
    terminal.wait_for("the program goes on here")
    before = terminal.sent.rpartition(b"counted ")[2]
    while terminal.sent.rpartition(b"counted ")[2].split()[:1] == before.split()[:1]:
        terminal.read()
    terminal.press("\x03")
    status, echo = ended(terminal)
    assert status == 128 + signal.SIGINT and echo, "the program's own status"
    assert all(part in terminal.sent for part in GIVEN_BACK)
    after = terminal.sent.rpartition(b"\x1b[?1049l")[2]
    assert b"a defect of whichlayer" in after and b"KeyboardInterrupt" in after


def test_the_demonstration_ends_with_its_command_when_that_is_killed(
    settings: dict[str, Any],
) -> None:
    terminal = Terminal("demo", "--live", **settings)
    terminal.wait_for("process ")
    programs = [
        int(entry)
        for entry in os.listdir("/proc")
        if entry.isdecimal() and _is_demo(entry, settings)
    ]
    assert len(programs) == 1
    terminal.child.kill(signal.SIGKILL)
    terminal.child.close()
    until = time.monotonic() + LIMIT
    while _is_demo(str(programs[0]), settings):
        assert time.monotonic() < until, "it trains for ever"
        time.sleep(0.05)


def _is_demo(entry: str, settings: dict[str, Any]) -> bool:
    """Whether a process is the simulated training of this test."""
    try:
        command = Path("/proc", entry, "cmdline").read_bytes()
        environment = Path("/proc", entry, "environ").read_bytes()
    except OSError:
        return False
    wanted = f"TMPDIR={settings['TMPDIR']}".encode()
    is_program = command.endswith(b"-m\0whichlayer.tui.live.demo_program\0")
    return is_program and b"holder" not in command and wanted in environment
