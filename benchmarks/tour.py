"""Count what a tour of traces writes: ``python -m benchmarks.tour FILE... --size 120x40``.

On a pseudo-terminal with 256 colours. Once the verdict is there the same keys are pressed on every
trace, each once the frame of the one before has come and nothing after it for a while: whole repaints (Ctrl-L) of several views, zooms, pans and
jumps; moves of the cursor, by whether the region pane says the same after them; sheets that are
opened and closed; at last nothing is pressed for some seconds. Needs pyte, of the test extra.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import pyte

from benchmarks.measure import machine
from benchmarks.terminal import Terminal

_READY = re.compile(rb"\xe2\x97\x8f ready")
_NEVER = re.compile(rb"(?!)")
_ANYTHING = re.compile(rb".", re.DOTALL)

#: Keys that show another view, and what is drawn anew in between.
VIEWS = ("w", "w", "d", "]", "}", "F", "f", "s", ">", "a")
_REDRAW, _ESCAPE = "\x0c", "\x1b"
MOVES = ("l",) * 6 + ("L", "h", "H", "j", "j", "k", "k")

#: Keys before the moves: the whole window, a gap that fills the view, the smallest kernels.
STAGES = ("f", "]F", "f.Fssss")

#: Keys that open a sheet; escape closes it.
SHEETS = ("?", "A", "I", "K", "@", "o", "!", ":", "D")

#: So long a key may have no effect before it is taken to have none.
_EFFECT_S = 2.0

#: Nothing is pressed for so long at the end.
_IDLE_S = 4.0


@dataclass(slots=True)
class Written:
    """Bytes by act, over all traces of one size."""

    repaints: list[int] = field(default_factory=list)
    views: list[int] = field(default_factory=list)
    same: list[int] = field(default_factory=list)
    other: list[int] = field(default_factory=list)
    sheets: list[int] = field(default_factory=list)
    idle: list[int] = field(default_factory=list)


def tour(path: Path, size: tuple[int, int], quiet_s: float, written: Written) -> None:
    """Take the tour of one trace.

    Raises:
        RuntimeError: it did not get ready.
    """
    command = [sys.executable, "-m", "whichlayer", str(path), "--no-cache"]
    screen = pyte.Screen(*size)
    with Terminal(command, *size) as terminal:
        terminal.sink = pyte.ByteStream(screen).feed
        if math.isnan(terminal.wait_for(_READY, 180)):
            raise RuntimeError(f"{path} did not get ready")
        settle(terminal, quiet_s * 3)
        for key in VIEWS:
            written.views.append(pressed(terminal, key, quiet_s))
            written.repaints.append(pressed(terminal, _REDRAW, quiet_s))
        for keys in STAGES:
            for key in keys:
                pressed(terminal, key, quiet_s)
            for key in MOVES:
                said = region(screen)
                count = pressed(terminal, key, quiet_s)
                (written.same if region(screen) == said else written.other).append(count)
        for key in SHEETS:
            written.sheets.append(pressed(terminal, key, quiet_s))
            written.sheets.append(pressed(terminal, _ESCAPE, quiet_s))
        before = terminal.written
        terminal.wait_for(_NEVER, _IDLE_S)
        written.idle.append(terminal.written - before)


def region(screen: pyte.Screen) -> list[str]:
    """What the region pane says; nothing where it is not on the screen."""
    lines = list(screen.display)
    for y, line in enumerate(lines):
        if "─ region ─" in line or (" region " in line and "─" in line):
            at = line.index("region") - 1
            return [below[at:] for below in lines[y + 1 : -1]]
    return []


def settle(terminal: Terminal, quiet_s: float) -> None:
    """Wait until nothing has come for so long."""
    before = -1
    while terminal.written != before:
        before = terminal.written
        terminal.wait_for(_NEVER, quiet_s)


def pressed(terminal: Terminal, key: str, quiet_s: float) -> int:
    """How many bytes a key makes the program write."""
    before = terminal.written
    terminal.send(key.encode())
    terminal.wait_for(_ANYTHING, _EFFECT_S, fresh=True)
    settle(terminal, quiet_s)
    return terminal.written - before


def spread(numbers: Sequence[int]) -> str:
    """The median, the least and most, and how many there are."""
    if not numbers:
        return "none"
    return f"{median(numbers):,.0f} ({min(numbers):,}-{max(numbers):,}; {len(numbers)})"


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--size", action="append", help="columns x lines; may be repeated")
    parser.add_argument("--quiet", type=float, default=0.5, help="seconds that end an act")
    options = parser.parse_args(arguments)
    os.environ["TEXTUAL_COLOR_SYSTEM"] = "256"
    print(f"Machine before: {machine()}", flush=True)
    print(
        "| size | whole repaint | another view | move, same region | move, other region "
        "| sheet | idle |"
    )
    print("|---|---|---|---|---|---|---|")
    for text in options.size or ["120x40", "200x50"]:
        columns, lines = map(int, text.split("x"))
        written = Written()
        for path in options.files:
            tour(path, (columns, lines), options.quiet, written)
        acts = (
            written.repaints, written.views, written.same, written.other, written.sheets,
        )  # fmt: skip
        cells = [spread(one) for one in acts]
        print(f"| {text} | {' | '.join(cells)} | {max(written.idle):,} |", flush=True)
    print(f"Machine after:  {machine()}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
