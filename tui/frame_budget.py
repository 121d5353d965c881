"""What to leave out of rows that cost too much: their cheapest runs of colour.

A short stretch of another colour is drawn in the colour of the longer one beside it, the least
first, until the runs that are left keep the budget. How full cells are stays as it is, so that
neither a slice nor a gap is hidden.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.tui.bars import codes_of, paint_plainly, shapes_of
from whichlayer.tui.frame_cells import Bool, Cells, UInt8
from whichlayer.tui.frame_runs import RUN_BYTES, Painted, find_runs

Int64 = NDArray[np.int64]
Places = NDArray[np.intp]

#: Full cells in a row up to this many are drawn as blocks on the canvas: three bytes a cell are
#: cheaper than another run.
_SHORT = RUN_BYTES // 3

#: More than any run can weigh, and no colour.
_HEAVIEST, _WALL = 1 << 40, 255


def paint_within(cells: Cells, tones: UInt8, most: int) -> tuple[Painted, Bool, UInt8]:
    """Draw rows so that all together take so many bytes at most.

    Three bytes a cell and a run for each row are needed in any case.

    Args:
        cells: of the rows.
        tones: uint8 (rows,), the tone of each.
        most: bytes on a terminal with 256 colours.

    Returns:
        What is drawn, the bodies of bars, and the families as they are drawn.
    """
    shapes = shapes_of(cells, coarse=True)
    solid = _long_runs(shapes.full)
    painted = paint_plainly(cells, tones, shapes, solid)
    layout = find_runs(painted).costs()
    least = cells.level.shape[1] * 3 + RUN_BYTES
    if (layout > least).any():
        solid[layout > least] = False
        painted = paint_plainly(cells, tones, shapes, solid)
        layout = np.minimum(layout, least)
    changes = (most - int(layout.sum())) // RUN_BYTES
    weight = cells.level * (shapes.full | shapes.part)
    family = merge_colours(cells.family, weight, max(changes, 0))
    offsets = codes_of(family.astype(np.int32))
    offsets *= weight > 0
    painted.codes += offsets
    return painted, solid, family


def _long_runs(full: Bool) -> Bool:
    """Full cells with more of them beside."""
    rows, cells = full.shape
    padded = np.zeros((rows, cells + 1), np.bool_)
    padded[:, 1:] = full
    flat = padded.reshape(-1)
    changes = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    lengths = np.diff(changes, prepend=0, append=len(flat))
    long = lengths > _SHORT
    long[::2] = False  # every other stretch is of cells that are not full
    return long.repeat(lengths).reshape(padded.shape)[:, 1:]


def merge_colours(family: UInt8, level: UInt8, most: int) -> UInt8:
    """Colours with at most so many changes along all rows together.

    In each round runs that weigh less than both of their neighbours take the heavier one's
    colour, the lightest first.

    Args:
        family: uint8 (rows, cells).
        level: uint8 (rows, cells), what each cell weighs; cells of 0 have no colour.
        most: changes that may be left.
    """
    runs = _Runs.of(family, level)
    while (need := runs.changes - most) > 0:
        runs = runs.merged(need)
    return runs.colours(family)


@dataclass(frozen=True, slots=True)
class _Runs:
    """Stretches of one colour, row after row, walls before, between and after the rows.

    Attributes:
        starts: intp (n,), the first of each among the cells that have a colour and the walls.
        colour: uint8 (n,), ``_WALL`` for walls.
        weight: int64 (n,).
        cells: intp (m,), where the cells that have a colour lie in all; walls are beyond.
        changes: how often one colour is followed by another.
    """

    starts: Places
    colour: UInt8
    weight: Int64
    cells: Places
    changes: int

    @classmethod
    def of(cls, family: UInt8, level: UInt8) -> _Runs:
        rows, across = family.shape
        weight = np.zeros((rows + 1, across + 1), np.uint8)
        weight[:-1, 1:] = level
        weight[:, 0] = _WALL
        colour = np.full((rows + 1, across + 1), _WALL, np.uint8)
        colour[:-1, 1:] = family
        # A last row of nothing but its wall ends the row before.
        cells = np.flatnonzero(weight)
        colours = colour.reshape(-1).take(cells)
        weights = weight.reshape(-1).take(cells).astype(np.int64)
        weights[colours == _WALL] = _HEAVIEST
        return cls._joined(np.arange(len(cells)), colours, weights, cells)

    @classmethod
    def _joined(cls, starts: Places, colour: UInt8, weight: Int64, cells: Places) -> _Runs:
        """Join neighbours of one colour."""
        new = np.empty(len(colour), np.bool_)
        new[0] = True
        np.not_equal(colour[1:], colour[:-1], out=new[1:])
        first = np.flatnonzero(new)
        colour = colour.take(first)
        walls = int(np.count_nonzero(colour == _WALL))
        changes = len(colour) - 2 * walls + 1
        return cls(starts.take(first), colour, np.add.reduceat(weight, first), cells, changes)

    def merged(self, need: int) -> _Runs:
        """With so many changes less, or with as many less as one round can do away with."""
        # Neighbours of one weight are told apart by turns: else only one of many would go.
        key = self.weight * 2
        key[1::2] += 1
        before = np.flatnonzero(key[1:-1] < np.minimum(key[:-2], key[2:]))
        left, right = self.colour.take(before), self.colour.take(before + 2)
        inner = np.maximum(left, right) != _WALL
        able = inner | (left != right)
        if need * 2 < len(key):
            mine = key.take(before + 1)
            least = max(np.partition(key, need)[need], mine[able].min())
            able &= mine <= least
        able = np.flatnonzero(able)
        before, inner = before.take(able), inner.take(able)
        left, right = left.take(able), right.take(able)
        gone = 1 + (inner & (left == right))
        to_left = np.where(inner, key.take(before) >= key.take(before + 2), right == _WALL)
        target = np.where(to_left, left, right)
        chosen = before + 1
        if int(gone.sum()) > need:
            order = np.argsort(key.take(chosen), kind="stable")
            enough = int(np.searchsorted(np.cumsum(gone[order]), need)) + 1
            chosen, target = chosen[order[:enough]], target[order[:enough]]
        colour = self.colour.copy()
        colour[chosen] = target
        return self._joined(self.starts, colour, self.weight, self.cells)

    def colours(self, family: UInt8) -> UInt8:
        """The colours of all cells; those without one are as they were."""
        rows, across = family.shape
        merged = np.empty((rows + 1, across + 1), np.uint8)
        merged[:-1, 1:] = family
        length = np.diff(self.starts, append=len(self.cells))
        merged.reshape(-1)[self.cells] = np.repeat(self.colour, length)
        return merged[:-1, 1:]
