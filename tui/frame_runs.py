"""From characters and styles to runs: what is written in one go, and what it costs.

A terminal is told a style once for a run of cells. Empty cells look the same in every style that
draws on the canvas, so those between part-full cells belong to the run of the one before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.tui.palette import BLANK, BLANK_MARKED, bar_code, glyph_code
from whichlayer.tui.slots import SLOTS

Glyphs = NDArray[np.uint32]
Codes = NDArray[np.int32]
Places = NDArray[np.intp]

#: Bytes of the control sequences round one run with 256 colours: colours, then reset.
RUN_BYTES = 24

_SPACE = ord(" ")

#: By style code: 1 and 2 for empty cells on the canvas and on the selection, 3 and 4 for
#: characters of a family's colour on them, 0 for the others; the last is of codes beyond.
_GROUNDS = np.zeros(bar_code(SLOTS, 0) + 1, np.uint8)
_GROUNDS[[BLANK, BLANK_MARKED]] = 1, 2
for _slot in range(SLOTS):
    for _tone in (0, 1):
        _GROUNDS[glyph_code(_slot, _tone, False)] = 3
        _GROUNDS[glyph_code(_slot, _tone, True)] = 4


@dataclass(slots=True)
class Painted:
    """Characters and the style code of each: one row of cells, or rows of them.

    Attributes:
        glyphs: uint32 (…, cells), code points.
        codes: int32 (…, cells), see ``palette``.
    """

    glyphs: Glyphs
    codes: Codes

    def row(self, y: int) -> Painted:
        """One of the rows, in the memory of all."""
        return Painted(self.glyphs[y], self.codes[y])

    def put(self, y: int, row: Painted) -> None:
        """Take another drawing of one of the rows."""
        self.glyphs[y], self.codes[y] = row.glyphs, row.codes

    def copy(self) -> Painted:
        """The same in memory of its own."""
        return Painted(self.glyphs.copy(), self.codes.copy())

    def runs(self) -> list[tuple[str, int]]:
        """(text, style code) of neighbouring cells in one style, row after row."""
        found = find_runs(self)
        return list(zip(found.texts(), found.codes.tolist(), strict=True))

    def cost(self) -> int:
        """Bytes on a terminal with 256 colours."""
        return int(find_runs(self).costs().sum())


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of some rows.

    Attributes:
        painted: what they are of.
        starts: intp (n,), the first cell of each, counted from the top left.
        codes: int32 (n,), the style of each.
        bounds: intp (rows + 1,), the first run of each row, and how many there are.
    """

    painted: Painted
    starts: Places
    codes: Codes
    bounds: Places

    def texts(self) -> list[str]:
        """The text of each."""
        text = self.painted.glyphs.tobytes().decode("utf-32-le")
        starts = self.starts.tolist()
        return [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]

    def costs(self) -> NDArray[np.int64]:
        """Bytes of each row on a terminal with 256 colours."""
        glyphs = np.atleast_2d(self.painted.glyphs)
        wide = (glyphs > 127).sum(axis=1)
        return np.asarray(np.diff(self.bounds) * RUN_BYTES + glyphs.shape[1] + 2 * wide)


def find_runs(painted: Painted) -> Runs:
    """The runs of one or more rows, found together."""
    codes = painted.codes
    cells = max(codes.shape[-1], 1)
    flat = codes.reshape(-1)
    changes = np.empty(len(flat), np.bool_)
    np.not_equal(flat[1:], flat[:-1], out=changes[1:])
    changes[::cells] = True
    starts = np.flatnonzero(changes)
    code = flat[starts]
    if not len(code) or code.min() > BLANK_MARKED:  # nothing can be joined
        return Runs(painted, starts, code, _bounds(starts, len(flat), cells))
    opens = starts % cells == 0
    ground = _GROUNDS.take(code, mode="clip")
    wanted = ground + 2
    wanted[ground > 2] = wanted[ground == 0] = 9
    odd = (flat <= BLANK_MARKED) & (painted.glyphs.reshape(-1) != _SPACE)
    if odd.any():
        wanted[np.logical_or.reduceat(odd, starts)] = 9
    # An empty stretch takes the style of what is before it, else of what is behind.
    behind = np.zeros(len(starts), np.bool_)
    behind[:-1] = (ground[1:] == wanted[:-1]) & ~opens[1:]
    before = np.zeros(len(starts), np.bool_)
    before[1:] = (ground[:-1] == wanted[1:]) & ~opens[1:]
    joined = code.copy()
    joined[:-1][behind[:-1]] = code[1:][behind[:-1]]
    joined[1:][before[1:]] = code[:-1][before[1:]]
    kept = opens
    kept[1:] |= joined[1:] != joined[:-1]
    starts = starts[kept]
    return Runs(painted, starts, joined[kept], _bounds(starts, len(flat), cells))


def _bounds(starts: Places, size: int, cells: int) -> Places:
    """The first run of each row, and how many there are."""
    return starts.searchsorted(np.arange(0, size + 1, cells))
