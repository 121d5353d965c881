"""What is written in one go: as few runs as look the same."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.tui.frame_runs import RUN_BYTES, Painted, find_runs
from whichlayer.tui.palette import BLANK, BLANK_MARKED, CURSOR, bar_code, glyph_code

GLYPH, OTHER, MARKED = glyph_code(1, 0, False), glyph_code(2, 0, False), glyph_code(1, 0, True)
BAR = bar_code(1, 0)
CODES = (BLANK, BLANK_MARKED, GLYPH, OTHER, MARKED, BAR, CURSOR, (1 << 20) + BAR)


def painted(text: str, codes: list[int]) -> Painted:
    return Painted(np.array([ord(c) for c in text], np.uint32), np.array(codes, np.int32))


@st.composite
def pictures(draw: st.DrawFn) -> Painted:
    rows, cells = draw(st.integers(1, 5)), draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = rng.choice(CODES, (rows, cells)).astype(np.int32)
    glyphs = rng.choice([ord(c) for c in " ▄a·"], (rows, cells)).astype(np.uint32)
    empty = (codes <= BLANK_MARKED) & (rng.random((rows, cells)) < 0.9)
    glyphs[empty] = ord(" ")
    return Painted(glyphs, codes)


def look_of(glyph: str, code: int) -> tuple[str, int]:
    """What is seen of a cell: an empty one on the canvas or on a selection, or all of it."""
    ground = {GLYPH: BLANK, OTHER: BLANK, MARKED: BLANK_MARKED}
    return (glyph, ground.get(code, code)) if glyph == " " else (glyph, code)


@given(pictures())
def test_runs_look_like_the_picture_cell_by_cell(picture: Painted) -> None:
    seen = [look_of(c, code) for text, code in picture.runs() for c in text]
    wanted = [
        look_of(chr(g), c)
        for g, c in zip(
            picture.glyphs.ravel().tolist(), picture.codes.ravel().tolist(), strict=True
        )
    ]
    assert seen == wanted


@given(pictures())
def test_no_run_goes_over_the_end_of_a_row_and_neighbours_differ(picture: Painted) -> None:
    runs = find_runs(picture)
    rows, cells = picture.codes.shape
    assert set(range(0, rows * cells, cells)) <= set(runs.starts.tolist())
    assert runs.bounds.tolist()[0] == 0 and runs.bounds.tolist()[-1] == len(runs.starts)
    for y in range(rows):
        mine = runs.codes[runs.bounds[y] : runs.bounds[y + 1]]
        assert (mine[1:] != mine[:-1]).all()
        assert runs.starts[runs.bounds[y]] == y * cells


def test_empty_cells_between_part_full_ones_are_of_their_run() -> None:
    assert painted("▄ ▄  ", [GLYPH, BLANK, GLYPH, BLANK, BLANK]).runs() == [("▄ ▄  ", GLYPH)]
    assert painted(" ▄", [BLANK, GLYPH]).runs() == [(" ▄", GLYPH)]
    assert painted("▄ ▄", [GLYPH, BLANK, OTHER]).runs() == [("▄ ", GLYPH), ("▄", OTHER)]


def test_empty_cells_beside_bodies_and_of_selections_stay_apart() -> None:
    assert painted("a b", [BAR, BLANK, BAR]).runs() == [("a", BAR), (" ", BLANK), ("b", BAR)]
    assert painted("▄ ", [GLYPH, BLANK_MARKED]).runs() == [("▄", GLYPH), (" ", BLANK_MARKED)]
    assert painted("▄ ", [MARKED, BLANK_MARKED]).runs() == [("▄ ", MARKED)]


def test_dots_of_a_filter_keep_their_own_colour() -> None:
    assert painted("▄·▄", [GLYPH, BLANK, GLYPH]).runs() == [
        ("▄", GLYPH),
        ("·", BLANK),
        ("▄", GLYPH),
    ]


def test_the_cost_is_that_of_runs_and_characters() -> None:
    assert painted("▄▄ ", [GLYPH, GLYPH, BLANK]).cost() == RUN_BYTES + 3 + 2 * 2
