"""The ``nn.Module`` that each kernel was launched for.

Profilers with Python stacks record a slice for every module call, ``nn.Module: Linear_12``.
Backward runs on a thread of its own without any; it belongs to the module of the forward
operator that a ``fwdbwd`` flow leads to.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.findings.forward import forward_rows
from whichlayer.analysis.text import clean
from whichlayer.analysis.trace.columns import Trace

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

PREFIX: Final = "nn.Module: "
#: Modules of a path that are told: the innermost ones.
_TOLD: Final = 2
_NUMBER: Final = re.compile(r"_\d+$")


def modules_of(trace: Trace, launch: Int32, operator: Int32) -> tuple[Int32, tuple[str, ...]]:
    """The module of each launch and the names that they index, innermost two without numbers.

    Args:
        trace: the recording.
        launch: int32 (n,), launches, -1 where the file holds none.
        operator: int32 (n,), the operator that launched each, -1 where unknown.

    Returns:
        int32 (n,), index into the names, -1 where no module is known; and the names.
    """
    none = np.full(len(launch), -1, np.int32)
    ids = [index for index, text in enumerate(trace.strings) if text.startswith(PREFIX)]
    if not ids:
        return none, ()
    is_module = np.zeros(len(trace.strings), np.bool_)
    is_module[ids] = True
    start = np.where(launch >= 0, launch, operator).astype(np.int64)
    rows, inverse = np.unique(start, return_inverse=True)
    inner = _around(trace, rows, is_module)
    lost = np.flatnonzero((inner < 0) & (rows >= 0))
    ahead = forward_rows(trace, _operators(trace, rows[lost]))
    inner[lost] = _around(trace, ahead, is_module)
    outer = _around(trace, np.where(inner >= 0, trace.parent[np.maximum(inner, 0)], -1), is_module)
    return _named(trace, inner, outer, inverse)


def _around(trace: Trace, rows: Int64, is_module: NDArray[np.bool_]) -> Int64:
    """The nearest module at or around each row: int64 (n,), -1 for none."""
    at = rows.astype(np.int64)
    while True:
        climb = (at >= 0) & ~is_module[trace.name_id[np.maximum(at, 0)]]
        if not climb.any():
            return at
        at[climb] = trace.parent[at[climb]]


def _operators(trace: Trace, rows: Int64) -> Int64:
    """The call around each launch: where the search for its forward begins."""
    up = trace.parent[rows].astype(np.int64)
    return np.where(up >= 0, up, rows)


def _named(
    trace: Trace, inner: Int64, outer: Int64, inverse: NDArray[np.intp]
) -> tuple[Int32, tuple[str, ...]]:
    names: dict[str, int] = {}
    pairs: dict[tuple[int, int], int] = {}
    index = np.full(len(inner), -1, np.int32)
    first = np.where(outer >= 0, trace.name_id[np.maximum(outer, 0)], -1).tolist()
    second = np.where(inner >= 0, trace.name_id[np.maximum(inner, 0)], -1).tolist()
    for place, pair in enumerate(zip(first, second, strict=True)):
        if pair[1] < 0:
            continue
        if pair not in pairs:
            path = [_short(trace.strings[one]) for one in pair if one >= 0]
            pairs[pair] = names.setdefault(".".join(path[-_TOLD:]), len(names))
        index[place] = pairs[pair]
    return index[inverse].astype(np.int32), tuple(names)


def _short(name: str) -> str:
    """``Linear`` of ``nn.Module: Linear_12``: the same layer of every block is one."""
    return clean(_NUMBER.sub("", name.removeprefix(PREFIX)))
