"""Time the first picture: ``python -m benchmarks.screen FILE… --rounds 5``.

In a pseudo-terminal, from the start of the program: when its first whole picture is written,
when the first events are on it, when the timeline is complete, and when the verdict is there;
beside the first picture of an empty Textual application, in turn in every round. ``--until
picture`` ends each program there and tells the CPU seconds that it took: they do not depend on
what else the machine does. With ``--keys`` also how long the screen takes to answer a key while the file is read.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.measure import machine
from benchmarks.terminal import Terminal

_EMPTY = "from textual.app import App; App().run()"

#: What is awaited in turn. A lane's label stands for events; the rest are words of the screen.
_MARKS = {
    "events": re.compile(rb"CPU |GPU\d|thread"),
    "timeline": re.compile(rb"analysing|\xe2\x97\x8f ready"),
    "verdict": re.compile(rb"\xe2\x97\x8f ready"),
}
_PICTURE = "picture"

#: The key that moves the cursor, and the cursor on the ruler.
_KEY, _CURSOR = b"l", re.compile("▼".encode())

#: Seconds between two keys.
_KEY_EVERY_S = 0.2


@dataclass(slots=True)
class Case:
    """One program, and the seconds that it took to each mark in every round.

    Attributes:
        cpu_s: user and system time of every round.
        answers: how long answers to keys took.
    """

    name: str
    command: list[str]
    marks: tuple[str, ...]
    seconds: dict[str, list[float]] = field(default_factory=dict)
    cpu_s: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)

    def measure(self, size: tuple[int, int], limit: float, keys: bool) -> None:
        """Runs it once."""
        columns, lines = size
        # Textual moves to the beginning of each line of a whole picture.
        picture = re.compile(rb"\x1b\[%d;1H" % lines)
        with Terminal(self.command, columns, lines) as terminal:
            self._note(_PICTURE, terminal, picture, limit)
            for mark in self.marks:
                if keys and mark == "timeline":
                    self.answers += answers(terminal, limit)
                self._note(mark, terminal, _MARKS[mark], limit)
        self.cpu_s.append(terminal.cpu_s)

    def _note(self, name: str, terminal: Terminal, mark: re.Pattern[bytes], limit: float) -> None:
        passed = terminal.wait_for(mark, limit) - terminal.begun
        self.seconds.setdefault(name, []).append(passed)


def answers(terminal: Terminal, limit: float) -> list[float]:
    """Seconds from a key to its answer, key after key until the timeline is complete."""
    found: list[float] = []
    until = time.perf_counter() + limit
    while time.perf_counter() < until:
        if not math.isnan(terminal.wait_for(_MARKS["timeline"], _KEY_EVERY_S)):
            break
        begun = time.perf_counter()
        terminal.send(_KEY)
        answered = terminal.wait_for(_CURSOR, limit, fresh=True)
        found.append(answered - begun)
    return found


def row(case: Case, empty: Case) -> str:
    """A line of the table: medians, what the picture takes beyond the empty one, and the rest."""
    cells = [case.name]
    for mark in (_PICTURE, *_MARKS):
        seconds = case.seconds.get(mark)
        cells.append("" if seconds is None else _spread(seconds))
    pairs = zip(case.seconds[_PICTURE], empty.seconds[_PICTURE], strict=True)
    cells.append("" if case is empty else _spread([ours - its for ours, its in pairs]))
    rest = zip(case.seconds[_PICTURE], case.seconds.get("timeline", []), strict=False)
    after = [whole - picture for picture, whole in rest]
    cells += [_spread(after) if after else "", _spread(case.cpu_s)]
    return "| " + " | ".join(cells) + " |"


def answer_row(case: Case) -> str:
    """How long answers to keys took: the median, 95 of 100, the longest."""
    ordered = sorted(case.answers)
    if not ordered:
        return f"{case.name}: read before a key was pressed"
    late = ordered[min(int(0.95 * len(ordered)), len(ordered) - 1)]
    return (
        f"{case.name}: {len(ordered)} keys, median {1e3 * median(ordered):.0f} ms, "
        f"95 % within {1e3 * late:.0f} ms, longest {1e3 * ordered[-1]:.0f} ms"
    )


def _spread(seconds: Sequence[float]) -> str:
    return f"{median(seconds):.2f} ({min(seconds):.2f}-{max(seconds):.2f})"


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--columns", type=int, default=120)
    parser.add_argument("--lines", type=int, default=40)
    parser.add_argument("--limit", type=float, default=120, help="seconds until it has failed")
    parser.add_argument("--keys", action="store_true", help="press keys while a file is read")
    parser.add_argument(
        "--until", choices=(_PICTURE, *_MARKS), default="verdict", help="default: verdict"
    )
    parser.add_argument("--cache", action="store_true", help="let the files be in the cache")
    options = parser.parse_args(arguments)
    empty = Case("an empty Textual application", [sys.executable, "-c", _EMPTY], ())
    ours = [sys.executable, "-m", "whichlayer"]
    more = [] if options.cache else ["--no-cache"]
    marks = (_PICTURE, *_MARKS)
    marks = marks[1 : marks.index(options.until) + 1]
    found = [empty]
    for path in options.files:
        name = f"{path.name}, {path.stat().st_size / 1e6:.0f} MB"
        found.append(Case(name, [*ours, str(path), *more], marks))
    print(f"Machine before: {machine()}", flush=True)
    size = (options.columns, options.lines)
    for number in range(options.rounds):
        for case in found[number % len(found) :] + found[: number % len(found)]:
            case.measure(size, options.limit, options.keys and case is not empty)
    print(f"Machine after:  {machine()}\n")
    print(f"Medians of {options.rounds} in seconds, least and most in brackets.\n")
    print(
        "| program | picture | first events | timeline | verdict | beyond the empty one "
        "| picture to timeline | CPU |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for case in found:
        print(row(case, empty))
    if options.keys:
        print("\n" + "\n".join(answer_row(case) for case in found[1:]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
