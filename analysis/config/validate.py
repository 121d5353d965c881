"""One file held to the table: what it sets, and a line for each thing that is wrong."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from whichlayer.analysis.config import kinds
from whichlayer.analysis.config.entries import (
    Config,
    ConfigError,
    Entry,
    Path,
    Problem,
    Value,
    dotted,
)
from whichlayer.analysis.config.read_file import line_of, lines_of, parse, read_text
from whichlayer.analysis.config.schema import Names, device_name, is_section, kind_of
from whichlayer.analysis.text import clean


def read_config(file: str, names: Names) -> Config:
    """What a file sets.

    Args:
        file: its name.
        names: what the screen knows.

    Raises:
        ConfigError: it cannot be read, or something in it is wrong.
    """
    config = read_settings(file, names)
    if config.problems:
        raise ConfigError(*(problem.text for problem in config.problems))
    return config


def read_settings(file: str, names: Names) -> Config:
    """What a file sets, as far as it is right, and everything in it that is wrong.

    Args:
        file: its name.
        names: what the screen knows.

    Raises:
        ConfigError: it cannot be read.
    """
    text = read_text(file)
    table = parse(file, text)
    lines = lines_of(text)
    entries: dict[Path, Entry] = {}
    problems: list[Problem] = []
    for path, value in _leaves(table, ()):
        line = line_of(path, lines)
        place = file if line is None else f"{file}:{line}"
        try:
            plain = _scalar(path, value)
            known = _device_named(path, table)
            found = kind_of(known, names)(plain)
        except ValueError as error:
            problems.append(Problem(path, clean(f"{place}: {dotted(path)[:200]}: {error}")))
        else:
            entries[known] = Entry(_placed(known, found, file), clean(place))
    return Config(entries, (clean(file),), tuple(problems))


def _leaves(table: Mapping[str, Any], above: Path) -> Iterator[tuple[Path, object]]:
    """Every key with a value, and sections that are none, as (path, value)."""
    for name, value in table.items():
        path = (*above, name)
        if isinstance(value, Mapping) and is_section(path):
            yield from _leaves(value, path)
        else:
            yield path, value


def _scalar(path: Path, value: object) -> object:
    """A value, where its key is no section."""
    if is_section(path):
        raise ValueError(f"expected a section, [{dotted(path)[:200]}], not {kinds.said(value)}")
    return value


def _device_named(path: Path, table: Mapping[str, Any]) -> Path:
    """The path with the device as its table calls it.

    Raises:
        ValueError: it names no device, and does not say that it is unlisted.
    """
    if path[0] != "peaks" or len(path) < 3:
        return path
    if table["peaks"][path[1]].get("unlisted") is True:
        return path
    try:
        return ("peaks", device_name(path[1]), *path[2:])
    except ValueError as error:
        raise ValueError(
            f"{error} (a GPU that the table lacks needs unlisted = true, and the name that "
            "recordings give it)"
        ) from None


def _placed(path: Path, value: Value, file: str) -> Value:
    """Folders that only make sense from where the file stands, from the root of the disk."""
    if path != ("source_roots",) or not isinstance(value, tuple):
        return value
    here = os.path.dirname(os.path.abspath(file))
    return tuple(_folder(one, here) for one in value)


def _folder(root: str, here: str) -> str:
    wide = os.path.expanduser(root).replace("\\", "/")
    parts = [part for part in wide.split("/") if part not in ("", ".")]
    if wide.startswith("/") or (parts and ".." not in parts):
        return wide
    return os.path.normpath(os.path.join(here, wide))
