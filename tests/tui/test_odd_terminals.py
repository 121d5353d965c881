"""Terminals that can do little, that are tiny or huge, and that never keep their size."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from tests.tui.test_slow_terminal import folder_of
from tests.tui.test_terminal import SAMPLE, Terminal

SIZES = ((80, 24), (130, 42), (20, 5), (120, 40), (61, 17), (100, 30), (33, 9), (90, 12))


@pytest.mark.parametrize(
    "name", ["dumb", "xterm", "linux", "screen-256color", "tmux-256color", "vt100"]
)
def test_a_trace_is_opened_read_and_left_whatever_the_terminal_is_called(name: str) -> None:
    terminal = Terminal(str(SAMPLE), TERM=name)
    terminal.wait_for("● ready")
    terminal.press("}")
    for words in ("dataloader-wait", "PyTorch / runtime", "train.py:"):
        terminal.wait_for(words)
    terminal.press("q")
    assert terminal.leave() == 0
    assert b"\x1b[?1049l" in terminal.sent


@pytest.mark.parametrize(("columns", "lines"), [(20, 5), (300, 100)])
def test_a_terminal_of_any_size_shows_the_verdict_and_answers(columns: int, lines: int) -> None:
    terminal = Terminal(str(SAMPLE), columns=columns, lines=lines)
    terminal.wait_for("ABOVE")
    terminal.press("w?")
    terminal.wait_for("closes")
    terminal.press("q")
    terminal.settle()
    assert "closes" not in terminal.text
    terminal.press("q")
    assert terminal.leave() == 0


def test_the_terminal_tells_its_size_and_not_what_a_shell_has_exported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "61")
    monkeypatch.setenv("LINES", "17")
    terminal = Terminal(str(SAMPLE), columns=120, lines=40)
    terminal.wait_for("● ready")
    assert len(terminal.text.splitlines()[0].rstrip()) > 61
    terminal.resize(80, 24)
    terminal.wait_for("region  findings")
    terminal.press("q")
    assert terminal.leave() == 0


@pytest.mark.parametrize("live", [False, True], ids=["trace", "live"])
def test_fifty_sizes_within_a_second_leave_a_screen_as_if_drawn_anew(
    live: bool, tmp_path: Path
) -> None:
    opened = folder_of(tmp_path) if live else SAMPLE
    terminal = Terminal(str(opened))
    terminal.wait_for("2 of 2" if live else "● ready")
    for place in range(49):
        terminal.resize(*SIZES[place % len(SIZES)])
        terminal.press("dw"[place % 2])
        with contextlib.suppress(pexpect.TIMEOUT):
            terminal.read(0.02)
    terminal.resize(120, 40)
    terminal.wait_for("region")
    terminal.settle()
    left = terminal.text
    terminal.press("\x0c")
    terminal.settle()
    assert terminal.text == left
    assert left.splitlines()[0].startswith(" whichlayer ")
    terminal.press("q")
    assert terminal.leave() == 0


@pytest.mark.parametrize("what", ["trace", "folder", "demo"])
def test_without_a_terminal_one_line_tells_what_to_do_instead(what: str, tmp_path: Path) -> None:
    arguments = {
        "trace": [str(SAMPLE)], "folder": [str(folder_of(tmp_path))], "demo": ["demo", "--live"],
    }[what]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "whichlayer", *arguments],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == 2 and done.stdout == b""
    assert done.stderr.count(b"\n") == 1 and done.stderr.startswith(b"whichlayer: ")
    assert b"terminal" in done.stderr and b"\x1b" not in done.stderr
