"""From cells to characters: bars with ends on eighths, names where they fit, few runs.

A full cell is a space on the bar's colour, which costs the terminal one byte; block
characters (three bytes) appear only at a bar's ends and where a cell is part full. What a
frame costs is its runs of equal style: when there are too many, the cheapest detail goes
first, but never a slice or a gap as wide as a cell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from whichlayer.tui.palette import (
    BLANK,
    BLANK_MARKED,
    CURSOR,
    HIT,
    HIT_GLYPH,
    bar_code,
    glyph_code,
    lit_code,
)
from whichlayer.tui.raster import FULL, Cells, Row
from whichlayer.tui.slots import slot_word

Int64 = NDArray[np.int64]
Glyphs = NDArray[np.uint32]

_SPACE = ord(" ")
_LEFT = np.array([ord(c) for c in " ▏▎▍▌▋▊▉█"], dtype=np.uint32)
_LOWER = np.array([ord(c) for c in " ▁▂▃▄▅▆▇█"], dtype=np.uint32)

#: Bytes of the control sequences round one run with 256 colours: colours, then reset.
RUN_BYTES = 24

#: Cells that share one family, by detail.
_BLOCKS = {3: 4, 4: 16}

#: A shorter name than this helps nobody.
LEAST_NAME = 3

#: Full runs up to this length beside part-full cells are drawn as blocks of the same style:
#: three bytes a cell are cheaper than another run.
_SHORT_FULL = RUN_BYTES // 3


@dataclass(slots=True)
class Painted:
    """A row of characters and the style code of each.

    Attributes:
        glyphs: uint32 (cells,), code points.
        codes: int64 (cells,), see ``palette``.
    """

    glyphs: Glyphs
    codes: Int64

    def runs(self) -> list[tuple[str, int]]:
        """(text, style code) of neighbouring cells in one style."""
        breaks = np.flatnonzero(self.codes[1:] != self.codes[:-1]) + 1
        text = self.glyphs.tobytes().decode("utf-32-le")
        bounds = [0, *breaks.tolist(), len(text)]
        codes = self.codes[bounds[:-1]].tolist()
        pairs = pairwise(bounds)
        return [(text[a:b], code) for (a, b), code in zip(pairs, codes, strict=True)]

    def cost(self) -> int:
        """Bytes that the row takes on a terminal with 256 colours."""
        runs = 1 + int((self.codes[1:] != self.codes[:-1]).sum())
        return runs * RUN_BYTES + len(self.glyphs) + 2 * int((self.glyphs > 127).sum())


@dataclass(frozen=True, slots=True)
class Marks:
    """What is laid over a row: the selection, the cursor, the slice under it.

    Attributes:
        selected: (first, last + 1) cells of the selection, or None.
        cursor: cell of the cursor on this row, or -1.
        focus: index into the row of the slice under the cursor, or -1.
        hits: bool (cells,), where a search found something; None for nowhere.
    """

    selected: tuple[int, int] | None = None
    cursor: int = -1
    focus: int = -1
    hits: NDArray[np.bool_] | None = None


def paint(row: Row, cells: Cells, name_of: Callable[[int], str], detail: int = 0) -> Painted:
    """Draw a row without marks.

    Args:
        row: the slices.
        cells: the row rasterised.
        name_of: short name of a trace row.
        detail: 0 for all of it; each step up leaves out more: 1 the shades that tell
            touching bars apart and the ends of bars that are longer than a cell, 2 single
            cells of another family, 3 families within four cells of each other, 4 within
            sixteen.
    """
    level, family = cells.level, cells.family.astype(np.int64)
    if detail >= 2:
        family = _smooth(family, level, detail)
    alone = cells.count == 1
    tone = (cells.first & 1).astype(np.int64) if detail < 1 else np.zeros_like(family)
    tone[cells.count > 1] = 0
    tone ^= row.tone
    full = level == FULL
    part = (level > 0) & ~full
    begins = part & alone & ~cells.from_left[:-1] & cells.from_left[1:]
    ends = part & alone & cells.from_left[:-1] & ~cells.from_left[1:]
    if detail >= 1:
        # An end of half a cell or less goes, a longer one becomes a whole cell.
        far = part & (begins & _beside(full, 1) | ends & _beside(full, -1))
        full = full | far & (level > FULL // 2)
        part = part & ~far
        begins, ends = begins & part, ends & part
    glyphs = np.full(len(level), _SPACE, dtype=np.uint32)
    codes = np.full(len(level), BLANK, dtype=np.int64)
    solid = full | begins
    codes[solid] = bar_code(0, 0) + (codes_of(family) + tone)[solid]
    glyphs[begins] = _LEFT[FULL - level[begins]]
    rest = part & ~begins
    codes[rest] = glyph_code(0, 0, False) + (codes_of(family) + tone)[rest]
    glyphs[rest] = _LOWER[level[rest]]
    tips = rest & alone
    glyphs[tips] = _LEFT[level[tips]]
    painted = Painted(glyphs, codes)
    _join_short_runs(painted, full & ~begins, family, tone)
    _write_names(painted, row, cells, name_of, full)
    return painted


def mark(painted: Painted, row: Row, cells: Cells, marks: Marks) -> Painted:
    """Lay the selection, the cursor and the slice under it over a painted row."""
    glyphs, codes = painted.glyphs.copy(), painted.codes.copy()
    if marks.selected is not None:
        inside = slice(*marks.selected)
        part = codes[inside]
        part[part == BLANK] = BLANK_MARKED
        glyph = (part >= bar_code(0, 0)) & ((part - bar_code(0, 0)) % _FAMILY_STEP >= 2)
        part[glyph] += glyph_code(0, 0, True) - glyph_code(0, 0, False)
    if marks.hits is not None:
        bars = marks.hits & (codes >= bar_code(0, 0))
        ends = bars & ((codes - bar_code(0, 0)) % _FAMILY_STEP >= 2)
        codes[bars] = HIT
        codes[ends] = HIT_GLYPH
    if marks.focus >= 0:
        touched = (cells.first <= marks.focus) & (marks.focus <= cells.last) & (cells.count == 1)
        touched &= cells.level == FULL
        codes[touched] = lit_code(0) + codes_of(cells.family.astype(np.int64))[touched]
    if 0 <= marks.cursor < len(codes):
        codes[marks.cursor] = CURSOR
        if glyphs[marks.cursor] == _SPACE:
            glyphs[marks.cursor] = ord("│")
    return Painted(glyphs, codes)


_FAMILY_STEP = bar_code(1, 0) - bar_code(0, 0)


def codes_of(family: Int64) -> Int64:
    """Offset of each family's styles."""
    return family * _FAMILY_STEP


