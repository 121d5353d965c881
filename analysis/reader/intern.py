"""Numbers for things that recur."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeVar

import numpy as np

from whichlayer.analysis.trace.columns import Int32

Key = TypeVar("Key")

#: Characters of a name that are kept; nobody reads more, and every name stays in memory.
_LONGEST: Final = 1 << 16


class Intern(dict[Key, int]):
    """A dictionary that gives every new key the next number, from 0."""

    def __missing__(self, key: Key) -> int:
        number = self[key] = len(self)
        return number

    def take(self, other: Iterable[Key]) -> Int32:
        """Adds the keys of another, and tells which number each has here."""
        return np.array([self[key] for key in other], np.int32)


class Strings(Intern[str]):
    """Names and categories; the beginnings of those that are enormous.

    Attributes:
        cut: how often one was, since it is not known by what it was.
    """

    def __init__(self) -> None:
        super().__init__({"": 0})
        self.cut = 0

    def __missing__(self, key: str) -> int:
        if len(key) <= _LONGEST:
            return super().__missing__(key)
        self.cut += 1
        return self[key[: _LONGEST - 1] + "…"]
