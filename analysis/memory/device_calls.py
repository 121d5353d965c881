"""Calls by which an allocator asks the device itself for memory, or gives some back."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.memory.whose_calls import calls_for, process_of_lanes
from whichlayer.analysis.results import Window
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Rows = NDArray[np.int64]

_ASKS: Final = re.compile(r"^(?:cuda|hip)Malloc$|^(?:cu|hip)MemCreate$")
_GIVES: Final = re.compile(r"^(?:cuda|hip)Free$|^(?:cu|hip)MemRelease$")


def device_calls(trace: Trace, window: Window, allocator: int) -> Rows:
    """Rows of those calls of an allocator that begin in the window, in order of time."""
    rows = _in_order(trace, asking(trace), giving(trace), window.start_ns, window)
    return calls_for(trace, rows, allocator)


def asked_again(trace: Trace, window: Window, allocator: int | None = None) -> Rows:
    """Calls that ask for memory although its process gave some back since it last asked.

    The first of several steps does not count: an allocator that has just begun asks for all.

    Args:
        trace: the recording.
        window: where calls count.
        allocator: whose calls count; None for those of all.

    Returns:
        int64 (n,), rows in order of time.
    """
    begin = window.start_ns
    if len(window.steps) > 1:
        begin = min(step.end_ns for step in window.steps)
    gives = giving(trace)
    rows = _in_order(trace, asking(trace), gives, begin, window)
    if allocator is not None:
        rows = calls_for(trace, rows, allocator)
    process = process_of_lanes(trace)[trace.lane_id[rows]]
    order = np.argsort(process, kind="stable")
    rows, process = rows[order], process[order]
    given = among(rows, gives)
    again = given[:-1] & ~given[1:] & (process[1:] == process[:-1])
    found: Rows = rows[1:][again]
    return found[np.argsort(trace.start_ns[found], kind="stable")]


def asking(trace: Trace) -> Rows:
    """Calls that ask the device for memory; those served by a pool of the driver do not."""
    return _called(trace, _ASKS)


def giving(trace: Trace) -> Rows:
    """Calls that give memory back to the device; to a pool of the driver is not to the device."""
    return _called(trace, _GIVES)


def _called(trace: Trace, pattern: re.Pattern[str]) -> Rows:
    ids = [index for index, name in enumerate(trace.strings) if pattern.match(name)]
    if not ids:
        return np.empty(0, np.int64)
    called: Rows = np.flatnonzero(among(trace.name_id, ids) & (trace.kind == SliceKind.RUNTIME))
    return called


def _in_order(trace: Trace, asks: Rows, gives: Rows, begin: int, window: Window) -> Rows:
    rows = np.concatenate((asks, gives))
    start = trace.start_ns[rows]
    rows = rows[(start >= begin) & (start <= window.end_ns)]
    return rows[np.argsort(trace.start_ns[rows], kind="stable")]
