"""The screen on a trace that comes through a pipe: keys still come from the terminal."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from tests.tui.test_terminal import SAMPLE, Terminal


def test_a_piped_trace_opens_and_keys_answer(tmp_path: Path) -> None:
    command = f"cat {shlex.quote(str(SAMPLE))} | {shlex.quote(sys.executable)} -m whichlayer -"
    shown = Terminal(command=("/bin/sh", "-c", command), TMPDIR=str(tmp_path))
    shown.wait_for("dataloader-wait")
    shown.press("q")
    assert shown.leave() == 0
    assert not list(tmp_path.iterdir())


def test_a_pipe_that_is_still_filling_can_be_left_and_leaves_nothing(tmp_path: Path) -> None:
    pipe, room = tmp_path / "pipe", tmp_path / "room"
    room.mkdir()
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDWR)  # which neither waits for the other end nor closes it
    command = f"exec {shlex.quote(sys.executable)} -m whichlayer - < {shlex.quote(str(pipe))}"
    shown = Terminal(command=("/bin/sh", "-c", command), TMPDIR=str(room))
    os.write(end, b'{"traceEvents": [')
    shown.wait_for("receiving")
    assert list(room.iterdir())
    shown.press("\x1b")
    shown.wait_for("nothing can be kept yet")
    shown.press("q")
    assert shown.leave() == 0
    assert not list(room.iterdir())
    os.close(end)


def test_what_has_come_is_shown_while_the_pipe_is_still_filling(tmp_path: Path) -> None:
    pipe, room = tmp_path / "pipe", tmp_path / "room"
    room.mkdir()
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDWR)
    command = f"exec {shlex.quote(sys.executable)} -m whichlayer - < {shlex.quote(str(pipe))}"
    shown = Terminal(command=("/bin/sh", "-c", command), TMPDIR=str(room))
    shown.wait_for("receiving")
    event = '{"ph": "X", "name": "work", "cat": "cpu_op", "ts": %d, "dur": 9, "pid": 1, "tid": 1},'
    os.write(end, b'{"traceEvents": [')
    for at in range(0, 400, 10):
        os.write(end, (event % at).encode())
    shown.wait_for("CPU 1")
    assert "receiving" in shown.text
    shown.press("q")
    assert shown.leave() == 0
    os.close(end)