def _beside(full: NDArray[np.bool_], step: int) -> NDArray[np.bool_]:
    """Cells whose next (1) or previous (-1) neighbour is full."""
    near = np.zeros_like(full)
    if step > 0:
        near[:-1] = full[1:]
    else:
        near[1:] = full[:-1]
    return near


def _smooth(family: Int64, level: NDArray[np.uint8], detail: int) -> Int64:
    """Give lone cells the family of their neighbours; from detail 3 on, blocks the commonest."""
    family = family.copy()
    if detail >= 3:
        shown = level > 0
        block = np.arange(len(family)) // _BLOCKS[detail]
        kinds = int(family.max(initial=0)) + 1
        blocks = int(block[-1]) + 1 if len(block) else 0
        counts = np.bincount(block[shown] * kinds + family[shown], minlength=blocks * kinds)
        counts = counts.reshape(blocks, kinds)
        family = np.where((counts.sum(axis=1) > 0)[block], counts.argmax(axis=1)[block], family)
    lone = (family[1:-1] != family[:-2]) & (family[:-2] == family[2:]) & (level[:-2] > 0)
    lone &= level[2:] > 0
    family[1:-1][lone] = family[:-2][lone]
    return family


def _join_short_runs(painted: Painted, full: NDArray[np.bool_], family: Int64, tone: Int64) -> None:
    """Draw short full runs between part-full cells of their family in the same style."""
    if not full.any() or full.all():
        return
    codes = painted.codes
    edges = np.flatnonzero(np.diff(np.concatenate(([0], full.view(np.int8), [0]))))
    start, end = edges[::2], edges[1::2]
    changes = np.concatenate(([0], np.cumsum(codes[1:] != codes[:-1])))
    mine = glyph_code(0, 0, False) + codes_of(family[start]) + tone[start]
    around = np.concatenate(([-1], codes, [-1]))  # the cell before is at its own place here
    beside = (around[start] == mine) | (around[end + 1] == mine)
    same = changes[end - 1] == changes[start]
    joined = np.flatnonzero((end - start <= _SHORT_FULL) & beside & same)
    if not len(joined):
        return
    length = (end - start)[joined]
    first = np.repeat(start[joined] - (np.cumsum(length) - length), length)
    cells = first + np.arange(len(first))
    painted.codes[cells] = np.repeat(mine[joined], length)
    painted.glyphs[cells] = _LOWER[FULL]


def _write_names(
    painted: Painted,
    row: Row,
    cells: Cells,
    name_of: Callable[[int], str],
    full: NDArray[np.bool_],
) -> None:
    """Write each slice's name into its full cells, and a family's into a crowd's."""
    body = full & (painted.glyphs == _SPACE)
    owner = np.where(cells.count == 1, cells.first, -2 - cells.family.astype(np.int64))
    owner = np.where(body, owner, -1)
    starts = np.flatnonzero(np.concatenate(([True], owner[1:] != owner[:-1])))
    lengths = np.diff(np.append(starts, len(owner)))
    wide = (lengths >= LEAST_NAME) & (owner[starts] != -1)
    for start, length in zip(starts[wide].tolist(), lengths[wide].tolist(), strict=True):
        who = int(owner[start])
        if who >= 0:
            text = fitted(name_of(int(row.slices[who])), length)
        else:
            text = slot_word(-2 - who)
            if not text or len(text) + 2 > length:
                continue
            text = " " + text
        codes = np.array([ord(c) for c in text], dtype=np.uint32)
        painted.glyphs[start : start + len(codes)] = codes


def fitted(name: str, room: int) -> str:
    """A name cut to the room it has, with ``…`` where something is missing."""
    if len(name) <= room:
        return name
    return name[: room - 1] + "…"
