"""Which operator launched each GPU activity.

The innermost operator around the launch on its thread. ``External id`` serves only where the
launch is not in the file, and only where the file's External ids are operator ids: for years
kernels carried their correlation there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Int32 = NDArray[np.int32]


def operator_rows(trace: Trace, row: Int32, launch: Int32) -> Int32:
    """The operator of each activity: int32 (n,), trace rows, -1 where unknown.

    Args:
        trace: the recording.
        row: int32 (n,), GPU activities.
        launch: int32 (n,), their launches, -1 where the file holds none.
    """
    found = np.full(len(row), -1, np.int32)
    linked = launch >= 0
    found[linked] = _innermost_operator(trace, launch[linked])
    missing = np.flatnonzero(~linked)
    if len(missing) and _external_ids_are_operators(trace, row):
        found[missing] = _by_external_id(trace, trace.external_id[row[missing]])
    return found


def _innermost_operator(trace: Trace, rows: Int32) -> Int32:
    """The nearest enclosing slice that is an operator, going up together."""
    at = trace.parent[rows].copy()
    while True:
        climb = (at >= 0) & (trace.kind[at] != SliceKind.CPU_OP)
        if not climb.any():
            return at
        at[climb] = trace.parent[at[climb]]


def _external_ids_are_operators(trace: Trace, row: Int32) -> bool:
    """Whether External ids of activities name operators and not launches."""
    external, correlation = trace.external_id[row], trace.correlation[row]
    both = (external >= 0) & (correlation >= 0)
    if not both.any():
        return bool((external >= 0).any())
    return bool((external[both] != correlation[both]).any())


def _by_external_id(trace: Trace, external: NDArray[np.int64]) -> Int32:
    operators = np.flatnonzero((trace.kind == SliceKind.CPU_OP) & (trace.external_id >= 0))
    found = np.full(len(external), -1, np.int32)
    if not len(operators):
        return found
    ids = trace.external_id[operators]
    order = np.argsort(ids, kind="stable")
    ids, operators = ids[order], operators[order]
    at = np.minimum(np.searchsorted(ids, external, "left"), len(ids) - 1)
    same = (ids[at] == external) & (external >= 0)
    found[same] = operators[at[same]]
    return found
