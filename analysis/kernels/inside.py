"""Which slices lie inside slices of certain names."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.trace.columns import Trace


def inside_slices(
    trace: Trace, rows: NDArray[np.int32], prefixes: tuple[str, ...]
) -> NDArray[np.bool_]:
    """Which rows begin inside a slice of their lane whose name begins so: bool (n,)."""
    ids = [index for index, name in enumerate(trace.strings) if name.startswith(prefixes)]
    marks = np.flatnonzero(among(trace.name_id, ids)) if ids else np.empty(0, np.int64)
    inside = np.zeros(len(rows), np.bool_)
    if not len(marks) or not len(rows):
        return inside
    for lane in np.unique(trace.lane_id[rows]).tolist():
        mine = marks[trace.lane_id[marks] == lane]
        if not len(mine):
            continue
        here = trace.lane_id[rows] == lane
        begun = trace.start_ns[rows[here]]
        start, reach = trace.start_ns[mine], np.maximum.accumulate(trace.end_ns[mine])
        at = np.searchsorted(start, begun, "right") - 1
        inside[here] = (at >= 0) & (reach[np.maximum(at, 0)] > begun)
    return inside
