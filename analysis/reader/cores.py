"""How many processor cores reading may use, and from what size on it uses more than one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final, Self

#: Names the most cores that reading may use; 1 keeps it in one process.
VARIABLE: Final = "WHICHLAYER_CORES"

#: More processes than these would wait for the one that hands out text and joins columns.
_MOST: Final = 4


@dataclass(frozen=True, slots=True)
class Cores:
    """How reading is shared among processes.

    Attributes:
        workers: processes beside this one; fewer than two read nothing faster than none.
        block: how much text each is given at a time, in bytes.
        sample: text that is read before it is told how much there is.
        least: text still to come from which on sharing pays: below, starting the processes
            costs more than it saves, or their memory is too much beside the text's.
    """

    workers: int
    block: int = 1 << 22
    sample: int = 1 << 25
    least: int = 300_000_000

    @classmethod
    def of_machine(cls) -> Self:
        """As many as this process may run on, and as the environment allows."""
        wanted = os.environ.get(VARIABLE, "")
        cores = int(wanted) if wanted.isdecimal() else _available()
        return cls(min(cores, _MOST))


def _available() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
