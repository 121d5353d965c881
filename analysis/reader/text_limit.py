"""How much text is read of a file that may be a bomb, or larger than memory has room for.

A few megabytes of compressed data can stand for terabytes. Recordings compress to a tenth or a
fiftieth; what is both large and far beyond that is not read to its end, unless the user says so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

#: The option that sets another limit.
OPTION: Final = "--max-size"

#: By default, text beyond this size and this many times the size of what it was made from.
SUSPICIOUS_SIZE: Final = 1 << 30
SUSPICIOUS_RATIO: Final = 200

#: Text between two looks at the memory, and what must be left of it.
_STEP: Final = 1 << 26
_LEAST_MEMORY: Final = 1 << 28

_MEMORY_INFO: Final = Path("/proc/meminfo")
_GROUP_LIMIT: Final = Path("/sys/fs/cgroup/memory.max")
_GROUP_USE: Final = Path("/sys/fs/cgroup/memory.current")

_chosen: list[int] = []


def choose_limit(size: int | None) -> None:
    """Sets the limit for all files that are opened from now on.

    Args:
        size: bytes of text, 0 for no limit, None for the default.
    """
    _chosen[:] = [] if size is None else [size]


class TextLimit:
    """Watches one file being read.

    Args:
        watched: off, it lets everything through: what was read before may be read again.
    """

    def __init__(self, watched: bool = True) -> None:
        self._chosen = _chosen[0] if _chosen else None
        self._watched = watched
        self._looked = 0

    def reached(self, text: int, taken: int) -> str:
        """Why no more is to be read, or empty.

        Args:
            text: bytes of text that were read.
            taken: bytes of the file that they were made from.
        """
        if not self._watched:
            return ""
        if self._chosen is None:
            if text > SUSPICIOUS_SIZE and text > SUSPICIOUS_RATIO * taken:
                return (
                    f"it holds more than {SUSPICIOUS_RATIO} times its size ({text >> 20} MiB until "
                    f"here); if that is no mistake, read on with {OPTION} 0"
                )
        elif self._chosen and text > self._chosen:
            return f"the limit of {self._chosen} bytes ({OPTION}) was reached"
        if text >= self._looked + _STEP:
            self._looked = text
            left = available_memory()
            if left is not None and left < _LEAST_MEMORY:
                return (
                    f"only {left >> 20} MiB of memory are left, and {OPTION} does not change that"
                )
        return ""


def stopped_here(message: str) -> bool:
    """Whether a warning tells of a limit, so that the same file may give more another time."""
    return OPTION in message


def available_memory() -> int | None:
    """Bytes that this process may still take, None where the system does not say."""
    found: list[int] = []
    try:
        lines = _MEMORY_INFO.read_text().splitlines()
        found += [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")]
        limit = _GROUP_LIMIT.read_text().strip()
        if limit.isdigit():
            found.append(int(limit) - int(_GROUP_USE.read_text()))
    except (OSError, ValueError, IndexError):
        pass
    return min(found, default=None)
