"""How many processor cores reading may use, and from what size on it uses more than one."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

#: Names the most cores that reading may use; 1 keeps it in one process.
VARIABLE: Final = "WHICHLAYER_CORES"

#: More workers than these have not been measured.
_MOST: Final = 4

#: Processes that run or wait, for each core of the machine, from which on sharing took longer.
_CROWDED: Final = 2

#: Where Linux says how much processor time a container may take, and in which period: version
#: 2 of control groups has both in one file, version 1 in two.
_QUOTAS: Final = (
    ("/sys/fs/cgroup/cpu.max",),
    ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us"),
)


@dataclass(frozen=True, slots=True)
class Cores:
    """How reading is shared among processes.

    The defaults were measured on two cores (docs/performance.md).

    Attributes:
        workers: processes beside this one; with fewer than two none is started.
        block: bytes of text that each is given at a time.
        sample: bytes of text that are read before it is told how much is to come.
        least: bytes of text still to come from which on sharing pays: with fewer it takes about
            as long to start the processes as they save.
    """

    workers: int
    block: int = 1 << 22
    sample: int = 1 << 24
    least: int = 200_000_000

    @classmethod
    def of_machine(cls) -> Self:
        """As many as this process may use, and as the environment allows."""
        wanted = os.environ.get(VARIABLE, "")
        if wanted.isascii() and wanted.isdigit():
            return cls(min(int(wanted), _MOST))
        return cls(1 if _is_crowded() else min(usable_cores(), _MOST))


def usable_cores() -> int:
    """How many cores the system lets this process run on at a time."""
    told: Callable[[], int | None] | None = getattr(os, "process_cpu_count", None)
    if told is None and hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = (told or os.cpu_count)() or 1
    return max(1, min(count, *(_quota(*paths) or count for paths in _QUOTAS)))


def _is_crowded() -> bool:
    """Whether so much waits for the machine's cores that more processes would only wait too."""
    try:
        return os.getloadavg()[0] >= _CROWDED * (os.cpu_count() or 1)
    except (AttributeError, OSError):  # no such figure on this system
        return False


def _quota(*paths: str) -> int | None:
    """Whole cores' worth of processor time that files of a control group grant, if they do."""
    try:
        words = " ".join(Path(path).read_text(encoding="ascii") for path in paths).split()
        quota, period = map(int, words)
    except (OSError, ValueError):  # no such file, or no limit: "max", with no number before it
        return None
    return max(1, quota // period) if quota > 0 and period > 0 else None
