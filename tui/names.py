"""Names of slices as the screen writes them: clean, short, one cell per character."""

from __future__ import annotations

import re

from rich.cells import cell_len

from whichlayer.analysis.kernels.names import short_name
from whichlayer.analysis.text import clean
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

_FRAME = re.compile(r"^(?P<file>.*?)\((?P<line>\d+)\): (?P<function>.*)$", re.DOTALL)
_MODULE = "nn.Module: "


class Names:
    """Short names of a trace's slices, each worked out once."""

    def __init__(self, trace: Trace) -> None:
        """Remember whose names these are."""
        self._trace = trace
        self._short: dict[tuple[int, int], str] = {}

    def short(self, row: int) -> str:
        """What a bar says: single-width characters only, so that text and cells agree."""
        key = (int(self._trace.name_id[row]), int(self._trace.kind[row]))
        found = self._short.get(key)
        if found is None:
            found = self._short[key] = narrow(short_of(SliceKind(key[1]), self._trace.name(row)))
        return found

    def full(self, row: int) -> str:
        """The name as recorded, without control characters."""
        return clean(self._trace.name(row))


def short_of(kind: SliceKind, name: str) -> str:
    """The short name of a slice.

    >>> short_of(SliceKind.PYTHON, "train.py(42): forward")
    'forward'
    """
    if kind == SliceKind.KERNEL:
        return clean(short_name(name))
    if kind == SliceKind.PYTHON:
        if name.startswith(_MODULE):
            return clean(name[len(_MODULE) :])
        frame = _FRAME.match(name)
        if frame is not None:
            return clean(frame["function"])
    return clean(name)


def narrow(text: str) -> str:
    """Text in which every character takes one cell; wide and zero-width ones become ``·``."""
    if text.isascii():
        return text
    return "".join(c if cell_len(c) == 1 else "·" for c in text)
