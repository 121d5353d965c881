"""Letters on bars: without colours the family of everything drawn can still be read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.screen import screen_of
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.colours import DARK, DARK_16
from whichlayer.tui.counter_row import CounterRow
from whichlayer.tui.family import Family
from whichlayer.tui.frame import Frame, draw_frame
from whichlayer.tui.frame_cells import FULL
from whichlayer.tui.legend import Entry, Section
from whichlayer.tui.palette import BLANK, Palette, bar_code, glyph_code, palette_for
from whichlayer.tui.raster import Row
from whichlayer.tui.screen_settings import screen_settings
from whichlayer.tui.slot_letters import FAMILY_LETTERS, letter_of, write_letters
from whichlayer.tui.slots import FIRST_LAYER, HUES, PLAIN, SLOTS, hue_of, layer_slot
from whichlayer.tui.viewport import Viewport
from whichlayer.tui.widgets.legend_screen import LegendScreen, legend_text
from whichlayer.tui.widgets.timeline import Timeline

STEP = bar_code(1, 0) - bar_code(0, 0)
GPU = [family for family in Family if family <= Family.GPU_NOTE]
HOST = [family for family in Family if Family.GPU_NOTE < family < Family.COUNTER]

#: (length, silence before, family) of slices one after the other.
SLICES = st.lists(
    st.tuples(st.integers(1, 400), st.integers(0, 120), st.sampled_from(GPU)), min_size=1,
    max_size=40,
)  # fmt: skip


def row_of(slices: list[tuple[int, int, int]]) -> Row:
    now, starts, ends, families = 0, [], [], []
    for length, silence, family in slices:
        starts.append(now + silence)
        ends.append(now + silence + length)
        now = ends[-1]
        families.append(family)
    return Row(
        np.arange(len(starts), dtype=np.int32), np.array(starts, np.int64),
        np.array(ends, np.int64), np.array(families, np.uint8),
    )  # fmt: skip


def lettered(rows: list[Row], cells: int, names: str = "") -> tuple[Frame, Frame]:
    """The rows as they are drawn in colours, and with letters."""
    port = Viewport.over(0, max(int(row.end_ns[-1]) for row in rows), cells)
    plain, frame = (draw_frame(rows, port, lambda _: names) for _ in range(2))
    write_letters(frame.painted, frame.cells, rows)
    return plain, frame


def read(frame: Frame, y: int, letters: dict[str, int]) -> list[int]:
    """The family of each cell of a row as its characters alone tell it; -1 for empty ones.

    Where a bar begins within a cell its letter may be in the next.
    """
    found, now = [], -1
    empty = frame.painted.codes[y] < bar_code(0, 0)
    for cell, glyph in enumerate(frame.painted.glyphs[y].tolist()):
        now = -1 if empty[cell] else letters.get(chr(glyph).upper(), now)
        found.append(now)
    body = (frame.painted.codes[y] - bar_code(0, 0)) % STEP < 2
    for cell in range(len(found) - 2, -1, -1):
        if body[cell] and chr(int(frame.painted.glyphs[y, cell])) in "▉▊▋▌▍▎▏":
            found[cell] = found[cell + 1]
    return found


def test_no_letter_stands_for_two_families_of_a_row_or_for_an_owner() -> None:
    owners = {layer.text.letter for layer in Layer}
    for families in (GPU, HOST):
        letters = [FAMILY_LETTERS[family] for family in families]
        assert len(set(letters)) == len(letters)
        assert not set(letters) & owners
    assert set(FAMILY_LETTERS) == set(Family)


def test_owners_have_their_own_letters_and_hues_have_digits() -> None:
    assert [letter_of(layer_slot(layer)) for layer in Layer] == [one.text.letter for one in Layer]
    hues = {letter_of(hue_of(str(name))) for name in range(200)}
    assert hues == {str(digit) for digit in range(HUES)}
    assert letter_of(PLAIN) not in {letter_of(slot) for slot in range(FIRST_LAYER, PLAIN)}


@given(SLICES, st.integers(1, 120))
def test_the_family_of_every_cell_can_be_read_where_nothing_has_a_name(
    slices: list[tuple[int, int, int]], cells: int
) -> None:
    plain, frame = lettered([row_of(slices)], cells)
    letters = {FAMILY_LETTERS[family]: int(family) for family in GPU}
    words = np.isin(plain.painted.glyphs, [ord(c) for c in "abcdefghijklmnopqrstuvwxyz"])
    drawn = (plain.painted.codes[0] - bar_code(0, 0)) // STEP
    shown = plain.painted.codes[0] >= bar_code(0, 0)
    if not words.any():
        told = np.array(read(frame, 0, letters))
        assert (told[shown] == drawn[shown]).all()
    # A word of a family begins its stretch, else a letter does.
    starts = shown & np.append(True, drawn[1:] != drawn[:-1])
    for cell in np.flatnonzero(starts).tolist():
        near = "".join(map(chr, frame.painted.glyphs[0, cell : cell + 3].tolist()))
        assert any(char.isalpha() for char in near), near


@given(SLICES, st.integers(1, 120))
def test_letters_hide_no_gap_and_no_slice_and_tell_how_busy_a_cell_is(
    slices: list[tuple[int, int, int]], cells: int
) -> None:
    plain, frame = lettered([row_of(slices)], cells)
    before, after, level = plain.painted, frame.painted, frame.cells.level
    changed = before.glyphs != after.glyphs
    assert not (changed & (before.codes < bar_code(0, 0))).any()
    texts = [chr(glyph) for glyph in after.glyphs[changed].tolist()]
    assert [text.isupper() for text in texts] == (level[changed] >= FULL // 2).tolist()
    # A letter in a cell that is not full stands on the canvas, not on the bar's colour.
    kind = (after.codes[changed] - bar_code(0, 0)) % STEP
    was_full = (before.codes[changed] - bar_code(0, 0)) % STEP < 2
    was_full &= before.glyphs[changed] == ord(" ")
    assert ((kind < 2) == was_full).all()
    same = before.codes == after.codes
    assert (same | changed).all()
    assert after.cost() <= before.cost() + 48 * int((~same).sum())


def test_a_bar_with_a_name_has_no_letter() -> None:
    _, frame = lettered([row_of([(1000, 0, Family.MATMUL)])], 20, "sgemm")
    assert "".join(map(chr, frame.painted.glyphs[0].tolist())) == "sgemm" + " " * 15


def test_a_letter_leaves_the_beginning_of_a_bar_as_it_is() -> None:
    row = row_of([(100, 60, Family.COPY), (3000, 840, Family.MATMUL)])
    _, frame = lettered([row], 40, "sgemm")
    assert chr(frame.painted.glyphs[0, 1]) == "Y"
    assert frame.painted.codes[0, 0] == bar_code(Family.COPY, 0)
    assert frame.painted.codes[0, 1] == glyph_code(Family.COPY, 0, False)


def test_counters_below_one_another_do_not_touch() -> None:
    time = np.arange(10, dtype=np.int64)
    rows: list[Row] = [CounterRow(time, np.full(10, 5.0), 10, tone) for tone in (0, 1)]
    rows += [CounterRow(time, np.full(10, 5.0), 10).part(part, 2) for part in (0, 1)]
    plain, frame = lettered(rows, 5)
    assert (plain.painted.glyphs == ord("█")).all()
    texts = ["".join(map(chr, row)) for row in frame.painted.glyphs.tolist()]
    assert texts == ["▇" * 5, "▇" * 5, "▇" * 5, "█" * 5], "lines of one counter are one picture"
    assert (plain.painted.codes == frame.painted.codes).all()


def test_a_row_of_several_lines_says_once_what_its_bars_are() -> None:
    row = row_of([(100, 0, Family.COPY), (2000, 1900, Family.MATMUL), (100, 100, Family.COPY)])
    port = Viewport.over(0, 4200, 42)
    frame = draw_frame([row] * 3, port, lambda _: "sgemm", [(part, 3) for part in range(3)])
    write_letters(frame.painted, frame.cells, frame.rows)
    lines = ["".join(map(chr, line)).rstrip() for line in frame.painted.glyphs.tolist()]
    assert lines[0] == "Y" + " " * 19 + "sgemm" + " " * 16 + "Y"
    assert not any(char.isalpha() for char in lines[1] + lines[2])


def test_empty_rows_stay_empty() -> None:
    row = row_of([(5, 0, Family.COPY)])
    port = Viewport.over(1000, 2000, 8)
    frame = draw_frame([row], port, lambda _: "x")
    write_letters(frame.painted, frame.cells, [row])
    assert (frame.painted.codes == BLANK).all() and (frame.painted.glyphs == ord(" ")).all()


def test_letters_are_for_few_colours_or_none_unless_they_are_wanted() -> None:
    assert not Palette(DARK).letters and not Palette(DARK, few=True).letters
    assert Palette(DARK, plain=True).letters and Palette(DARK_16).letters
    assert not palette_for(DARK.name, "256").letters
    assert palette_for(DARK.name, "standard").letters
    for setting in ("ascii_only", "letters"):
        setattr(screen_settings, setting, True)
        try:
            assert palette_for(DARK.name, "256").letters
        finally:
            setattr(screen_settings, setting, False)


async def test_bars_and_legend_have_the_same_letters_without_colours(
    trace: Trace, analysis: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with screen_of(trace, analysis) as (app, pilot):
        for key in ("", "C", "C", "C"):
            await pilot.press(*key, "K")
            await pilot.pause()
            assert isinstance(app.screen, LegendScreen)
            lines = [line for line in app.screen.text.splitlines() if line.startswith(" ")]
            told = {line[1] for line in lines}
            assert told and told <= {letter_of(slot) for slot in range(SLOTS)}
            await pilot.press("escape")
            await pilot.pause()
            frame = app.query_one(Timeline)._frame
            assert frame is not None
            bars = frame.painted.codes >= bar_code(0, 0)
            seen = {chr(glyph).upper() for glyph in frame.painted.glyphs[bars].tolist()}
            assert seen & told, key


def test_a_legend_in_colours_has_patches_alone() -> None:
    entries = (Entry(Family.MATMUL, "matmul", 10, 1.0),)
    sections = (Section("GPU rows", entries),)
    assert legend_text(Palette(DARK), sections).plain.splitlines()[1].startswith("     matmul")
    assert legend_text(Palette(DARK_16), sections).plain.splitlines()[1].startswith(" M   matmul")
