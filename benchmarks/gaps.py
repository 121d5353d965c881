"""Time the analysis of gaps and replays: ``python -m benchmarks.gaps --events 0.25 0.5 1 2``.

Traces of so many million events are made (``benchmarks/trace_maker``), or given with ``--files``.
Each round analyses one in a process of its own, with all parts of the analysis timed apart. Times
are CPU seconds of the process; reading is left out.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.make_trace import make_trace
from benchmarks.measure import machine

#: What is timed: the part, the module, and what in it; a part's own time leaves out that of others.
TIMED = (
    ("gaps", "pipeline", "collect_activities"),
    ("gaps", "pipeline", "choose_window"),
    ("gaps", "pipeline", "calibrate"),
    ("gaps", "pipeline", "blocking_copies"),
    ("gaps", "pipeline", "Marks"),
    ("gaps", "pipeline", "bounds_on"),
    ("gaps", "pipeline", "partition"),
    ("gaps", "pipeline", "without_warm_up"),
    ("gaps", "gaps.table", "GapFinder.__init__"),
    ("gaps", "gaps.table", "GapFinder.add_device"),
    ("gaps", "gaps.table", "GapFinder.table"),
    ("budget", "pipeline", "build_segments"),
    ("budget", "pipeline", "budget_of"),
    ("kernels", "pipeline", "_kernels"),
    ("schedule", "replay.recoverable", "Replayer._prepare"),
    ("pass", "replay.recoverable", "replay"),
)
#: Bytes of an event of the traces that are made, in the layout used here.
_BYTES = 254
_CHILD = "--one"


@dataclass(frozen=True, slots=True)
class Times:
    """What one analysis took.

    Attributes:
        events: of the trace.
        seconds: CPU time by part; ``all`` is everything.
        passes: how many replays there were.
        gaps: pieces of gaps that were found.
    """

    events: int
    seconds: dict[str, float]
    passes: int
    gaps: int


class _Clock:
    """CPU time by part; what a part calls of another is the other's."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.calls: Counter[str] = Counter()
        self._running = ["rest"]
        self._since = time.process_time()

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        self._switch()
        self._running.append(name)
        try:
            yield
        finally:
            self._switch()
            self._running.pop()
            self.calls[name] += 1

    def _switch(self) -> None:
        now = time.process_time()
        self.seconds[self._running[-1]] += now - self._since
        self._since = now

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, with its time counted."""

        def call(*args: Any, **named: Any) -> Any:
            with self.part(name):
                return function(*args, **named)

        return call


def analyse_timed(path: str) -> Times:
    """Read and analyse a trace in this process.

    Raises:
        AttributeError: something in :data:`TIMED` is no longer there.
    """
    from whichlayer.analysis import load
    from whichlayer.analysis.pipeline import analyse

    clock = _Clock()
    for part, module_name, target in TIMED:
        owner: Any = importlib.import_module(f"whichlayer.analysis.{module_name}")
        *outer, name = target.split(".")
        for step in outer:
            owner = getattr(owner, step)
        setattr(owner, name, clock.timed(part, getattr(owner, name)))
    trace = load(path, cache=False)
    with clock.part("rest"):
        clock.seconds.clear()
        begun = time.process_time()
        analysis = analyse(trace)
        whole = time.process_time() - begun
    seconds = {**clock.seconds, "all": whole}
    return Times(trace.events, seconds, clock.calls["pass"], len(analysis.gaps))


def times_of(path: Path) -> Times:
    """As :func:`analyse_timed`, in a process of its own.

    Raises:
        RuntimeError: it failed; with the end of what it wrote.
    """
    command = [sys.executable, "-m", "benchmarks.gaps", _CHILD, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["it failed"])[-1])
    return Times(**json.loads(done.stdout.splitlines()[-1]))


def row(name: str, rounds: list[Times]) -> str:
    """A line of the table: medians of the rounds, each per million events."""
    first = rounds[0]
    millions = first.events / 1e6

    def of(*parts: str) -> float:
        return median(sum(one.seconds.get(part, 0.0) for part in parts) for one in rounds)

    passes = max(first.passes, 1)
    gaps, least = of("gaps") / millions, min(one.seconds["gaps"] for one in rounds) / millions
    replay = f"{of('pass') / passes / millions:.2f}" if first.passes else "–"
    return (
        f"| {name} | {first.events:,} | {first.gaps:,} | **{gaps:.2f}** ({least:.2f}) "
        f"| {of('budget') / millions:.2f} | {of('schedule') / millions:.2f} "
        f"| {first.passes} x {replay} | {of('kernels') / millions:.2f} "
        f"| {of('all') / millions:.2f} |"
    )


def traces_of(sizes: list[float], folder: Path) -> Iterator[Path]:
    """Traces of so many million events, made when they are asked for."""
    for size in sizes:
        path = folder / f"{size:g}M.json"
        make_trace(path, size * _BYTES, layout="compact")
        yield path


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=float, nargs="*", default=[0.25, 0.5, 1, 2])
    parser.add_argument("--files", type=Path, nargs="*", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(_CHILD, type=str, default="", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        found = analyse_timed(options.one)
        print(json.dumps({name: getattr(found, name) for name in Times.__slots__}))
        return 0
    print(f"Machine: {machine()}\nCPU seconds per million events, medians (gaps: and the least)\n")
    print("| trace | events | gap pieces | gaps | budget | schedule | replays x a pass "
          "| kernels | whole analysis |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        made = [] if options.files else traces_of(options.events, Path(folder))
        for path in [*options.files, *made]:
            rounds = [times_of(path) for _ in range(options.rounds)]
            print(row(path.name.removesuffix(".json"), rounds), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
