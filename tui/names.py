"""Names of slices as the screen writes them: clean, short, one cell per character."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from rich.cells import cell_len

from whichlayer.analysis.kernels.names import short_name
from whichlayer.analysis.kernels.names_apart import names_apart
from whichlayer.analysis.text import clean
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

_FRAME = re.compile(r"^(?P<file>.*?)\((?P<line>\d+)\): (?P<function>.*)$", re.DOTALL)
_MODULE = "nn.Module: "


#: Telling so many names apart takes about half a second.
_MOST_APART = 2000


class Names:
    """Short names of a trace's slices, each worked out once."""

    def __init__(self, trace: Trace) -> None:
        """Remember whose names these are."""
        self._trace = trace
        self._short: dict[tuple[int, int], str] = {}
        self._kernels: Mapping[str, str] | None = None

    def short(self, row: int) -> str:
        """What a bar says: single-width characters only, so that text and cells agree."""
        key = (int(self._trace.name_id[row]), int(self._trace.kind[row]))
        found = self._short.get(key)
        if found is None:
            found = self._short[key] = narrow(self._short_of(SliceKind(key[1]), row))
        return found

    def _short_of(self, kind: SliceKind, row: int) -> str:
        name = self._trace.name(row)
        if kind != SliceKind.KERNEL:
            return short_of(kind, name)
        if self._kernels is None:
            self._kernels = self._apart()
        return clean(self._kernels.get(name) or short_name(name))

    def _apart(self) -> Mapping[str, str]:
        """The names of all kernels, told apart; too many to be read by anyone are as they are."""
        trace = self._trace
        used = np.zeros(len(trace.strings), np.bool_)
        used[trace.name_id[trace.kind == SliceKind.KERNEL]] = True
        names = np.flatnonzero(used).tolist()
        return names_apart(trace.strings[i] for i in names) if len(names) <= _MOST_APART else {}

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
