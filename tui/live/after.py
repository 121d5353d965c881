"""What becomes of the program once its screen is gone."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from whichlayer.analysis.text import clean
from whichlayer.tui.live.quit_screen import Choice

if TYPE_CHECKING:
    from whichlayer.analysis.live.child import Child
    from whichlayer.tui.live.output_text import ProgramOutput

#: Seconds that a program has to end after it was asked to, before it is ended.
PATIENCE_S: Final = 10.0

BACK: Final = b"\x1d"
"""Ctrl-], as telnet and virtual consoles have it: no program uses it."""

_LAUNCHERS: Final = frozenset({"run", "-m", "launch"})


def print_last(output: ProgramOutput, lines: int = 20) -> None:
    """Write the program's last lines to the terminal: the screen took them along."""
    while output.take():
        pass
    with suppress(OSError):
        for line in output.last(lines):
            print("".join(text for text, _ in line))
        sys.stdout.flush()


def hand_over(child: Child, output: ProgramOutput) -> None:
    """Let the terminal be the program's until Ctrl-] is pressed, or the program ends."""
    print_last(output)
    print("whichlayer: the keyboard is the program's; Ctrl-] is back to the screen", flush=True)
    child.hand_over(BACK)


def afterwards(child: Child, choice: Choice, screen_status: int = 0) -> int:
    """Stop the program, or let it go on in our terminal.

    Args:
        child: the program.
        choice: of the user.
        screen_status: why the screen has ended. A request to end is one to the program as well;
            if the terminal is gone, the program goes on without one.

    Returns:
        The program's exit status; 129 where the terminal is gone.
    """
    if child.status is not None:
        return child.status
    if screen_status == 128 + signal.SIGHUP:
        return screen_status
    if choice is Choice.LEAVE and screen_status != 128 + signal.SIGTERM:
        _say("the program goes on here; no window is recorded any more")
        return child.stay()
    child.send_signal(signal.SIGTERM)
    status = child.wait(PATIENCE_S)
    if status is None:
        _say(f"the program did not end within {PATIENCE_S:.0f} s: it is killed")
        child.kill()
        status = child.wait(PATIENCE_S)
    return 128 + signal.SIGKILL if status is None else status


def status_text(status: int) -> str:
    """An exit status, with the signal that it stands for: ``status 137 (SIGKILL)``."""
    try:
        return f"status {status} ({signal.Signals(status - 128).name})"
    except ValueError:
        return f"status {status}"


def name_of(command: Sequence[str]) -> str:
    """A command by what it runs: ``train.py`` of ``python -u train.py --lr 1``."""
    for word in command:
        if word.endswith(".py"):
            return clean(os.path.basename(word))
    words = [word for word in command if not word.startswith("-") and word not in _LAUNCHERS]
    return clean(os.path.basename(words[-1] if len(words) == 2 else words[0])) if words else ""


def _say(text: str) -> None:
    print(f"whichlayer: {text}", file=sys.stderr, flush=True)
