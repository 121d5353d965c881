"""A long recording, and whether either side grows: ``python -m benchmarks.live_soak --minutes 30``.

A program on the CPU (torch has to be installed) runs under ``whichlayer run`` in a real terminal, with
a window every few seconds; each is sent, kept, read, analysed and drawn. Keys are pressed all the
while: along the timeline, to older windows, back to live. Told now and then are resident memory and open
descriptors of the program and of the screen. Past windows may hold so little memory that their
limit is soon reached: from then on neither side may grow.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.terminal import Terminal

PROGRAM = """
import sys, time, torch
torch.set_num_threads(1)
model = torch.nn.Sequential(*[torch.nn.Linear(16, 16) for _ in range(40)])
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
ends = time.monotonic() + float(sys.argv[1])
step = 0
while time.monotonic() < ends:
    model(torch.randn(4, 16)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    time.sleep(float(sys.argv[2]))
    step += 1
    if step % 10 == 0:
        print("step", step, flush=True)
"""

_HISTORY = "32M"
_KEYS = (b"l", b"j", b"]", b"k", b"(", b"(", b")", b"G", b"+", b"-", b"e", b"G")
_NEVER = re.compile(rb"(?!)")
_WARM_SHARE = 1 / 6
"""Part of the time that is left out of the slope: until the history is full."""


@dataclass(frozen=True, slots=True)
class Line:
    """What was found at one time; memory in MB, descriptors by their number."""

    minutes: float
    windows: int
    program_mb: float
    program_fds: int
    screen_mb: float
    screen_fds: int


def resident_mb(pid: int) -> float:
    """Megabytes of a process that are in memory."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def descriptors(pid: int) -> int:
    """How many are open."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def children(pid: int) -> list[int]:
    """The processes that a process has started and that live."""
    return [
        int(one)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for one in (task / "children").read_text().split()
    ]


def windows_in(room: Path) -> int:
    """The number of the newest window that the screen has kept."""
    numbers = (re.search(r"_window(\d+)_", path.name) for path in room.rglob("rank*.json.gz"))
    return max((int(one[1]) for one in numbers if one is not None), default=0)


def soak(seconds: float, every: int, pause_s: float, tell_seconds: float) -> Iterator[Line]:
    """Record for so long; what is found now and then."""
    with tempfile.TemporaryDirectory(prefix="soak") as folder:
        room = Path(folder)
        for name in ("TMPDIR", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"):
            os.environ[name] = folder
        program = [sys.executable, "-c", PROGRAM, str(seconds), str(pause_s)]
        ours = [sys.executable, "-m", "whichlayer", "run", "--every", str(every)]
        with Terminal([*ours, "--history", _HISTORY, "--", *program], 120, 40) as screen:
            began = told = time.monotonic()
            pressed = 0
            while time.monotonic() - began < seconds - 2:
                screen.wait_for(_NEVER, 1.0)
                pressed += 1
                if pressed > 10:
                    screen.send(_KEYS[pressed % len(_KEYS)])
                if time.monotonic() - told >= tell_seconds:
                    told = time.monotonic()
                    yield from _lines((told - began) / 60, screen.pid, room)


def _lines(minutes: float, screen: int, room: Path) -> Iterator[Line]:
    """One, or none as long as the program has not been started."""
    for program in [one for holder in children(screen) for one in children(holder)][:1]:
        yield Line(
            minutes,
            windows_in(room),
            resident_mb(program),
            descriptors(program),
            resident_mb(screen),
            descriptors(screen),
        )


def slope(minutes: list[float], megabytes: list[float]) -> float:
    """Least squares, in MB a minute; NaN for fewer than two."""
    count = len(minutes)
    if count < 2:
        return math.nan
    middle, mean = sum(minutes) / count, sum(megabytes) / count
    spread = sum((one - middle) ** 2 for one in minutes)
    pairs = zip(minutes, megabytes, strict=True)
    return sum((x - middle) * (y - mean) for x, y in pairs) / spread


def main() -> None:
    """Soak."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--every", type=int, default=40, help="steps from window to window")
    parser.add_argument("--pause", type=float, default=0.05, help="seconds that a step sleeps")
    parser.add_argument("--tell", type=float, default=60, help="seconds from line to line")
    typed = parser.parse_args()
    print("  min  windows  program MB  fds  screen MB  fds", flush=True)
    lines = []
    for line in soak(typed.minutes * 60, typed.every, typed.pause, typed.tell):
        lines.append(line)
        print(
            f"{line.minutes:5.1f}  {line.windows:7}  {line.program_mb:10.1f}  {line.program_fds:3}  "
            f"{line.screen_mb:9.1f}  {line.screen_fds:3}",
            flush=True,
        )
    late = [one for one in lines if one.minutes > typed.minutes * _WARM_SHARE]
    minutes = [one.minutes for one in late]
    for name in ("program_mb", "screen_mb"):
        found = slope(minutes, [getattr(one, name) for one in late])
        print(f"{name}: {found:+.3f} MB a minute behind the first sixth")


if __name__ == "__main__":
    main()
