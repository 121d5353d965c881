"""Whether a descriptor is still the one that was opened here.

A program may close every descriptor that it finds, as daemons do, and open others under the same
numbers. Those are none of ours: writing to one or closing it would harm the program.
"""

from __future__ import annotations

import os
from contextlib import suppress

Identity = tuple[int, int]
"""Device and inode number of what a descriptor stands for."""


def identity(number: int) -> Identity | None:
    """What a descriptor stands for; None where it is closed.

    Args:
        number: the descriptor.
    """
    try:
        found = os.fstat(number)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_same(number: int, noted: Identity | None) -> bool:
    """Whether a descriptor still stands for what was noted when it was opened."""
    return number >= 0 and noted is not None and identity(number) == noted


def close_if_same(number: int, noted: Identity | None) -> None:
    """Close a descriptor unless its number is another's by now; never fails."""
    if is_same(number, noted):
        with suppress(OSError):
            os.close(number)
