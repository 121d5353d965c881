"""From cells to characters: bars with ends on eighths, names where they fit, few runs.

A full cell is a space on the bar's colour, which costs the terminal one byte; block
characters (three bytes) appear only at a bar's ends and where a cell is part full. All rows of a
frame are drawn together: arrays have the shape (rows, cells).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.tui.bar_names import fitted
from whichlayer.tui.frame_cells import FULL, Bool, Cells, UInt8
from whichlayer.tui.frame_runs import Codes, Glyphs, Painted
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
from whichlayer.tui.raster import Row
from whichlayer.tui.slots import slot_word

_SPACE = ord(" ")

#: Shapes of cells: a crowd's height, a bar's end or sliver from the left, a bar's beginning (drawn
#: as canvas over the bar's colour), a beginning in the bar's own colour, coarser. A number of the
#: shape and the level, 0 to 8, make the index.
_CROWD, _TIP, _BEGIN, _BEGIN_COARSE, _BLOCK = (9 * shape for shape in range(5))
_GLYPHS = np.array(
    [
        ord(c)
        for shape in (" ▁▂▃▄▅▆▇ ", " ▏▎▍▌▋▊▉ ", " ▉▊▋▌▍▎▏ ", " ▕▐▐▐▐▐▐ ", "█████████")
        for c in shape
    ],
    dtype=np.uint32,
)

#: A shorter name than this helps nobody.
LEAST_NAME = 3

_STEP = bar_code(1, 0) - bar_code(0, 0)
_GLYPH = glyph_code(0, 0, False) - bar_code(0, 0)


@dataclass(frozen=True, slots=True)
class Shapes:
    """Which cells of some rows are drawn how: bool (rows, cells) each.

    Attributes:
        full: all of the cell is the bar's.
        part: some of it is.
        begins: of those, where the only slice begins and goes on in the next cell.
        alone: one slice is in the cell.
    """

    full: Bool
    part: Bool
    begins: Bool
    alone: Bool


def shapes_of(cells: Cells, coarse: bool = False) -> Shapes:
    """How the cells of some rows are drawn.

    Args:
        cells: of the rows.
        coarse: the end of a bar that is longer than a cell takes a whole cell, or none where it
            fills half a cell or less.
    """
    alone = cells.count == 1
    level = cells.level
    full = level == FULL
    part = (level > 0) & ~full
    left, right = cells.from_left[:, :-1], cells.from_left[:, 1:]
    begins = part & alone & ~left & right
    if coarse:
        ends = part & alone & left & ~right
        far = np.zeros_like(full)
        far[:, :-1] = begins[:, :-1] & full[:, 1:]
        far[:, 1:] |= ends[:, 1:] & full[:, :-1]
        full |= far & (level > FULL // 2)
        part &= ~far
        begins &= part
    return Shapes(full, part, begins, alone)


def paint(cells: Cells, tones: UInt8, shapes: Shapes | None = None) -> tuple[Painted, Bool]:
    """Draw some rows without names and marks.

    Args:
        cells: of the rows.
        tones: uint8 (rows,), the first tone of each.
        shapes: how cells are drawn; in full detail where that is not told: touching bars then
            differ in tone.

    Returns:
        What is drawn, and the bodies of bars, on which names can stand.
    """
    tone = np.zeros(cells.level.shape, np.uint8)
    if shapes is None:
        shapes = shapes_of(cells)
        tone = (cells.first & 1).astype(np.uint8) * shapes.alone
    tone ^= tones[:, None]
    kind = shapes.alone * np.uint8(_TIP) + shapes.begins * np.uint8(_BEGIN - _TIP)
    solid = shapes.full | shapes.begins
    return _drawn(cells.level, cells.family, tone, kind, shapes, solid), shapes.full


def paint_plainly(cells: Cells, tones: UInt8, shapes: Shapes, solid: Bool) -> Painted:
    """Draw rows with few changes of style: bodies where ``solid``, else characters on the canvas.

    Args:
        cells: of the rows.
        tones: uint8 (rows,), the tone of each row.
        shapes: how cells are drawn.
        solid: bool (rows, cells), which of the full cells are a bar's body.

    Returns:
        What is drawn, all in the styles of the first family.
    """
    block = shapes.full & ~solid
    kind = (shapes.alone & ~block) * np.uint8(_TIP)
    kind += shapes.begins * np.uint8(_BEGIN_COARSE - _TIP) + block * np.uint8(_BLOCK)
    family = np.zeros_like(cells.family)
    tone = np.broadcast_to(tones[:, None], family.shape)
    return _drawn(cells.level, family, tone, kind, shapes, solid)


def _drawn(
    level: UInt8, family: UInt8, tone: UInt8, kind: UInt8, shapes: Shapes, solid: Bool
) -> Painted:
    # Products are several times as fast as assignments through a mask.
    shown = shapes.full | shapes.part
    index = np.maximum(level * shapes.part, shapes.full * np.uint8(FULL))
    index += kind
    index *= shown
    glyphs = _GLYPHS.take(index, mode="clip")
    codes = family.astype(np.int32)
    codes *= _STEP
    codes += tone
    codes += bar_code(0, 0) + _GLYPH
    codes -= solid * np.int32(_GLYPH)
    codes *= shown  # nothing is BLANK, which is 0
    return Painted(glyphs, codes)


def write_names(
    glyphs: Glyphs,
    body: Bool,
    rows: Sequence[Row],
    cells: Cells,
    family: UInt8,
    name_of: Callable[[int], str],
) -> None:
    """Write each slice's name on its full cells, and a family's on a crowd's.

    Args:
        glyphs: uint32 (rows, cells), written to.
        body: bool (rows, cells), where names can stand.
        rows: the slices.
        cells: of the rows.
        family: uint8 (rows, cells), the colour of each cell.
        name_of: short name of a trace row.
    """
    if not body.any():
        return
    across = body.shape[1]
    owner = np.where(cells.count == 1, cells.first, -2 - family.astype(np.int32))
    owner[~body] = -1
    flat = owner.reshape(-1)
    changes = np.empty(len(flat), np.bool_)
    np.not_equal(flat[1:], flat[:-1], out=changes[1:])
    changes[::across] = True
    starts = np.flatnonzero(changes)
    lengths = np.diff(starts, append=len(flat))
    wide = (lengths >= LEAST_NAME) & (flat[starts] != -1)
    starts, lengths = starts[wide], lengths[wide]
    texts: list[str] = []
    for start, room, who in zip(
        starts.tolist(), lengths.tolist(), flat[starts].tolist(), strict=True
    ):
        if who >= 0:
            texts.append(fitted(name_of(int(rows[start // across].slices[who])), room))
        else:
            word = slot_word(-2 - who)
            texts.append(f" {word}" if word and len(word) + 2 <= room else "")
    written = np.fromiter(map(len, texts), np.intp, len(texts))
    first = np.repeat(starts - (np.cumsum(written) - written), written)
    code_points = np.frombuffer("".join(texts).encode("utf-32-le", "replace"), np.uint32)
    glyphs.reshape(-1)[first + np.arange(len(first))] = code_points


@dataclass(frozen=True, slots=True)
class Marks:
    """What is laid over a row: the cursor, the slice under it, what was searched for.

    Attributes:
        cursor: cell of the cursor on this row, or -1.
        focus: index into the row of the slice under the cursor, or -1.
        hits: bool (cells,), where a search found something; None for nowhere.
    """

    cursor: int = -1
    focus: int = -1
    hits: Bool | None = None


def mark(painted: Painted, cells: Cells, marks: Marks) -> Painted:
    """Lay the cursor, the slice under it and hits over one painted row."""
    marked = painted.copy()
    glyphs, codes = marked.glyphs, marked.codes
    if marks.hits is not None:
        bars = marks.hits & (codes >= bar_code(0, 0))
        ends = bars & ((codes - bar_code(0, 0)) % _STEP >= _GLYPH)
        codes[bars] = HIT
        codes[ends] = HIT_GLYPH
    if marks.focus >= 0:
        touched = (cells.first <= marks.focus) & (marks.focus <= cells.last) & (cells.count == 1)
        touched &= cells.level == FULL
        touched &= (codes - bar_code(0, 0)) % _STEP < _GLYPH
        codes[touched] = lit_code(0) + codes_of(cells.family.astype(np.int32))[touched]
    if 0 <= marks.cursor < len(codes):
        codes[marks.cursor] = CURSOR
        if glyphs[marks.cursor] == _SPACE:
            glyphs[marks.cursor] = ord("│")
    return marked


def select(codes: Codes, selected: tuple[int, int]) -> None:
    """Lay a selection over some cells of one or more rows: codes (…, cells) are written to."""
    part = codes[..., slice(*selected)]
    part[part == BLANK] = BLANK_MARKED
    glyph = (part >= bar_code(0, 0)) & ((part - bar_code(0, 0)) % _STEP >= _GLYPH)
    part[glyph] += glyph_code(0, 0, True) - glyph_code(0, 0, False)


def codes_of(family: NDArray[np.int32]) -> NDArray[np.int32]:
    """Offset of each family's styles."""
    return family * _STEP
