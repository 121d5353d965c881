"""From a file to its table, however it looks; and where each key stands in it."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Mapping
from typing import Any

from whichlayer.analysis.config.entries import ConfigError, Path
from whichlayer.analysis.text import clean

#: No settings need more; a file of gigabytes is not read to its end to find that out.
MOST_BYTES = 1 << 20
#: Deeper tables are no settings.
_DEEPEST = 32

_PART = r"(?:[A-Za-z0-9_-]+|\"(?:[^\"\\]|\\.)*\"|'[^']*')"
_DOTTED = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_HEADER = re.compile(rf"[ \t]*\[\[?[ \t]*({_DOTTED})[ \t]*\]")
_ASSIGNED = re.compile(rf"[ \t]*({_DOTTED})[ \t]*=")
_PARTS = re.compile(_PART)
_LONG_TEXT = re.compile(r'"""|\'\'\'')
_AT_LINE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def read_text(file: str) -> str:
    """The text of a file.

    Raises:
        ConfigError: it cannot be read, is no plain file, is too large, or is not UTF-8.
    """
    try:
        # Opened without waiting: a pipe would keep us for ever.
        handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise ConfigError(f"{file}: is not a plain file")
            raw = stream.read(MOST_BYTES + 1)
    except IsADirectoryError:
        raise ConfigError(f"{file}: is not a plain file") from None
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror or error}") from None
    except ValueError:
        raise ConfigError(f"{file}: is no name of a file") from None
    if len(raw) > MOST_BYTES:
        raise ConfigError(f"{file}: is larger than {MOST_BYTES >> 20} MiB")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{file}:{line}: is not text in UTF-8") from None


def parse(file: str, text: str) -> Mapping[str, Any]:
    """The table that a text is.

    Raises:
        ConfigError: it is no TOML.
    """
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise ConfigError(f"{file}: is nested too deeply") from None
    except ValueError as error:
        said = str(error)
        at = _AT_LINE.search(said)
        place = file
        if at is not None:
            place += f":{at[1] or text.rstrip().count(chr(10)) + 1}"
        raise ConfigError(clean(f"{place}: is no TOML: {_AT_LINE.sub('', said)}")) from None
    if _depth(table) > _DEEPEST:
        raise ConfigError(f"{file}: is nested too deeply")
    return table


def _depth(table: Mapping[str, Any]) -> int:
    deepest, open_ = 0, [(1, table)]
    while open_ and deepest <= _DEEPEST:
        depth, one = open_.pop()
        deepest = max(deepest, depth)
        open_ += [(depth + 1, value) for value in one.values() if isinstance(value, Mapping)]
    return deepest


def lines_of(text: str) -> dict[Path, int]:
    """On which line, counted from 1, each key and each section begins."""
    found: dict[Path, int] = {}
    section: Path = ()
    closing = ""
    for number, line in enumerate(text.split("\n"), 1):
        if not closing:
            header, assigned = _HEADER.match(line), _ASSIGNED.match(line)
            if header:
                section = _parts(header[1])
                for length in range(1, len(section) + 1):
                    found.setdefault(section[:length], number)
            elif assigned:
                path = (*section, *_parts(assigned[1]))
                for length in range(len(section) + 1, len(path) + 1):
                    found.setdefault(path[:length], number)
        for mark in _LONG_TEXT.findall(line):
            closing = "" if closing == mark else closing or mark
    return found


def _parts(dotted: str) -> Path:
    return tuple(_unquoted(part) for part in _PARTS.findall(dotted))


def _unquoted(part: str) -> str:
    if part[0] == "'":
        return part[1:-1]
    if part[0] != '"':
        return part
    try:
        return str(tomllib.loads(f"x = {part}")["x"])
    except ValueError:
        return part


def line_of(path: Path, lines: Mapping[Path, int]) -> int | None:
    """The line of a key, else of the nearest table around it."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None
