"""Time whole reports: ``python -m benchmarks.report FILE… --rounds 5``.

What a user waits for: ``whichlayer report FILE`` from its start to its end, in a process of its
own, the start of Python and all imports included.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from benchmarks.measure import Cost, machine


def time_report(path: Path) -> Cost:
    """One report, written to nowhere.

    Raises:
        RuntimeError: it failed.
    """
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "whichlayer", "report", str(path)], stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{path}: exit status {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    print(f"Machine: {machine()}\n")
    print("| trace | wall s, median (least-most) | CPU s, median | peak memory |")
    print("|---|---|---|---|")
    for path in options.files:
        costs = [time_report(path) for _ in range(options.rounds)]
        wall = [cost.wall_s for cost in costs]
        print(
            f"| {path.name}, {path.stat().st_size / 1e6:.0f} MB "
            f"| {median(wall):.2f} ({min(wall):.2f}-{max(wall):.2f}) "
            f"| {median(cost.cpu_s for cost in costs):.2f} "
            f"| {max(cost.peak_bytes for cost in costs) / 1e6:.0f} MB |",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
