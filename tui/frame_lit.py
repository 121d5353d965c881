"""Which cells of a row are lit: where a search found something, or the calls of a kernel lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whichlayer.tui.counter_row import CounterRow
from whichlayer.tui.frame_runs import RUN_BYTES
from whichlayer.tui.instant_lanes import InstantRow
from whichlayer.tui.raster import Row
from whichlayer.tui.viewport import Viewport
from whichlayer.tui.widgets.hits_line import cells_covered

if TYPE_CHECKING:  # there is no search before someone types one
    from whichlayer.analysis.search.hits import Hits

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Bool = NDArray[np.bool_]

#: Bytes that lighting the hits of a row may cost.
_HIT_BYTES = 16 * RUN_BYTES

#: The same of the calls of a kernel, which lie in few rows.
_CALL_BYTES = 96 * RUN_BYTES


class Lit:
    """Slices that are lit, row by row as they are drawn.

    Attributes:
        hits: what a search found, or None.
        calls: int32, trace rows that are lit in its place, or None.
    """

    def __init__(self, hits: Hits | None = None, calls: Int32 | None = None) -> None:
        """Nothing is known of any row yet."""
        self.hits, self.calls = hits, calls
        self._of_row: dict[Row, tuple[Int64, Int64]] = {}

    @property
    def is_any(self) -> bool:
        """Whether there is something to light."""
        return self.hits is not None or self.calls is not None

    def forget_rows(self) -> None:
        """Rows have been made anew."""
        self._of_row = {}

    def cells(self, row: Row, port: Viewport) -> Bool | None:
        """The lit cells of a row; None where none are, and where they are strewn all over."""
        if not self.is_any or isinstance(row, CounterRow | InstantRow):
            return None
        mine = self._of_row.get(row)
        if mine is None:
            if self.calls is not None:
                found = np.flatnonzero(np.isin(row.slices, self.calls))
            else:
                assert self.hits is not None
                found = np.flatnonzero(self.hits.mask[row.slices])
            mine = self._of_row[row] = (row.start_ns[found], row.end_ns[found])
        cells = cells_covered(*mine, port)
        runs = int(np.count_nonzero(cells[1:] != cells[:-1]))
        most = _HIT_BYTES if self.calls is None else _CALL_BYTES
        return cells if cells.any() and runs * RUN_BYTES <= most else None
