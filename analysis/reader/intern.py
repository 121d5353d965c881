"""Numbers for things that recur."""

from __future__ import annotations

from typing import TypeVar

Key = TypeVar("Key")


class Intern(dict[Key, int]):
    """A dictionary that gives every new key the next number, from 0."""

    def __missing__(self, key: Key) -> int:
        number = self[key] = len(self)
        return number
