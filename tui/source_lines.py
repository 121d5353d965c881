"""The lines around a place in the code, where the file is on this machine."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from whichlayer.analysis.text import clean

#: A larger file is no source that anyone edits.
_MOST_BYTES = 4_000_000

#: Lines before and after the place.
_AROUND = 4

#: Editors that take a place as ``FILE:LINE``, behind a flag where they need one.
_COLON_PLACE = {
    "code": ("-g",),
    "code-insiders": ("-g",),
    "codium": ("-g",),
    "cursor": ("-g",),
    "subl": (),
    "zed": (),
    "hx": (),
    "helix": (),
}


def find_source(file: str, trace: str, roots: Sequence[str]) -> Path | None:
    """A regular file of a recorded name: as it is, below the roots, here, or beside the trace."""
    if "\0" in file or not file or file.startswith("<"):
        return None
    folders = [*roots, os.getcwd()]
    if trace not in ("", "-"):
        folders.append(os.path.dirname(os.path.abspath(trace)))
    for folder in folders:
        path = Path(folder, file)
        try:
            if stat.S_ISREG(path.stat().st_mode):
                return Path(os.path.abspath(path))
        except (OSError, ValueError):
            continue
    return None


def lines_around(path: Path, line: int) -> list[tuple[int, str]]:
    """(number, text) of the lines around one; empty where the file cannot be read or is shorter."""
    try:
        with open(path, "rb") as stream:
            body = stream.read(_MOST_BYTES + 1)
    except OSError:
        return []
    if len(body) > _MOST_BYTES or b"\0" in body[:4096]:
        return []
    lines = body.decode("utf-8", "replace").splitlines()
    if not 1 <= line <= len(lines):
        return []
    first = max(line - _AROUND, 1)
    shown = lines[first - 1 : line + _AROUND]
    return [(first + i, clean(text.expandtabs(4))) for i, text in enumerate(shown)]


def editor_command(path: Path, line: int | None, environment: Mapping[str, str]) -> list[str]:
    """The command that opens a file at a line in the user's editor; empty where none is set."""
    for name in ("VISUAL", "EDITOR"):
        try:
            words = shlex.split(environment.get(name, ""))
        except ValueError:
            continue
        if words:
            break
    else:
        return []
    if line is None:
        return [*words, str(path)]
    known = Path(words[0]).name
    if known in _COLON_PLACE:
        return [*words, *_COLON_PLACE[known], f"{path}:{line}"]
    return [*words, f"+{line}", str(path)]
