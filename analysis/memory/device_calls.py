"""Calls by which an allocator asks the device itself for memory, or gives some back."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.results import Window
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Rows = NDArray[np.int64]

_ASKS: Final = re.compile(r"^(?:cuda|hip)Malloc(?:Async)?$|^(?:cu|hip)MemCreate$")
_GIVES: Final = re.compile(r"^(?:cuda|hip)Free(?:Async)?$|^(?:cu|hip)MemRelease$")


def device_calls(trace: Trace, window: Window) -> Rows:
    """Rows of those calls that begin in the window, in order of time."""
    return _in_order(trace, _called(trace, _ASKS) | _called(trace, _GIVES), window.start_ns, window)


def asked_again(trace: Trace, window: Window) -> Rows:
    """Calls that ask for memory although some was given back since the last one.

    The first of several steps does not count: an allocator that has just begun asks for all.

    Returns:
        int64 (n,), rows in order of time.
    """
    gives = _called(trace, _GIVES)
    begin = window.start_ns
    if len(window.steps) > 1:
        begin = min(step.end_ns for step in window.steps)
    rows = _in_order(trace, _called(trace, _ASKS) | gives, begin, window)
    given = gives[rows]
    return rows[1:][given[:-1] & ~given[1:]]


def _called(trace: Trace, pattern: re.Pattern[str]) -> NDArray[np.bool_]:
    ids = [index for index, name in enumerate(trace.strings) if pattern.match(name)]
    if not ids:
        return np.zeros(len(trace), np.bool_)
    called: NDArray[np.bool_] = np.isin(trace.name_id, ids) & (trace.kind == SliceKind.RUNTIME)
    return called


def _in_order(trace: Trace, wanted: NDArray[np.bool_], begin: int, window: Window) -> Rows:
    rows = np.flatnonzero(wanted)
    start = trace.start_ns[rows]
    rows = rows[(start >= begin) & (start <= window.end_ns)]
    return rows[np.argsort(trace.start_ns[rows], kind="stable")]
