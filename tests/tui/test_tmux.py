"""The program in tmux, where that is present: drawn, driven by keys and mouse, and left."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tui.test_terminal import LIMIT, SAMPLE, Terminal

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")


class Tmux:
    """A tmux of its own, with one window of 120x40 that runs a shell."""

    def __init__(self, folder: Path) -> None:
        self.socket = str(folder / "tmux")
        self("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", "sh")
        self("set-option", "-g", "mouse", "on")

    def __call__(self, *words: str) -> str:
        run = subprocess.run(
            ["tmux", "-S", self.socket, *words],
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        return run.stdout

    @property
    def text(self) -> str:
        return self("capture-pane", "-p")

    def wait_for(self, words: str) -> str:
        until = time.monotonic() + LIMIT
        while words not in (text := self.text):
            assert time.monotonic() < until, f"no {words!r} in tmux:\n{text}"
        return text


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    mine = Tmux(tmp_path)
    yield mine
    mine("kill-server")


def test_open_zoom_to_the_largest_gap_read_its_label_quit(tmux: Tmux) -> None:
    command = shlex.join([sys.executable, "-m", "whichlayer", str(SAMPLE)])
    tmux("send-keys", f"PS1='shell> '; clear; {command}; echo status $?", "Enter")
    tmux.wait_for("● ready")
    before = tmux.wait_for("ABOVE CUDA")
    assert "overview" in before and "GPU0 s7" in before
    for key in ("}", "f", "}"):
        tmux("send-keys", "-l", key)
    for words in ("dataloader-wait", "PyTorch / runtime", "train.py:"):
        tmux.wait_for(words)
    tmux("send-keys", "Escape")
    tmux("send-keys", "-l", "?")
    tmux.wait_for("zoom in about the cursor")
    tmux("send-keys", "Escape")
    tmux.wait_for("● ready")
    tmux("resize-window", "-x", "80", "-y", "24")
    tmux.wait_for("region  findings")
    tmux("send-keys", "-l", "q")
    after = tmux.wait_for("status 0")
    assert "overview" not in after, "the screen of before is back"


def test_detached_and_attached_again_at_another_size_it_is_drawn_whole(tmux: Tmux) -> None:
    command = shlex.join([sys.executable, "-m", "whichlayer", str(SAMPLE)])
    tmux("send-keys", f"{command}; echo status $?", "Enter")
    attach = ("tmux", "-S", tmux.socket, "attach")
    first = Terminal(command=attach, columns=120, lines=41)
    first.wait_for("● ready")
    first.wait_for("ABOVE CUDA")
    tmux("detach-client")
    first.leave()
    tmux("send-keys", "-l", "w")
    second = Terminal(command=attach, columns=80, lines=25)
    second.wait_for("region  findings")
    for words in ("ABOVE CUDA", "GPU0 s7", "overview"):
        second.wait_for(words)
    second.press("q")
    second.wait_for("status 0")
    tmux("detach-client")
    second.leave()
