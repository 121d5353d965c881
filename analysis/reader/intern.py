"""Numbers for things that recur."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import numpy as np

from whichlayer.analysis.trace.columns import Int32

Key = TypeVar("Key")


class Intern(dict[Key, int]):
    """A dictionary that gives every new key the next number, from 0."""

    def __missing__(self, key: Key) -> int:
        number = self[key] = len(self)
        return number

    def take(self, other: Iterable[Key]) -> Int32:
        """Adds the keys of another, and tells which number each has here."""
        return np.array([self[key] for key in other], np.int32)
