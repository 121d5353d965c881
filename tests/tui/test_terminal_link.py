"""What is written to a slow or broken terminal, and when the next frame may come."""

from __future__ import annotations

import os
import pty
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import IO

import pytest

from whichlayer.tui import terminal_link
from whichlayer.tui.terminal_link import ASK, ASKED_FROM, TerminalLink

LONG = "x" * (4 * ASKED_FROM)


class Ends:
    """A terminal: its link, and the other end."""

    def __init__(self) -> None:
        self.far, near = pty.openpty()
        self.file: IO[str] = os.fdopen(near, "w")
        self.freed = 0
        self.link = TerminalLink(self.file, self._count)

    def _count(self) -> None:
        self.freed += 1

    def frame(self, text: str) -> None:
        """Write a frame as the driver does."""
        end = self.link.frame_end(len(text))
        self.link.write(text)
        self.link.write(end)

    def read(self) -> bytes:
        return os.read(self.far, 1 << 16)

    def hang_up(self) -> None:
        """Close the other end, once: its number may be another file's soon."""
        if self.far >= 0:
            os.close(self.far)
            self.far = -1


@pytest.fixture
def ends() -> Iterator[Ends]:
    ends = Ends()
    yield ends
    ends.hang_up()
    with suppress(OSError):  # what it still holds has nowhere to go
        ends.file.close()


def test_a_short_frame_asks_nothing_and_is_over_once_written(ends: Ends) -> None:
    end = ends.link.frame_end(5)
    assert ends.link.is_behind
    ends.link.write("short")
    assert ends.link.is_behind
    ends.link.write(end)
    assert not ends.link.is_behind and ends.freed == 1
    assert ends.read() == b"short"


def test_a_long_frame_is_waited_for_once_the_terminal_has_shown_that_it_answers(
    ends: Ends,
) -> None:
    ends.frame("a" * ASKED_FROM)
    assert ends.read().endswith(ASK.encode())
    assert not ends.link.is_behind, "a terminal that never answers is not waited for"
    ends.link.answered()
    ends.frame("b" * ASKED_FROM)
    assert ends.link.is_behind
    ends.read()
    assert ends.link.is_behind, "it is the terminal that tells"
    before = ends.freed
    ends.link.answered()
    assert not ends.link.is_behind and ends.freed == before + 1


def test_an_answer_that_is_lost_is_not_waited_for_for_ever(
    ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends.link.answered()
    ends.frame("a" * ASKED_FROM)
    assert ends.link.is_behind
    monkeypatch.setattr(terminal_link, "PATIENCE_S", -1.0)
    assert not ends.link.is_behind
    ends.frame("b" * ASKED_FROM)
    assert not ends.link.is_behind, "nor is the next one, before the terminal answers again"


def test_leaving_cuts_a_frame_that_the_terminal_does_not_take_and_gives_the_modes_back(
    ends: Ends,
) -> None:
    writer = threading.Thread(target=ends.frame, args=("y" * 500_000,))
    writer.start()
    got = ends.read()
    ends.link.leave()
    while writer.is_alive():
        got += ends.read()
    ends.link.write("\x1b[?1049l")
    while not got.endswith(b"\x1b[?1049l"):
        got += ends.read()
    assert len(got) < 100_000, "what was not taken yet is left out"
    assert got.endswith(b"y\x18\x1b[?1049l"), "a sequence that was begun is ended first"
    ends.frame(LONG)
    ends.link.stay()
    ends.frame("z" * ASKED_FROM)
    assert ends.read().startswith(b"z")


def test_a_terminal_that_another_program_made_non_blocking_gets_everything(ends: Ends) -> None:
    os.set_blocking(ends.file.fileno(), False)
    writer = threading.Thread(target=ends.frame, args=("o" * 200_000,))
    writer.start()
    got = b""
    while not got.endswith(ASK.encode()):
        got += ends.read()
    writer.join()
    assert got.count(b"o") == 200_000


def test_a_terminal_that_is_gone_takes_everything_at_once(ends: Ends) -> None:
    ends.hang_up()
    ends.frame(LONG)
    assert ends.link.gone and not ends.link.is_behind
    ends.frame(LONG)
    assert ends.freed == 2
