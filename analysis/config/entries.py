"""What is set, value by value, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

_BARE = re.compile(r"[A-Za-z0-9_-]+")

#: A key as the names that lead to it: ``("rules", "host-sync", "major")``.
Path = tuple[str, ...]
Value = bool | float | str | tuple[str, ...]


class ConfigError(Exception):
    """Files that cannot be used; the message is one line that begins with the file.

    Attributes:
        lines: everything that is wrong, in such lines; the message is the first of them.
    """

    def __init__(self, *lines: str) -> None:
        """Take what is wrong, one line at least."""
        super().__init__(lines[0])
        self.lines = lines


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in a file.

    Attributes:
        path: the key; empty where it is the file itself.
        text: one line that begins with the file.
    """

    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One value that somebody set.

    Attributes:
        value: of the type that the table of settings says: shares are 0 to 1.
        origin: ``FILE:LINE``, ``FILE``, or the option on the command line.
    """

    value: Value
    origin: str


@dataclass(frozen=True, slots=True)
class Config:
    """What files set, the nearest file winning value by value.

    Attributes:
        entries: by key.
        files: the files that were read, the one that wins last.
        problems: what is wrong in them; none of it is among the entries.
    """

    entries: Mapping[Path, Entry] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    def over(self, below: Config) -> Config:
        """This one's values, and those of another where this one has none."""
        entries = MappingProxyType({**below.entries, **self.entries})
        files = (*below.files, *self.files)
        return Config(entries, files, (*below.problems, *self.problems))

    def value(self, *path: str) -> Value | None:
        """One value, or None where nobody set it."""
        entry = self.entries.get(path)
        return None if entry is None else entry.value

    def number(self, *path: str) -> float | None:
        """One value that is a number."""
        value = self.value(*path)
        return float(value) if isinstance(value, int | float) else None

    def text(self, *path: str) -> str | None:
        """One value that is text."""
        value = self.value(*path)
        return value if isinstance(value, str) else None

    def words(self, *path: str) -> tuple[str, ...]:
        """One value that is a list, empty where nobody set it."""
        value = self.value(*path)
        return value if isinstance(value, tuple) else ()

    def below(self, *path: str) -> Iterator[tuple[str, Entry]]:
        """The names and entries directly below a section."""
        for key, entry in self.entries.items():
            if len(key) == len(path) + 1 and key[: len(path)] == path:
                yield key[-1], entry


def dotted(path: Path) -> str:
    """A key as it is written: ``peaks."H100 SXM5".bf16``."""
    return ".".join(part if _BARE.fullmatch(part) else _quoted(part) for part in path)


def _quoted(part: str) -> str:
    return '"' + part.replace("\\", "\\\\").replace('"', '\\"') + '"'
