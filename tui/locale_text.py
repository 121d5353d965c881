"""Whether the user's locale asks for plain text.

Python writes UTF-8 in the locales C and POSIX too, and says so in ``LC_CTYPE``: what the terminal shows
was set before.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

_PLAIN: Final = frozenset({"C", "POSIX"})

#: What Python sets where the locale is plain (PEP 538).
_SET_BY_PYTHON: Final = frozenset({"C.UTF-8", "C.utf8", "UTF-8"})


def asks_for_plain_text(
    variables: Mapping[str, str] | None = None, at_start: Mapping[str, str] | None = None
) -> bool:
    """Whether the locale is C or POSIX by name; where none is named at all it says nothing.

    Args:
        variables: of the environment; ours where None.
        at_start: those that the process was started with, where they can be known.
    """
    now = os.environ if variables is None else variables
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        value = now.get(name, "")
        if name == "LC_CTYPE" and value in _SET_BY_PYTHON:
            value = (_at_start() if at_start is None else at_start).get(name, "")
        if value:
            return value in _PLAIN
    return False


def _at_start() -> dict[str, str]:
    """The environment at the start of the process, where the system tells."""
    found: dict[str, str] = {}
    with suppress(OSError), open("/proc/self/environ", "rb") as file:
        for entry in file.read().split(b"\0"):
            name, _, value = entry.partition(b"=")
            found[os.fsdecode(name)] = os.fsdecode(value)
    return found
