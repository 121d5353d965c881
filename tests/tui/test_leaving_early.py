"""Leaving or stopping while a file is read, in a real terminal: at once, and nothing is left."""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
from pathlib import Path

import pytest

from tests.tui.test_terminal import Terminal

#: A screen whose reader stays where it is until it is stopped.
HELD = """
import sys, time
from whichlayer.analysis.options import Options
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.load import Loader

def read(path, progress):
    from whichlayer.analysis import load

    def held(report):
        while True:
            progress(report)
            time.sleep(0.01)

    return load(path, progress=held)

sys.exit(WhichlayerApp(Loader(sys.argv[1], Options(), read)).run() or 0)
"""


def write_trace(path: Path, megabytes: int) -> Path:
    """A trace of one thread, as large as asked for, quickly written."""
    event = (
        '{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": %d, "dur": 5,'
        ' "args": {"External id": 1}}'
    )
    count = megabytes * 10**6 // len(event)
    with path.open("w", encoding="ascii") as file:
        file.write('{"traceEvents": [\n')
        file.write(",\n".join(event % (10 * number) for number in range(count)))
        file.write("\n]}")
    return path


def nobody_in_group(leader: int) -> bool:
    """Whether all processes of a session are gone."""
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return True
    return False


def test_escape_keeps_what_was_read_and_says_that_it_is_a_part(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "held.json", 12)
    terminal = Terminal(str(trace), command=(sys.executable, "-c", HELD))
    terminal.wait_for("Esc stop reading")
    terminal.press("\x1b")
    said = terminal.wait_for("reading stopped at ")
    stopped = re.search(r"reading stopped at (\d+) ?%", said)
    assert stopped is not None and 0 < int(stopped[1]) < 100
    assert "aten::add" in terminal.wait_for("stopped")
    terminal.press("q")
    assert terminal.leave() == 0


@pytest.mark.parametrize(("key", "status"), [("q", 0), ("\x03", 130)])
def test_a_file_that_is_being_read_is_left_at_once_without_a_trace(
    key: str, status: int, tmp_path: Path
) -> None:
    trace = write_trace(tmp_path / "large.json", 48)
    cache, room = tmp_path / "cache", tmp_path / "room"
    for folder in (cache, room):
        folder.mkdir()
    terminal = Terminal(str(trace), XDG_CACHE_HOME=str(cache), TMPDIR=str(room))
    terminal.wait_for("reading")
    terminal.press(key)
    assert terminal.leave() == status
    assert b"\x1b[?1049l" in terminal.sent, "the terminal was given back"
    assert not [path for folder in (cache, room) for path in folder.rglob("*") if path.is_file()]
    assert terminal.child.pid is not None and nobody_in_group(terminal.child.pid)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_in_order(number: signal.Signals, tmp_path: Path) -> None:
    pipe, room = tmp_path / "pipe", tmp_path / "room"
    room.mkdir()
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDWR)  # which neither waits for the other end nor closes it
    command = f"exec {shlex.quote(sys.executable)} -m whichlayer - < {shlex.quote(str(pipe))}"
    terminal = Terminal(command=("/bin/sh", "-c", command), TMPDIR=str(room))
    os.write(end, b'{"traceEvents": [')
    terminal.wait_for("receiving")
    terminal.child.kill(number)
    assert terminal.leave() == 128 + number
    assert b"\x1b[?1049l" in terminal.sent, "the terminal was given back"
    assert not list(room.iterdir())
    os.close(end)


def test_a_terminal_that_is_closed_leaves_nothing(tmp_path: Path) -> None:
    pipe, room = tmp_path / "pipe", tmp_path / "room"
    room.mkdir()
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDWR)
    command = f"exec {shlex.quote(sys.executable)} -m whichlayer - < {shlex.quote(str(pipe))}"
    terminal = Terminal(command=("/bin/sh", "-c", command), TMPDIR=str(room))
    os.write(end, b'{"traceEvents": [')
    terminal.wait_for("receiving")
    terminal.hang_up()
    assert not list(room.iterdir())
    os.close(end)
