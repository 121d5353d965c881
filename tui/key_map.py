"""The keys that a user wants in place of those of the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from whichlayer.tui.keys import KEYS, Key, readable, symbol

if TYPE_CHECKING:
    from whichlayer.analysis.config import Config


class KeyClash(ValueError):
    """Two actions on one key; the message is one line.

    Attributes:
        lines: such a line for each key that would do two things.
    """

    def __init__(self, *lines: str) -> None:
        """Take the lines, one at least."""
        super().__init__(lines[0])
        self.lines = lines


def table_of(config: Config) -> tuple[Key, ...]:
    """The table with the keys that are set.

    Raises:
        KeyClash: keys would do two things.
    """
    wanted = dict(config.below("keys"))
    table = remapped({name: config.words("keys", name) for name in wanted})
    owner: dict[str, Key] = {}
    clashes: dict[str, list[str]] = {name: [] for name in wanted}
    for key in sorted(table, key=lambda one: one.id in wanted):
        for name in key.keys:
            other = owner.setdefault(name, key)
            if other is not key:
                clashes[key.id].append(
                    f"{wanted[key.id].origin}: keys.{key.id}: {readable(name)} is also the key of "
                    f"{other.id} ({other.does}); set another key for one of the two"
                )
    lines = [line for one in clashes.values() for line in one]
    if lines:
        raise KeyClash(*lines)
    return table


def remapped(wanted: Mapping[str, Sequence[str]]) -> tuple[Key, ...]:
    """The table with other keys, by action; what the footer shows follows."""
    moved = [replace(key, keys=tuple(wanted.get(key.id, key.keys))) for key in KEYS]
    return tuple(
        replace(new, hint=_hint(old, moved)) if old.hint and wanted else new
        for old, new in zip(KEYS, moved, strict=True)
    )


def _hint(key: Key, moved: Sequence[Key]) -> str:
    """The footer's entry of a key with the keys that its parts are on now."""
    keys, word = key.hint.split(" ", 1)
    own = [symbol(name) for name in key.keys]
    parts = [keys] if keys in own else list(keys)
    first = [_moved(part, moved) for part in parts]
    joint = "" if all(len(one) == 1 for one in first) else "/"
    return f"{joint.join(first)} {word}"


def _moved(part: str, moved: Sequence[Key]) -> str:
    """The first key now of the action that a key in the table belongs to."""
    for old, new in zip(KEYS, moved, strict=True):
        if part in [symbol(name) for name in old.keys]:
            return part if new.keys == old.keys else symbol(new.keys[0])
    return part
