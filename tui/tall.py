"""Rows that are several lines high: what each of the lines shows of the row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from whichlayer.tui.counter_row import CounterRow
from whichlayer.tui.frame_cells import FULL, Cells
from whichlayer.tui.raster import Row


def row_part(row: Row, part: int, parts: int) -> Row:
    """What a line draws of a row: a counter is drawn as finely as all of its lines allow.

    Args:
        row: all of it.
        part: which line, from the top.
        parts: how many lines it has.
    """
    if parts == 1 or not isinstance(row, CounterRow):
        return row
    return row.part(part, parts)


def cells_part(row: Row, cells: Cells, part: int, parts: int) -> Cells:
    """The cells of a line: how busy a cell is fills its lines from below.

    An end of a bar is an end in every line.

    Args:
        row: what is drawn.
        cells: the row rasterised.
        part: which line, from the top.
        parts: how many lines it has.
    """
    if parts == 1 or isinstance(row, CounterRow):
        return cells
    above = cells.level.astype(np.int64) * parts - FULL * (parts - 1 - part)
    level = np.where(cells.count > 1, np.clip(above, 0, FULL), cells.level).astype(np.uint8)
    return replace(cells, level=level)
