"""A counter over time: a step function, drawn so that no peak is hidden.

A counter holds its value until its next sample. A cell shows the greatest value that it has at
any instant of the cell; before the first sample there is none, and the cell stays blank. What
a cell costs does not depend on how many samples it holds: maxima of blocks are known.
"""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import NDArray

from whichlayer.tui.family import Family
from whichlayer.tui.frame_cells import FULL, Cells
from whichlayer.tui.frame_runs import Painted
from whichlayer.tui.palette import BLANK, glyph_code
from whichlayer.tui.raster import Row

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

#: Samples of one block of which the maximum is known.
_BLOCK = 256

#: A value at the bottom of the range is a line, so that it differs from no value.
_GLYPHS = np.array([ord(c) for c in "_▁▂▃▄▅▆▇█"], dtype=np.uint32)


class CounterRow(Row):
    """One series of samples as a row of the timeline.

    Attributes:
        value: float64 (n,), NaN where the file holds no number.
        lowest, highest: of the finite values; NaN where there are none.
        base, top: values at the bottom and at the top of the row.
        is_above, is_below: a line of a row that has others below or above it, see :meth:`part`.
    """

    has_own_cells = True
    is_above = False
    is_below = False

    def __init__(self, time_ns: Int64, value: Float64, until_ns: int, tone: int = 0) -> None:
        """Take samples sorted by time; the last one holds until ``until_ns``."""
        count = len(time_ns)
        self.slices = np.broadcast_to(np.int32(-1), count)
        self.start_ns = time_ns
        self.end_ns = np.append(time_ns[1:], max(until_ns, int(time_ns[-1]))) if count else time_ns
        self.family = np.broadcast_to(np.uint8(Family.COUNTER), count)
        self.tone = tone
        self.value = value
        finite = value[np.isfinite(value)]
        self.lowest = float(finite.min()) if len(finite) else np.nan
        self.highest = float(finite.max()) if len(finite) else np.nan
        self.base = min(self.lowest, 0.0) if len(finite) else 0.0
        self.top = max(self.highest, 0.0) if len(finite) else 0.0
        self._parts: dict[tuple[int, int], CounterRow] = {}
        self._known = np.where(np.isnan(value), -np.inf, value)
        whole = count - count % _BLOCK
        self._blocks = self._known[:whole].reshape(-1, _BLOCK).max(axis=1)

    def index_at(self, time_ns: int, until_ns: int | None = None) -> int:
        """The sample that holds at an instant, else the first that comes before ``until_ns``."""
        i = int(np.searchsorted(self.start_ns, time_ns, "right")) - 1
        if i < 0 and until_ns is not None and len(self) and self.start_ns[0] < until_ns:
            return 0
        return i

    def busy_until(self, time_ns: Int64) -> Int64:
        """Time since the first sample before each instant: a counter always has a value."""
        first = self.start_ns[0] if len(self) else np.iinfo(np.int64).max
        return np.asarray(np.maximum(time_ns - np.minimum(first, time_ns), 0))

    def greatest(self, edges: Int64) -> Float64:
        """The greatest value in each cell: float64 (cells,), -inf where there is none.

        Args:
            edges: int64 (cells + 1,), strictly increasing.
        """
        first, stop = self._inside(edges)
        return _range_maxima(self._known, self._blocks, first, stop)

    def samples(self, low_ns: int, high_ns: int) -> tuple[int, int]:
        """First and last + 1 of the samples that hold at some instant of ``[low, high)``."""
        first, stop = self._inside(np.array([low_ns, high_ns], np.int64))
        return int(first[0]), int(stop[0])

    def cells(self, edges: Int64) -> Cells:
        """Rasterise the row; ``level`` is the height from ``base`` to ``top`` in eighths."""
        greatest = self.greatest(edges)
        known = greatest > -np.inf
        level = _levels(greatest, self.base, self.top)
        first, stop = self._inside(edges)
        width = np.diff(edges)
        none = np.full(len(width), -1, np.int32)
        return Cells(
            busy_ns=width * level.astype(np.int64) // FULL,
            level=level,
            family=np.full(len(width), Family.COUNTER, np.uint8),
            count=np.where(known, np.maximum(stop - first, 1), 0),
            first=none,
            last=none,
            from_left=np.zeros(len(edges), np.bool_),
        )

    def paint(self, cells: Cells) -> Painted:
        """Draw the row: one run, whatever its values do."""
        known = cells.count > 0
        if self.is_above:
            known &= cells.level > 0
        glyphs = np.where(known, _GLYPHS[cells.level], np.uint32(ord(" ")))
        codes = np.where(known, glyph_code(Family.COUNTER, self.tone, False), BLANK).astype(
            np.int32
        )
        return Painted(glyphs.astype(np.uint32), codes)

    def part(self, part: int, parts: int) -> CounterRow:
        """One line of the row drawn over several, from the top."""
        found = self._parts.get((part, parts))
        if found is None:
            found = self._parts[part, parts] = copy(self)
            height = self.top / parts - self.base / parts
            found.base, found.top = (self.base + height * (parts - 1 - part + i) for i in (0, 1))
            found.is_above, found.is_below = part < parts - 1, part > 0
        return found

    def _inside(self, edges: Int64) -> tuple[Int64, Int64]:
        """By cell: first and last + 1 of the samples whose values it has."""
        begun = np.searchsorted(self.start_ns, edges, "left")
        before = np.maximum(begun[:-1] - 1, 0)
        at_edge = np.minimum(begun[:-1], max(len(self) - 1, 0))
        fresh = begun[:-1] < len(self)
        if len(self):
            fresh &= self.start_ns[at_edge] == edges[:-1]
        return np.where(fresh, begun[:-1], before), begun[1:]


def _levels(value: Float64, base: float, top: float) -> NDArray[np.uint8]:
    """Heights in eighths: 0 at the base, any more is at least 1."""
    scale = 1.0 if np.isfinite(top - base) else 0.5  # the span may be beyond all numbers
    with np.errstate(invalid="ignore"):
        span = top * scale - base * scale
        share = (value * scale - base * scale) / span if span > 0 else value * 0.0
    share = np.where(value == np.inf, 1.0, share)
    return np.clip(np.ceil(np.nan_to_num(share, neginf=0.0) * FULL), 0, FULL).astype(np.uint8)


def _range_maxima(values: Float64, blocks: Float64, first: Int64, stop: Int64) -> Float64:
    """The maximum of each ``values[first:stop]``, -inf of an empty one."""
    result = np.full(len(first), -np.inf)
    inner = -(-first // _BLOCK), stop // _BLOCK
    head = np.minimum(inner[0] * _BLOCK, stop)
    tail = np.maximum(inner[1] * _BLOCK, head)
    for low, high in ((first, head), (tail, stop)):
        some = np.flatnonzero(high > low)
        if len(some):
            at = low[some, None] + np.arange(int((high - low)[some].max()))
            part = values[np.minimum(at, len(values) - 1)]
            part = np.where(at < high[some, None], part, -np.inf)
            result[some] = np.maximum(result[some], part.max(axis=1))
    some = np.flatnonzero(inner[1] > inner[0])
    if len(some):
        bounds = np.stack((inner[0][some], inner[1][some]), axis=1).ravel()
        held = np.append(blocks, -np.inf)
        result[some] = np.maximum(result[some], np.maximum.reduceat(held, bounds)[::2])
    return result
