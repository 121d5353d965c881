"""Letters on bars, for screens on which colours alone would not tell their families apart.

Without colours, with sixteen of them or with ASCII alone a letter stands where a stretch of one
family, owner, stream or name begins and no name says what it is: a capital where at least half
of the cell is busy. What follows without a letter and without a gap is of the same family.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.layers import Layer
from whichlayer.tui.counter_row import CounterRow
from whichlayer.tui.family import Family
from whichlayer.tui.frame_cells import FULL, Bool, Cells
from whichlayer.tui.frame_runs import Glyphs, Painted
from whichlayer.tui.instant_lanes import InstantRow
from whichlayer.tui.palette import bar_code, glyph_code
from whichlayer.tui.raster import Row
from whichlayer.tui.slots import HUES, SLOTS

#: Letters of families: neither rows of a GPU nor those of the host have one twice, and none is
#: that of a layer, which the row of owners above has.
FAMILY_LETTERS = {
    Family.MATMUL: "M",
    Family.ATTENTION: "A",
    Family.CONVOLUTION: "V",
    Family.REDUCTION: "S",  # sums, softmax
    Family.POINTWISE: "E",  # elementwise
    Family.OPTIMIZER: "O",
    Family.INDEX: "I",
    Family.COMPILED: "T",  # Triton
    Family.COLLECTIVE: "N",  # NCCL
    Family.COPY: "Y",
    Family.KERNEL: "K",
    Family.GPU_NOTE: "G",
    Family.OPERATOR: "O",
    Family.BACKWARD: "G",  # gradients
    Family.ANNOTATION: "A",
    Family.LOADER: "L",
    Family.PYTHON: "Y",
    Family.MODULE: "M",
    Family.CALL: "D",  # of the driver or runtime
    Family.WAIT: "W",
    Family.OVERHEAD: "H",
    Family.OTHER: "Z",
    Family.COUNTER: " ",
}

#: What a way of colouring has nothing to say of.
_PLAIN = "N"

_STEP = bar_code(1, 0) - bar_code(0, 0)
_GLYPH = glyph_code(0, 0, False) - bar_code(0, 0)

#: Characters of a family's text; the others are cells, ends and heights of bars.
_BLOCKS = " ▁▂▃▄▅▆▇█▏▎▍▌▋▊▉▕▐"

_TOP, _BELOW_TOP = ord("█"), ord("▇")


def letter_of(slot: int) -> str:
    """What stands for a code of ``slots``: hues have digits."""
    return _LETTERS[slot]


_LETTERS = (
    *(FAMILY_LETTERS[family] for family in Family),
    *(layer.text.letter for layer in Layer),
    *(str(hue) for hue in range(HUES)),
    _PLAIN,
)
_CAPITAL = np.array([ord(letter) for letter in _LETTERS], np.uint32)
_SMALL = np.array([ord(letter.lower()) for letter in _LETTERS], np.uint32)


def write_letters(painted: Painted, cells: Cells, rows: Sequence[Row]) -> None:
    """Write letters where bars begin that have no name, and keep rows of counters apart.

    Args:
        painted: some rows without marks, written to.
        cells: what they show.
        rows: from top to bottom.
    """
    plain = [isinstance(row, CounterRow | InstantRow) for row in rows]
    _part_counters(painted.glyphs, rows)
    codes = painted.codes - bar_code(0, 0)
    slot = codes // np.int32(_STEP)
    drawn = (codes >= 0) & (slot < SLOTS) & ~np.array(plain, np.bool_)[:, None]
    if not drawn.any():
        return
    slot[~drawn] = -1
    y, first, stop = _stretches(slot)
    # Of a row that is several lines high the first line that has a bar says what it is.
    lower = np.array([y > 0 and row is rows[y - 1] for y, row in enumerate(rows)], np.bool_)
    named = _named(painted.glyphs, first, stop, slot.shape[1], y)
    named |= lower[y] & (slot[y - 1, first] == slot[y, first])
    y, first, stop = y[~named], first[~named], stop[~named]
    # A bar's beginning is drawn on its colour: a letter there would make it a whole cell.
    body = (codes >= 0) & (codes % _STEP < _GLYPH)
    begins = body & np.isin(painted.glyphs, _BLOCK_CODES[1:])
    at = first + (begins[y, first] & (first + 1 < stop))
    busy = cells.level[y, at] >= FULL // 2
    here = slot[y, at]
    painted.glyphs[y, at] = np.where(busy, _CAPITAL[here], _SMALL[here])
    painted.codes[y, at] += _GLYPH * begins[y, at]


def _stretches(
    slot: NDArray[np.int32],
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Row, first and last + 1 cell of the stretches of one code; -1 is none."""
    rows, across = slot.shape
    padded = np.full((rows, across + 1), -1, slot.dtype)
    padded[:, 1:] = slot
    new = np.zeros((rows, across + 1), np.bool_)
    new[:, :-1] = padded[:, 1:] != padded[:, :-1]
    new[:, -1] = True
    y, x = np.nonzero(new)
    first, stop, y = x[:-1], x[1:], y[:-1]
    real = (first < across) & (stop > first)
    y, first, stop = y[real], first[real], stop[real]
    some = slot[y, first] >= 0
    return y[some], first[some], stop[some]


def _named(
    glyphs: Glyphs,
    first: NDArray[np.intp],
    stop: NDArray[np.intp],
    across: int,
    y: NDArray[np.intp],
) -> Bool:
    """Whether a name or a word stands at the beginning of each stretch."""
    text = ~np.isin(glyphs, _BLOCK_CODES)
    reach = np.minimum(first + _NEAR, stop)
    before = np.zeros((len(glyphs), across + 1), np.int32)
    np.cumsum(text, axis=1, out=before[:, 1:])
    return np.asarray(before[y, reach] > before[y, first])


_BLOCK_CODES = np.array([ord(char) for char in _BLOCKS], np.uint32)

#: A name so close to the beginning of a stretch says what all of it is: behind the end of a bar
#: and the space before a word.
_NEAR = 3


def _part_counters(glyphs: Glyphs, rows: Sequence[Row]) -> None:
    """Leave an eighth free above each row of a counter."""
    for y, row in enumerate(rows):
        if isinstance(row, CounterRow) and not row.is_below:
            glyphs[y][glyphs[y] == _TOP] = _BELOW_TOP
