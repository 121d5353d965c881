"""Which time every cell of a row shows: the one place where time becomes columns and back.

All arithmetic is on integers, so that a cell's edge is the same nanosecond wherever it is
asked for, and neighbouring cells share it exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Viewport:
    """A span of time laid over a row of cells.

    Cell ``i`` shows ``[edge(i), edge(i + 1))``. Every cell is at least 1 ns wide, and the span
    stays within the limits (which are widened where they are shorter than the cells).

    Attributes:
        start_ns, end_ns: the visible span.
        cells: how many columns show it.
        low_ns, high_ns: how far the span may go.
    """

    start_ns: int
    end_ns: int
    cells: int
    low_ns: int
    high_ns: int

    @classmethod
    def over(cls, low_ns: int, high_ns: int, cells: int) -> Viewport:
        """All of ``[low_ns, high_ns)`` on ``cells`` columns."""
        cells = max(cells, 1)
        high_ns = max(high_ns, low_ns + cells)
        return cls(low_ns, high_ns, cells, low_ns, high_ns)

    @property
    def span_ns(self) -> int:
        """Length of the visible span."""
        return self.end_ns - self.start_ns

    @property
    def is_whole(self) -> bool:
        """True where nothing lies outside the visible span."""
        return self.start_ns == self.low_ns and self.end_ns == self.high_ns

    def edge(self, cell: int) -> int:
        """Where a cell begins; ``edge(cells)`` is the end of the span."""
        return self.start_ns + cell * self.span_ns // self.cells

    def edges(self) -> Int64:
        """All edges: int64 (cells + 1,), strictly increasing.

        The product ``cell * span`` is never formed: it would overflow for long spans.
        """
        whole, rest = divmod(self.span_ns, self.cells)
        cell = np.arange(self.cells + 1, dtype=np.int64)
        return np.asarray(self.start_ns + whole * cell + rest * cell // self.cells)

    def cell_of(self, time_ns: int) -> int:
        """The cell that shows an instant; below 0 or from ``cells`` on where none does."""
        return ((time_ns - self.start_ns + 1) * self.cells - 1) // self.span_ns

    def centre(self, cell: int) -> int:
        """An instant in the middle of a cell."""
        return (self.edge(cell) + self.edge(cell + 1)) // 2

    def shows(self, time_ns: int) -> bool:
        """True where an instant is in the visible span."""
        return self.start_ns <= time_ns < self.end_ns

    def clamp(self, time_ns: int) -> int:
        """The nearest instant within the limits."""
        return min(max(time_ns, self.low_ns), self.high_ns - 1)

    def to(self, start_ns: int, end_ns: int) -> Viewport:
        """The span moved to ``[start_ns, end_ns)`` as far as cells and limits allow.

        A span that is too short grows about its middle; one that sticks out is moved back in.
        """
        length = min(max(end_ns - start_ns, self.cells), self.high_ns - self.low_ns)
        start = start_ns - (length - (end_ns - start_ns)) // 2
        start = min(max(start, self.low_ns), self.high_ns - length)
        return replace(self, start_ns=start, end_ns=start + length)

    def zoomed(self, factor: float, about_ns: int) -> Viewport:
        """The span times ``factor``, with ``about_ns`` staying where it is on the screen."""
        longest = self.high_ns - self.low_ns
        length = int(min(max(self.span_ns * factor, self.cells), longest))
        start = about_ns - (about_ns - self.start_ns) * length // self.span_ns
        return self.to(start, start + length)

    def panned(self, cells: float) -> Viewport:
        """The span moved by so many columns, later for positive numbers."""
        step = int(cells * self.span_ns / self.cells)
        if step == 0 and cells:
            step = 1 if cells > 0 else -1
        return self.to(self.start_ns + step, self.end_ns + step)

    def fitted(self) -> Viewport:
        """Everything within the limits."""
        return replace(self, start_ns=self.low_ns, end_ns=self.high_ns)

    def around(self, start_ns: int, end_ns: int, share: float) -> Viewport:
        """A span that shows ``[start_ns, end_ns)`` in its middle, on ``share`` of the row."""
        length = int(max(end_ns - start_ns, 1) / share)
        middle = (start_ns + end_ns) // 2
        return self.to(middle - length // 2, middle - length // 2 + length)

    def including(self, time_ns: int, margin: float = 0.1) -> Viewport:
        """The same length, moved only if needed to keep an instant off the outer margins."""
        room = int(self.span_ns * margin)
        if time_ns < self.start_ns + room:
            start = time_ns - room
        elif time_ns >= self.end_ns - room:
            start = time_ns + room + 1 - self.span_ns
        else:
            return self
        return self.to(start, start + self.span_ns)

    def with_cells(self, cells: int) -> Viewport:
        """The same span on another number of columns."""
        cells = max(cells, 1)
        high = max(self.high_ns, self.low_ns + cells)
        return replace(self, cells=cells, high_ns=high).to(self.start_ns, self.end_ns)
