from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.tui.bars import Marks, mark, paint, select, shapes_of, write_names
from whichlayer.tui.family import Family
from whichlayer.tui.frame import BYTES_PER_CELL, Frame, draw_frame
from whichlayer.tui.frame_budget import paint_within
from whichlayer.tui.frame_cells import rasterise
from whichlayer.tui.frame_runs import Painted
from whichlayer.tui.palette import BLANK, BLANK_MARKED, CURSOR, bar_code, lit_code
from whichlayer.tui.raster import Row
from whichlayer.tui.viewport import Viewport

MM, ADD = int(Family.MATMUL), int(Family.POINTWISE)


def row_of(*slices: tuple[int, int, int]) -> Row:
    columns = np.array(slices, np.int64).reshape(-1, 3).T
    rows = np.arange(len(slices), dtype=np.int32)
    return Row(rows, columns[0], columns[1], columns[2].astype(np.uint8))


def name_of(row: int) -> str:
    return f"kernel_{row}"


def text_of(painted: Painted) -> str:
    return "".join(text for text, _ in painted.runs())


def painted_row(row: Row, span: int, cells: int) -> Painted:
    """The row in full detail."""
    shown = rasterise([row], Viewport.over(0, span, cells).edges())
    painted, body = paint(shown, np.array([row.tone], np.uint8))
    write_names(painted.glyphs, body, [row], shown, shown.family, name_of)
    return painted.row(0)


def test_a_bar_carries_its_name_and_its_end_lies_on_an_eighth() -> None:
    painted = painted_row(row_of((0, 1050, MM)), 2000, 20)
    assert text_of(painted) == "kernel_0  ▌         "
    assert painted.runs()[0] == ("kernel_0  ", bar_code(MM, 0))


def test_a_bar_begins_on_an_eighth() -> None:
    text = text_of(painted_row(row_of((150, 2000, MM)), 2000, 20))
    # Drawn as the canvas over the bar's colour: half a cell of canvas, then the bar.
    assert text == " ▌kernel_0          "


def test_a_name_is_cut_to_its_bar_and_left_out_of_a_tiny_one() -> None:
    assert text_of(painted_row(row_of((0, 500, MM)), 2000, 20)).startswith("kerne     ")
    assert text_of(painted_row(row_of((0, 200, MM)), 2000, 20)) == " " * 20


def test_slivers_show_and_crowds_show_how_busy_they_are() -> None:
    sliver = text_of(painted_row(row_of((510, 511, MM)), 2000, 20))
    assert sliver == "     ▏              "
    crowd = [(1000 + 10 * i, 1005 + 10 * i, ADD) for i in range(30)]
    assert text_of(painted_row(row_of(*crowd), 2000, 20)) == "          ▄▄▄       "


def test_a_dense_crowd_tells_its_family() -> None:
    crowd = [(10 * i, 10 * i + 10, ADD) for i in range(200)]
    assert text_of(painted_row(row_of(*crowd), 2000, 20)) == " pointwise          "


def test_bars_that_touch_differ_in_tone() -> None:
    painted = painted_row(row_of((0, 1000, MM), (1000, 2000, MM)), 2000, 20)
    assert [code for _, code in painted.runs()] == [bar_code(MM, 0), bar_code(MM, 1)]


def test_full_bars_cost_one_byte_a_cell() -> None:
    painted = painted_row(row_of((0, 2000, MM)), 2000, 20)
    assert painted.cost() == 24 + 20


def test_marks_show_selection_cursor_and_the_bar_under_it() -> None:
    row = row_of((0, 1000, MM))
    cells = row.cells(Viewport.over(0, 2000, 20).edges())
    painted = painted_row(row, 2000, 20)
    marked = mark(painted, cells, Marks(cursor=2, focus=0))
    select(marked.codes, (8, 14))
    assert marked.codes[2] == CURSOR
    assert marked.codes[3] == lit_code(MM)
    assert marked.codes[12] == BLANK_MARKED and marked.codes[15] == BLANK
    assert painted.codes[2] != CURSOR, "the painted row itself stays as it was"


def test_the_cursor_is_seen_without_colour() -> None:
    row = row_of((0, 200, MM))
    cells = row.cells(Viewport.over(0, 2000, 20).edges())
    marked = mark(painted_row(row, 2000, 20), cells, Marks(cursor=15))
    assert text_of(marked)[15] == "│"


@st.composite
def busy_rows(draw: st.DrawFn) -> Row:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = draw(st.integers(0, 80))
    length = rng.integers(0, rng.choice([20, 300], count) + 1)
    pause = rng.integers(0, rng.choice([5, 300], count) + 1)
    start = np.cumsum(length + pause) - length
    family = rng.integers(0, 4, count).astype(np.uint8)
    return Row(np.arange(count, dtype=np.int32), start, start + length, family)


