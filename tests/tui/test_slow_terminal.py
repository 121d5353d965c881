"""A terminal that takes ten kilobytes a second: keys are answered at once, late frames are left out."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Any

import pexpect
import pytest

from tests.tui.test_terminal import LIMIT, ROOT, SAMPLE, Terminal

#: Bytes that the line takes in a second.
RATE = 10_000
KEYS = 60


class SlowTerminal(Terminal):
    """Shows so many bytes a second once it is :attr:`slow`.

    Near, the program can see that its bytes are not taken. Far, as behind SSH, what lies between takes
    all of them, and only the terminal's own answers tell when they have come.
    """

    far = False
    slow = False

    def __init__(self, *arguments: str, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.between = b""
        self._at = time.monotonic()
        self._allowed = 0.0
        self._last = b""

    def read(self, limit: float = LIMIT) -> None:
        if not self.slow:
            before = len(self.sent)
            super().read(limit)
            self._answer(self.sent[before:])
            return
        now = time.monotonic()
        self._allowed = min(self._allowed + (now - self._at) * RATE, RATE / 5)
        self._at = now
        room = (1 << 16) if self.far else int(self._allowed) - len(self.between)
        if room > 0:
            with contextlib.suppress(pexpect.TIMEOUT):
                got = self.child.read_nonblocking(room, timeout=0.02)
                self.sent += got
                self.between += got
        shown = self.between[: int(self._allowed)]
        self.between = self.between[len(shown) :]
        self._allowed -= len(shown)
        self._stream.feed(shown)
        self._answer(shown)

    def _answer(self, shown: bytes) -> None:
        """Tell where the cursor is, as often as that was asked in what is shown now."""
        asked = (self._last + shown).count(b"\x1b[6n")
        self._last = (self._last + shown)[-3:]
        if self.far and asked:
            self.press("\x1b[1;1R" * asked)

    def for_seconds(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.read(0.02)


def folder_of(path: Path) -> Path:
    """A folder for the live screen."""
    for name in ("loader", "fixed"):
        target = path / f"{name}.json.gz"
        target.write_bytes((ROOT / "sample_traces" / "live" / f"{name}.json.gz").read_bytes())
        os.utime(target, (1, 1))
    return path


@pytest.mark.parametrize("far", [False, True], ids=["near", "far"])
@pytest.mark.parametrize("live", [False, True], ids=["trace", "live"])
def test_keys_held_on_a_slow_line_leave_no_delay_behind(
    live: bool, far: bool, tmp_path: Path
) -> None:
    opened = folder_of(tmp_path) if live else SAMPLE
    shown = SlowTerminal(str(opened), columns=200, lines=50)
    shown.far = far
    shown.wait_for("CUDA" if live else "● ready")
    shown.press("www")
    shown.settle()
    shown.slow = True
    for key in ("d" if place % 20 < 10 else "a" for place in range(KEYS)):
        shown.press(key)
        shown.for_seconds(1 / 30)
    begun = time.monotonic()
    shown.press("?")
    while "esc closes" not in shown.text:
        shown.read()
        assert time.monotonic() - begun < 8, "frames that nobody waits for any more still come"
    shown.press("\x1b")
    shown.for_seconds(1.5)
    shown.press("d")
    begun = time.monotonic()
    shown.press("q")
    with contextlib.suppress(pexpect.EOF):
        while shown.child.isalive() or shown.between:
            shown.read()
            assert time.monotonic() - begun < 6, "leaving waits for frames"
    shown.slow = False
    assert shown.leave() == 0
    assert b"\x1b[?1049l" in shown.sent
