"""The screen on a trace that comes through a pipe: keys still come from the terminal."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pexpect

from tests.tui.test_terminal import LIMIT, SAMPLE, Terminal


def test_a_piped_trace_opens_and_keys_answer(tmp_path: Path) -> None:
    shown = Terminal("--version")
    shown.leave()
    command = f"cat {shlex.quote(str(SAMPLE))} | {shlex.quote(sys.executable)} -m whichlayer -"
    shown.child = pexpect.spawn(
        "/bin/sh",
        ["-c", command],
        dimensions=(40, 120),
        env={"TERM": "xterm-256color", "TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin"},
        timeout=LIMIT,
    )
    shown.wait_for("dataloader-wait")
    shown.press("q")
    assert shown.leave() == 0
    assert not list(tmp_path.iterdir())
