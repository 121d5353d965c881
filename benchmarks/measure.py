"""Runs measurements in processes of their own and describes the machine they ran on."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_CPU_INFO = Path("/proc/cpuinfo")


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run took.

    Attributes:
        cpu_s: user and system time.
        wall_s: elapsed time.
        peak_bytes: largest resident memory of the process.
    """

    cpu_s: float
    wall_s: float
    peak_bytes: int


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Cost:
    """The cost that a command prints in its last line of output.

    Args:
        command: what to run.
        environment: instead of this process's own.

    Raises:
        RuntimeError: it failed, or printed no such line; with the end of what it wrote.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    for line in reversed(done.stdout.splitlines()):
        # Readers print of their own, some without a line break at the end.
        begin = line.find('{"cpu_s"')
        if begin >= 0 and done.returncode == 0:
            found, _ = json.JSONDecoder().raw_decode(line[begin:])
            return Cost(float(found["cpu_s"]), float(found["wall_s"]), int(found["peak_bytes"]))
    written = (done.stderr or done.stdout).strip().splitlines()
    raise RuntimeError(written[-1] if written else f"exit status {done.returncode}")


def machine() -> str:
    """Processor, cores, system, Python, and how busy the machine is."""
    model = platform.processor() or platform.machine()
    if _CPU_INFO.exists():
        for line in _CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return (
        f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}, "
        f"CPython {platform.python_version()}; load {load}"
    )
