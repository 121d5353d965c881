"""A row of the timeline of which some slices are let through by a filter."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whichlayer.tui.raster import Row

Bool = NDArray[np.bool_]


class FilteredRow(Row):
    """The slices of a row that are let through; the others lie behind them.

    Attributes:
        whole: the row with all of them.
    """

    def __init__(self, row: Row, keep: Bool) -> None:
        """Take a row, and which of its slices (bool, by index into it) are let through."""
        kept = np.flatnonzero(keep)
        super().__init__(
            row.slices[kept], row.start_ns[kept], row.end_ns[kept], row.family[kept], row.tone
        )
        self.whole = row