def hides(painted: Painted, row: Row, port: Viewport) -> str:
    """What a drawing of a row hides: a slice, or a gap as wide as a cell; nothing if all is well."""
    blank = (painted.codes == BLANK) | (painted.codes == BLANK_MARKED)
    solid = ~blank & (painted.glyphs != ord("│"))
    solid &= ~np.isin(painted.glyphs, [ord(c) for c in "▁▂▃▄▅▆▇▏▎▍▌▋▊▉▕▐"])
    widest = int(np.diff(port.edges()).max())
    for start, end in zip(row.start_ns.tolist(), row.end_ns.tolist(), strict=True):
        if start >= port.end_ns:
            continue
        first, last = port.cell_of(start), port.cell_of(max(end - 1, start))
        if blank[first : last + 1].all():
            return f"slice {start} to {end}"
    ends, starts = row.end_ns[:-1].tolist(), row.start_ns[1:].tolist()
    for low, high in zip(ends, starts, strict=True):
        high = min(high, port.end_ns)
        if high - low >= widest and solid[port.cell_of(low) : port.cell_of(high - 1) + 1].all():
            return f"gap {low} to {high}"
    return ""


@given(busy_rows(), st.sampled_from(["full", "coarse", "plain"]), st.integers(0, 400))
def test_less_detail_hides_no_slice_and_no_gap_as_wide_as_a_cell(
    row: Row, detail: str, most: int
) -> None:
    port = Viewport.over(0, 6000, 50)
    cells, tones = rasterise([row], port.edges()), np.zeros(1, np.uint8)
    if detail == "full":
        painted, _ = paint(cells, tones)
    elif detail == "coarse":
        painted, _ = paint(cells, tones, shapes_of(cells, coarse=True))
    else:
        painted, _, _ = paint_within(cells, tones, most)
    assert not hides(painted.row(0), row, port)


def frame_of(rows: list[Row], port: Viewport) -> Frame:
    return draw_frame(rows, port, name_of)


@given(st.lists(busy_rows(), min_size=1, max_size=12))
def test_a_frame_keeps_its_budget_and_hides_nothing(rows: list[Row]) -> None:
    port = Viewport.over(0, 6000, 50)
    frame = frame_of(rows, port)
    # Only "…" of names that are cut may come on top: two bytes each.
    cut = int(np.count_nonzero(frame.painted.glyphs == ord("…")))
    assert frame.cost() <= int(BYTES_PER_CELL * 50 * len(rows)) + 2 * cut
    for y, row in enumerate(rows):
        assert not hides(frame.painted.row(y), row, port)


@given(st.lists(busy_rows(), min_size=1, max_size=12))
def test_a_frame_takes_no_more_than_with_full_detail(rows: list[Row]) -> None:
    port = Viewport.over(0, 6000, 50)
    whole = sum(painted_row(row, 6000, 50).cost() for row in rows)
    assert frame_of(rows, port).cost() <= whole


def test_rows_that_cost_little_keep_all_of_their_detail() -> None:
    """One crowded row does not take the colours of the others."""
    rng = np.random.default_rng(7)
    edges = np.cumsum(rng.integers(1, 40, 600))
    crowd = Row(
        np.arange(300, dtype=np.int32), edges[::2], edges[1::2],
        rng.integers(0, 8, 300).astype(np.uint8),
    )  # fmt: skip
    span = int(edges[-1])
    quiet = row_of((0, span // 3, MM), (span // 3, span // 2, ADD), (span * 3 // 4, span, MM))
    port = Viewport.over(0, span, 80)
    frame = frame_of([crowd, quiet, crowd], port)
    alone = painted_row(quiet, span, 80)
    assert (frame.painted.codes[1] == alone.codes).all()
    assert (frame.painted.glyphs[1] == alone.glyphs).all()
    assert frame.cost() <= BYTES_PER_CELL * 80 * 3
    assert painted_row(crowd, span, 80).cost() > BYTES_PER_CELL * 80 * 2, "nothing was to be saved"


def test_a_crowded_frame_keeps_its_budget() -> None:
    rng = np.random.default_rng(7)
    rows = []
    for _ in range(30):
        start = np.sort(rng.integers(0, 10**6, 40_000))
        length = np.minimum(rng.integers(0, 40, 40_000), np.diff(start, append=10**6 + 40))
        family = rng.integers(0, 8, 40_000).astype(np.uint8)
        rows.append(Row(np.arange(40_000, dtype=np.int32), start, start + length, family))
    frame = frame_of(rows, Viewport.over(0, 10**6, 104))
    assert frame.cost() <= 30 * 104 * BYTES_PER_CELL
    assert frame.cost() >= 30 * 104 * (BYTES_PER_CELL - 1), "more was left out than needed"
