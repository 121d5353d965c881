"""Which recorded paths lie in the folders that a user calls their own.

A recording may come from another machine, and profilers write paths relative to ``sys.path``:
paths are compared by their names alone, and no folder is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_ABSOLUTE = re.compile(r"^(/|[A-Za-z]:/)")


def is_absolute(file: str) -> bool:
    """Whether a recorded path, with slashes, begins at the root of a disk."""
    return _ABSOLUTE.match(file) is not None


def below_root(file: str, roots: Sequence[str]) -> str | None:
    """What follows the root in a recorded path, or None where it lies in none of them.

    A root from the root of the disk holds what begins with it. A relative root holds paths
    that have its folders in a row anywhere. A path that the profiler has shortened is held
    by a root that ends with the path's first folders.

    >>> below_root("/home/me/job/train.py", ["/home/me/job"])
    'train.py'
    >>> below_root("/build/7/src/model/net.py", ["src/model"])
    'net.py'
    >>> below_root("model/net.py", ["/home/me/src/model"])
    'net.py'
    >>> below_root("/home/meg/train.py", ["/home/me"]) is None
    True
    """
    parts = _parts(file)
    for root in roots:
        after = _after(parts, _parts(root), is_absolute(file), is_absolute(root.replace("\\", "/")))
        if after is not None:
            return "/".join(parts[after:])
    return None


def _after(file: list[str], root: list[str], whole: bool, fixed: bool) -> int | None:
    """Where in a path what follows the root begins."""
    count = len(root)
    if not count:
        return None
    if whole and fixed:
        return count if file[:count] == root else None
    if not fixed:
        for first in range(len(file) - count):
            if file[first : first + count] == root:
                return first + count
    if not whole:
        for length in range(min(count, len(file) - 1), 0, -1):
            if root[-length:] == file[:length]:
                return length
    return None


def _parts(path: str) -> list[str]:
    return [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
