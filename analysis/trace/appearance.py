"""Numbers the strings and arguments of a trace in the order in which its slices name them.

A reader numbers them as it meets them, which depends on how the text was cut and shared out. Here
the numbers depend on nothing but what was recorded, and so does whatever is ordered by them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

import numpy as np

from whichlayer.analysis.trace.columns import Int32, Trace

#: Rows at a time, so that hardly any memory is needed.
_BLOCK: Final = 1 << 15

_NEW: Final = -1

_Kept = TypeVar("_Kept", str, bytes)


def by_appearance(trace: Trace) -> Trace:
    """The same trace with other numbers, without what nothing names; uses up its columns.

    The first string stays the first: it is the empty one.
    """
    names = (trace.name_id, trace.category_id, trace.instants.name_id, trace.flows.category_id)
    return replace(
        trace,
        strings=_renumbered(trace.strings, names, 1),
        _details=_renumbered(trace._details, [trace.detail_id], 0),
        _detail_cache={},
    )


def _renumbered(values: Sequence[_Kept], columns: Sequence[Int32], first: int) -> list[_Kept]:
    """The values in their new order; the columns get their new numbers, -1 stays."""
    number = np.full(len(values) + 1, _NEW, np.int32)  # the last is where -1 points to
    number[:first] = range(first)
    order = list(range(first))
    for block in _blocks(columns):
        new = block[(number[block] == _NEW) & (block >= 0)]
        if len(new):
            some = list(dict.fromkeys(new.tolist()))
            number[some] = np.arange(len(order), len(order) + len(some))
            order += some
        block[:] = number[block]
    return [values[one] for one in order]


def _blocks(columns: Iterable[Int32]) -> Iterable[Int32]:
    for column in columns:
        for begin in range(0, len(column), _BLOCK):
            yield column[begin : begin + _BLOCK]
