"""What lies in an entry beside the columns of its trace.

Whoever writes an entry may add arrays that are costly to work out, and gets them back with the
trace. They are no part of it: the trace is whole without them, and whoever takes them has to hold
them against the trace, and to tell whether they are of its own version.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from weakref import WeakKeyDictionary

from numpy.typing import NDArray

from whichlayer.analysis.trace.columns import Trace

Array = NDArray[Any]

_PREFIX: Final = "beside."

_beside: WeakKeyDictionary[Trace, Mapping[str, Array]] = WeakKeyDictionary()


def named(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Arrays under the names that they have in an entry."""
    return {_PREFIX + name: array for name, array in arrays.items()}


def note(trace: Trace, arrays: Mapping[str, Array]) -> None:
    """Remember what the arrays of an entry hold beside the columns of its trace."""
    found = {
        name.removeprefix(_PREFIX): array
        for name, array in arrays.items()
        if name.startswith(_PREFIX)
    }
    if found:
        _beside[trace] = found


def beside(trace: Trace) -> Mapping[str, Array]:
    """What lay beside a trace's columns; empty for one that was not reopened."""
    return _beside.get(trace, {})
