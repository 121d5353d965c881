"""Where what lies over a frame is: the cursor, the selection, what was searched for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whichlayer.tui.bars import Marks, select
from whichlayer.tui.frame_cells import Bool
from whichlayer.tui.frame_runs import Codes
from whichlayer.tui.raster import Row
from whichlayer.tui.view import View

#: Cells, the first and the last + 1.
Stretch = tuple[int, int]


def selected_cells(view: View) -> Stretch | None:
    """The cells of the selection; None for none in sight."""
    if view.marked is None:
        return None
    port = view.port
    first = max(port.cell_of(view.marked[0]), 0)
    stop = min(port.cell_of(view.marked[1] - 1) + 1, port.cells)
    return (first, stop) if first < stop else None


def focus_of(row: Row, view: View) -> int:
    """The slice of a row that the cursor is on, as index into the row, or -1."""
    cell = view.port.cell_of(view.cursor_ns)
    return row.index_at(view.cursor_ns, view.port.edge(cell + 1))


def marks_of(row: Row, view: View, hits: Bool | None, *, is_cursors: bool) -> Marks | None:
    """What is laid over a row, the selection apart; None for nothing.

    Args:
        row: what is drawn.
        view: what is looked at.
        hits: bool (cells,), what is lit.
        is_cursors: the cursor is on the row.
    """
    cell = view.port.cell_of(view.cursor_ns) if is_cursors else -1
    if 0 <= cell < view.port.cells:
        return Marks(cell, focus_of(row, view), hits)
    return Marks(hits=hits) if hits is not None else None


def reselected(
    codes: Codes, old: Stretch | None, new: Stretch | None
) -> tuple[Stretch, NDArray[np.intp]]:
    """What looks otherwise where one selection holds a cell and another does not.

    Args:
        codes: int32 (rows, cells), the styles of the frame without marks.
        old: the selection before.
        new: the selection now.

    Returns:
        The cells that may look otherwise, and the rows that do.
    """
    cells = np.zeros(codes.shape[1], np.bool_)
    for one in (old, new):
        if one is not None:
            cells[slice(*one)] ^= True
    (changed,) = np.nonzero(cells)
    if not len(changed):
        return (0, 0), changed
    plain = codes[:, changed]
    marked = plain.copy()
    select(marked, (0, len(changed)))
    return (int(changed[0]), int(changed[-1]) + 1), np.flatnonzero((marked != plain).any(axis=1))
