"""Rows of the timeline from plain tuples, and what they cover, counted slice by slice."""

from __future__ import annotations

import numpy as np

from whichlayer.tui.raster import Row

#: (start, end, family) of each slice, sorted.
Slices = list[tuple[int, int, int]]


def row_of(slices: Slices, tone: int = 0) -> Row:
    columns = np.array(slices, np.int64).reshape(-1, 3).T
    rows = np.arange(len(slices), dtype=np.int32)
    return Row(rows, columns[0], columns[1], columns[2].astype(np.uint8), tone)


def union(slices: Slices, low: int, high: int) -> int:
    """Time in ``[low, high)`` in which a slice runs."""
    total, reach = 0, low
    for start, end, _ in slices:
        start, end = max(start, reach), min(end, high)
        if end > start:
            total, reach = total + end - start, end
    return total
