"""Compare reading on one core and on several: ``python -m benchmarks.cores FILE… --rounds 5``.

Every round reads each file once with each number of cores, in a process of its own, so that
whatever else the machine does hits all alike; the least of the elapsed times is the one that was
disturbed least. After the rounds each is read once more, untimed, to measure the memory of all
its processes together: pages that they share are counted once (Linux only, sampled).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from benchmarks.measure import Cost, machine, run

_CHILD = Path(__file__).parent / "child.py"
_EVERY_S = 0.05


def read_on(path: Path, cores: int) -> Cost:
    """What reading a file takes when it may use that many cores."""
    return run(command(path), os.environ | {"WHICHLAYER_CORES": str(cores)})


def command(path: Path) -> list[str]:
    """What reads a file in a process of its own."""
    return [sys.executable, str(_CHILD), "whichlayer", str(path)]


def memory_on(path: Path, cores: int) -> int:
    """The most memory that all processes hold together while a file is read, in bytes."""
    environment = os.environ | {"WHICHLAYER_CORES": str(cores)}
    process = subprocess.Popen(command(path), env=environment, stdout=subprocess.DEVNULL)
    most = 0
    while process.poll() is None:
        most = max(most, sum(_memory(pid) for pid in _family(process.pid)))
        time.sleep(_EVERY_S)
    return most


def _family(pid: int) -> list[int]:
    """A process and what its threads started."""
    family = [pid]
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # a thread that has ended meanwhile
            for child in thread.read_text(encoding="ascii").split():
                family += _family(int(child))
    return family


def _memory(pid: int) -> int:
    """The proportional set size of a process, in bytes."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:")), 0)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args(arguments)
    costs: dict[tuple[Path, int], list[Cost]] = {
        (path, cores): [] for path in options.files for cores in options.cores
    }
    print(f"Machine before: {machine()}", flush=True)
    for _ in range(options.rounds):
        for (path, cores), found in costs.items():
            found.append(read_on(path, cores))
    print(f"Machine after:  {machine()}\n")
    print("| trace | cores | wall s: least (median) | CPU s: least (median) | memory of all |")
    print("|---|---|---|---|---|")
    for (path, cores), found in costs.items():
        wall, cpu = [one.wall_s for one in found], [one.cpu_s for one in found]
        print(
            f"| {path.name} | {cores} | {min(wall):.2f} ({median(wall):.2f}) "
            f"| {min(cpu):.2f} ({median(cpu):.2f}) | {memory_on(path, cores) / 1e6:.0f} MB |",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
