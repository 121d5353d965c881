"""A row of the timeline of which some slices are let through by a filter."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from whichlayer.tui.bars import Painted, paint
from whichlayer.tui.palette import BLANK
from whichlayer.tui.raster import Cells, Int64, Row

Bool = NDArray[np.bool_]

#: What stands where only slices are that the filter holds back.
_DOT = ord("·")
_SPACE = ord(" ")


class FilteredRow(Row):
    """The slices of a row that are let through; the others lie behind them."""

    def __init__(self, row: Row, keep: Bool) -> None:
        """Take a row, and which of its slices (bool, by index into it) are let through."""
        kept = np.flatnonzero(keep)
        super().__init__(
            row.slices[kept], row.start_ns[kept], row.end_ns[kept], row.family[kept], row.tone
        )
        self._whole = row

    def paint_over(
        self, cells: Cells, edges: Int64, name_of: Callable[[int], str], detail: int
    ) -> Painted:
        """Draw what is let through over dots for the rest."""
        painted = paint(self, cells, name_of, detail)
        behind = (self._whole.cells(edges).count > 0) & (cells.count == 0)
        behind &= (painted.codes == BLANK) & (painted.glyphs == _SPACE)
        painted.glyphs[behind] = _DOT
        return painted
