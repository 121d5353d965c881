"""A chain drawn on the timeline: its slices lit and underlined, launch and GPU work joined.

The line that joins them runs through empty cells alone: it never hides a slice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whichlayer.tui.counter_row import CounterRow
from whichlayer.tui.frame_runs import Painted
from whichlayer.tui.instant_lanes import InstantRow
from whichlayer.tui.palette import BLANK, BLANK_MARKED, bar_code, lit_code
from whichlayer.tui.raster import Row
from whichlayer.tui.viewport import Viewport

if TYPE_CHECKING:  # the first timeline waits for no chain
    from whichlayer.tui.chain import Chain

Bool = NDArray[np.bool_]

#: Added to the style code of an underlined cell; of a cell of the joining line.
UNDERLINED, JOINED = 1 << 20, 1 << 21

_PER_FAMILY = bar_code(1, 0) - bar_code(0, 0)

#: Up and down, along, and the corners where they meet.
_DOWN, _ALONG = "┊", "┈"
_CORNERS = {(True, True): "┘", (True, False): "└", (False, True): "┐", (False, False): "┌"}


@dataclass(slots=True)
class LineMarks:
    """What is marked on one line: cells of slices, and characters of the joining line."""

    cells: Bool | None = None
    joins: dict[int, str] = field(default_factory=dict)

    def same(self, other: LineMarks | None) -> bool:
        """Whether a line would look the same."""
        if other is None or self.joins != other.joins:
            return False
        if self.cells is None or other.cells is None:
            return self.cells is other.cells
        return bool((self.cells == other.cells).all())


def chain_marks(
    chain: Chain | None, rows: Sequence[tuple[int, Row]], port: Viewport, here: int
) -> dict[int, LineMarks]:
    """The marks of a chain by line.

    Args:
        chain: the chain, None for none.
        rows: (line, slices) of the lines in sight, from top to bottom.
        port: the visible span.
        here: the slice that the chain is of; it has the cursor and needs no other mark.
    """
    if chain is None or not chain.links:
        return {}
    related = np.unique(
        np.concatenate(([link.row for link in chain.links], chain.started)).astype(np.int64)
    )
    related = related[related != here]
    found: dict[int, LineMarks] = {}
    ends: dict[int, tuple[int, int, int]] = {}
    pair = _joined_pair(chain)
    for line, row in rows:
        if isinstance(row, CounterRow | InstantRow) or not len(row):
            continue
        for end in pair:
            at = int(np.searchsorted(row.slices, end))
            if at < len(row) and row.slices[at] == end:
                first, last = port.cell_of(int(row.start_ns[at])), _last_cell(row, at, port)
                if 0 <= first < port.cells:
                    ends[end] = (line, first, last)
        places = np.minimum(np.searchsorted(row.slices, related), len(row) - 1)
        places = places[row.slices[places] == related]
        cells = _cells_of(row, places, port) if len(places) else None
        if cells is not None:
            found[line] = LineMarks(cells)
    if len(ends) == 2:
        _join(found, ends[pair[0]], ends[pair[1]], port.cells)
    return found


def laid(painted: Painted, marks: LineMarks) -> Painted:
    """A painted line with its marks; codes from ``UNDERLINED`` on stand for other styles."""
    glyphs, codes = painted.glyphs.copy(), painted.codes.copy()
    if marks.cells is not None:
        bars = marks.cells & (codes >= bar_code(0, 0))
        bodies = bars & ((codes - bar_code(0, 0)) % _PER_FAMILY < 2)
        family = (codes - bar_code(0, 0)) // _PER_FAMILY
        codes[bodies] = lit_code(0) + family[bodies] * _PER_FAMILY
        codes[bars] += UNDERLINED
    for cell, char in marks.joins.items():
        if codes[cell] in (BLANK, BLANK_MARKED) and glyphs[cell] == ord(" "):
            glyphs[cell], codes[cell] = ord(char), codes[cell] + JOINED
    return Painted(glyphs, codes)


def _joined_pair(chain: Chain) -> tuple[int, ...]:
    """The GPU work at the foot and its launch."""
    words = [link.word for link in chain.links[:3]]
    if chain.foot < 0 or "launch" not in words:
        return ()
    return chain.foot, chain.links[words.index("launch")].row


def _last_cell(row: Row, at: int, port: Viewport) -> int:
    start, end = int(row.start_ns[at]), int(row.end_ns[at])
    return max(port.cell_of(max(end - 1, start)), port.cell_of(start))


def _cells_of(row: Row, places: NDArray[np.intp], port: Viewport) -> Bool | None:
    """The cells that slices touch, None where they are out of sight."""
    edges = port.edges()
    low, high = row.start_ns[places], np.maximum(row.end_ns[places], row.start_ns[places] + 1)
    seen = (low < edges[-1]) & (high > edges[0])
    if not seen.any():
        return None
    first = np.clip(np.searchsorted(edges, low[seen], "right") - 1, 0, port.cells - 1)
    last = np.clip(np.searchsorted(edges, high[seen], "left") - 1, 0, port.cells - 1)
    steps = np.zeros(port.cells + 1, np.int64)
    np.add.at(steps, first, 1)
    np.add.at(steps, last + 1, -1)
    return np.asarray(np.cumsum(steps)[:-1] > 0)


def _join(
    found: dict[int, LineMarks],
    work: tuple[int, int, int],
    launch: tuple[int, int, int],
    cells: int,
) -> None:
    """Go from the launch along its line to the column where the work begins, then to it."""
    (work_line, column, _), (launch_line, first, last) = work, launch
    if work_line == launch_line:
        return
    joins: dict[tuple[int, int], str] = {}
    for line in range(min(work_line, launch_line) + 1, max(work_line, launch_line)):
        joins[line, column] = _DOWN
    if column > last or column < first:
        low, high = (last + 1, column) if column > last else (column + 1, first)
        for cell in range(low, high):
            joins[launch_line, cell] = _ALONG
        joins[launch_line, column] = _CORNERS[work_line < launch_line, column > last]
    for (line, cell), char in joins.items():
        if 0 <= cell < cells:
            found.setdefault(line, LineMarks()).joins[cell] = char
