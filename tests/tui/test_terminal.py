"""The program in a real terminal, as a user meets it."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pexpect
import pyte
import pytest

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "sample_traces" / "dataloader_bound.json.gz"
#: Seconds that a slow machine may take; nothing waits this long unless it has failed.
LIMIT = 60


class Terminal:
    """A program in a pseudo-terminal, and what its screen shows."""

    def __init__(
        self,
        *arguments: str,
        columns: int = 120,
        lines: int = 40,
        command: Sequence[str] = (sys.executable, "-m", "whichlayer"),
        **variables: str,
    ) -> None:
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self._screen)
        self.sent = b""
        env = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "", **variables}
        self.child: pexpect.spawn[bytes] = pexpect.spawn(
            command[0],
            [*command[1:], *arguments],
            dimensions=(lines, columns),
            env=env,
            timeout=LIMIT,
        )
        self.child.delaybeforesend = None  # what is pressed follows on what was waited for
        ended: Any = self.child
        ended.ptyproc.delayafterclose = 0  # the end was waited for

    @property
    def text(self) -> str:
        return "\n".join(self._screen.display)

    def wait_for(self, text: str) -> str:
        """Read until the screen shows a text."""
        while text not in self.text:
            try:
                self.read()
            except (pexpect.EOF, pexpect.TIMEOUT) as end:
                raise AssertionError(f"no {text!r} on the screen:\n{self.text}") from end
        return self.text

    def read(self, limit: float = LIMIT) -> None:
        """Take what the program writes next."""
        got = self.child.read_nonblocking(1 << 16, timeout=limit)
        self.sent += got
        self._stream.feed(got)

    def settle(self) -> None:
        """Read until the program has written nothing for a second."""
        with contextlib.suppress(pexpect.TIMEOUT):
            while True:
                self.read(1)

    def resize(self, columns: int, lines: int) -> None:
        """Give the terminal another size, as a window manager does."""
        self._screen.resize(lines, columns)
        self.child.setwinsize(lines, columns)

    def garble(self, text: str, over: str) -> None:
        """Write over a text on the screen, as another program may."""
        line = next(i for i, shown in enumerate(self._screen.display, 1) if over in shown)
        self._stream.feed(f"\x1b[{line};1H{text}".encode())

    def press(self, keys: str) -> None:
        self.child.send(keys)

    def hang_up(self) -> None:
        """Close the terminal under the program, and wait for its end."""
        child: Any = self.child
        child.closed = child.ptyproc.closed = True  # for pexpect, which would wait as well
        child.ptyproc.fileobj.close()
        os.waitpid(child.pid, 0)

    def leave(self) -> int:
        """Wait for the end; the exit status."""
        self.sent += self.child.read()
        return self.status()

    def status(self) -> int:
        """The exit status of a program that has let go of the terminal."""
        ends = time.monotonic() + LIMIT
        while self.child.isalive():  # closing the terminal would hang up on it
            assert time.monotonic() < ends, "it goes on without its terminal"
            time.sleep(0.002)
        self.child.close()
        assert self.child.exitstatus is not None, self.child.signalstatus
        return int(self.child.exitstatus)


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (120, 40), (200, 50)])
def test_open_zoom_to_the_largest_gap_read_its_label_quit(columns: int, lines: int) -> None:
    terminal = Terminal(str(SAMPLE), columns=columns, lines=lines)
    terminal.wait_for("● ready")
    before = terminal.wait_for("ABOVE CUDA")
    terminal.press("}")
    terminal.press("f")
    terminal.press("}")
    for words in ("dataloader-wait", "PyTorch / runtime", "num_workers", "train.py:", "RRRR"):
        terminal.wait_for(words)
    assert "overview" in before and "GPU0 s7" in before
    terminal.press("q")
    assert terminal.leave() == 0
    assert b"\x1b[?1049h" in terminal.sent, "the alternate screen was taken"
    assert b"\x1b[?1049l" in terminal.sent, "and given back"


def test_the_exit_status_tells_an_interrupt_from_leaving() -> None:
    """Leaving is 0 in every other test here."""
    terminal = Terminal(str(SAMPLE))
    terminal.wait_for("● ready")
    terminal.press("\x03")
    assert terminal.leave() == 130


def test_at_80x24_the_evidence_is_hinted_and_one_key_away() -> None:
    terminal = Terminal(str(SAMPLE), columns=80, lines=24)
    terminal.wait_for("● ready")
    terminal.wait_for("r reads on")
    terminal.press("r")
    terminal.wait_for("its launch cudaMemcpyAsync")
    terminal.press("q")
    assert terminal.leave() == 0


def test_a_file_that_is_no_trace_is_one_line_and_status_two(tmp_path: Path) -> None:
    bad = tmp_path / "notes.json"
    bad.write_text("hello", encoding="utf-8")
    terminal = Terminal(str(bad))
    assert terminal.leave() == 2
    after = terminal.sent.rpartition(b"\x1b[?1049l")[2].decode()
    assert f"whichlayer: {bad}: " in after.replace("\r\n", "")
    assert "Traceback" not in terminal.sent.decode()


def test_opening_sends_the_screen_twice_at_most_and_a_key_draws_it_anew() -> None:
    """Once for the timeline, once with the verdict: a full repaint takes 19 kB."""
    terminal = Terminal(str(SAMPLE))
    terminal.wait_for("● ready")
    assert len(terminal.sent) < 2 * 19_000
    terminal.settle()
    terminal.garble("a message to all terminals", over="GPU0 s7")
    assert "GPU0 s7" not in terminal.text
    terminal.press("\x0c")
    terminal.wait_for("GPU0 s7")
    assert "a message" not in terminal.text
    terminal.press("q")
    assert terminal.leave() == 0
