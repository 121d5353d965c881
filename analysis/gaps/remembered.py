"""Keeps what was worked out of a whole trace for as long as the trace lives."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from whichlayer.analysis.trace.columns import Trace

Result = TypeVar("Result")


def once_per_trace(work: Callable[[Trace], Result]) -> Callable[[Trace], Result]:
    """A function of a trace that is worked out once for each trace."""
    known: WeakKeyDictionary[Trace, Result] = WeakKeyDictionary()

    @wraps(work)
    def remembered(trace: Trace) -> Result:
        if trace not in known:
            known[trace] = work(trace)
        return known[trace]

    return remembered
