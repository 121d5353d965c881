from __future__ import annotations

import numpy as np

from tests.tui.recording import GEMM
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind
from whichlayer.tui.chain import Chain, Launched, Link, chain_of
from whichlayer.tui.chain_marks import (
    JOINED,
    UNDERLINED,
    InSight,
    LineMarks,
    chain_marks,
    laid,
)
from whichlayer.tui.chain_places import Placed, places_of, top_for, words_of
from whichlayer.tui.describe_queue import chain_lines, queue_lines
from whichlayer.tui.document import Document
from whichlayer.tui.frame_runs import Painted
from whichlayer.tui.lane_order import USUAL
from whichlayer.tui.palette import BLANK, CURSOR, bar_code, lit_code
from whichlayer.tui.raster import Row
from whichlayer.tui.viewport import Viewport


def rows_named(trace: Trace, name: str) -> list[int]:
    return [row for row in range(len(trace)) if trace.name(row) == name]


def test_a_kernel_leads_to_launch_operator_and_python_line(trace: Trace) -> None:
    kernel = rows_named(trace, GEMM)[0]
    chain = chain_of(trace, Launched(trace), kernel)
    assert [link.word for link in chain.links] == ["kernel", "launch", "operator", "python"]
    assert trace.name(chain.links[2].row) == "aten::mm"
    assert trace.name(chain.links[3].row).startswith("train.py(42)")
    assert chain.at == 0 and chain.foot == kernel
    above = chain.beside(1)
    assert above is not None and above.word == "launch"
    assert chain.beside(-1) is None


def test_an_operator_leads_down_to_the_work_that_the_user_came_from(trace: Trace) -> None:
    launched = Launched(trace)
    frame = rows_named(trace, "train.py(42): train [bold]")[0]
    first, second = (int(row) for row in launched.inside(frame))
    assert chain_of(trace, launched, frame).foot == first
    assert chain_of(trace, launched, frame, foot=second).foot == second
    elsewhere = int(launched.inside(rows_named(trace, "train.py(42): train [bold]")[1])[0])
    assert chain_of(trace, launched, frame, foot=elsewhere).foot == first


def test_what_a_slice_started_is_what_was_launched_inside_it(trace: Trace) -> None:
    launched = Launched(trace)
    for row in np.flatnonzero(trace.kind != SliceKind.KERNEL).tolist():
        mine = [
            work
            for work in np.flatnonzero(trace.launch >= 0).tolist()
            if trace.lane_id[trace.launch[work]] == trace.lane_id[row]
            and trace.start_ns[row] <= trace.start_ns[trace.launch[work]] < trace.end_ns[row]
        ]
        assert sorted(launched.inside(row).tolist()) == mine


def test_a_slice_that_started_nothing_still_leads_up(trace: Trace) -> None:
    sync = rows_named(trace, "cudaStreamSynchronize")[0]
    chain = chain_of(trace, Launched(trace), sync)
    assert [link.word for link in chain.links] == ["call", "python"]
    assert chain.foot == -1 and not len(chain.started)


def test_the_queue_is_told_with_the_launch(document: Document) -> None:
    kernel = rows_named(document.trace, GEMM)[0]
    (line,) = queue_lines(document, kernel)
    assert line.label == "queue" and "empty" in line.text
    (told,) = chain_lines(document, kernel)
    assert "cudaLaunchKernel ‹ aten::mm ‹ train.py(42)" in told.text
    assert told.text.endswith("(⌫, \\)")


LINES = [0, 1, 2]
PORT = Viewport.over(0, 30, 30)


def sight(busy: set[tuple[int, int]] = frozenset(), lines: list[int] = LINES) -> InSight:  # type: ignore[assignment]
    ones = np.array([0], np.uint8)

    def row(slice_row: int, start: int, end: int) -> Row:
        return Row(np.array([slice_row], np.int32), np.array([start]), np.array([end]), ones)

    all_rows = [row(5, 16, 18), row(7, 0, 1), row(9, 1, 3)]
    idle = np.ones((len(lines), 30), np.bool_)
    for y, cell in busy:
        idle[y, cell] = False
    return InSight(lines, [all_rows[line] for line in lines], PORT, idle)


CHAIN = Chain((Link("kernel", 5), Link("launch", 9)), 0, np.empty(0, np.int32))
PLACES = {5: Placed(16, 18, (0,)), 9: Placed(1, 3, (2,))}


def test_launch_and_work_are_joined_and_the_delay_stands_in_the_line() -> None:
    marks = chain_marks(CHAIN, sight(), 5, PLACES, ("9.05 µs · q", "9.05 µs"))
    assert marks[1].crosses == {16: "▲"}
    assert marks[2].crosses == {16: "┘"}
    text = "".join(marks[2].joins.get(cell, ".") for cell in range(30))
    assert text == "... 9.05 µs · q .............."
    cells = marks[2].cells
    assert cells is not None and cells.nonzero()[0].tolist() == [1, 2]
    assert 0 not in marks  # the cursor is on it
    assert not any(one.beyond for one in marks.values())


def test_what_is_out_of_sight_is_told_at_the_edge_that_it_lies_beyond() -> None:
    marks = chain_marks(CHAIN, sight(lines=[1, 2]), 9, PLACES)
    assert marks[1].beyond == ("▲ kernel 1", "▲kernel", "▲")
    assert marks[1].crosses == {16: "▲"} and marks[2].crosses == {16: "┘"}
    below = chain_marks(CHAIN, sight(lines=[0, 1]), 5, PLACES)
    assert below[1].beyond == ("▼ launch 1", "▼launch", "▼")
    assert below[1].crosses == {16: "▼"}


def test_what_a_slice_started_is_marked_on_the_first_line_of_a_row_and_not_where_it_is_all() -> (
    None
):
    count = 20
    start = np.arange(count) + 5
    row = Row(np.arange(count, dtype=np.int32), start, start + 1, np.zeros(count, np.uint8))

    def marked(started: int) -> dict[int, list[int]]:
        chain = Chain((Link("kernel", 0), Link("step", 99)), 1, np.arange(started, dtype=np.int32))
        in_sight = InSight([3, 4, 5], [row, row, row], PORT, np.ones((3, 30), np.bool_))
        marks = chain_marks(chain, in_sight, 99, {})
        return {
            y: np.flatnonzero(one.cells).tolist()
            for y, one in marks.items()
            if one.cells is not None
        }

    assert marked(19) == {3: list(range(5, 24))}
    assert marked(20) == {3: [5]}, "the chain alone: all of them tell nothing of any"


def text_of(marks: dict[int, LineMarks], line: int) -> str:
    return "".join(marks[line].joins.get(cell, " ") for cell in range(30)).strip()


def test_a_launch_that_is_folded_away_is_told_beside_the_work_and_joined_to_nothing() -> None:
    places = {5: Placed(25, 28, (0,)), 9: Placed(-9, -3, (2,), folded=True)}
    marks = chain_marks(CHAIN, sight(), 5, places, ("1 µs",))
    assert text_of(marks, 0) == "◀ 1 µs · launch folded"
    assert not any(one.crosses or one.beyond for one in marks.values())


def test_a_launch_before_what_is_in_sight_is_told_to_lie_there() -> None:
    places = {5: PLACES[5], 9: Placed(-9, -3, (2,))}
    marks = chain_marks(CHAIN, sight(), 5, places, ("9 µs",))
    assert marks[2].crosses == {0: "◀", 16: "┘"}
    assert "◀ 9 µs" in "".join(marks[2].joins.get(cell, " ") for cell in range(30))


def test_a_launch_of_a_hidden_lane_is_told_beside_the_work_and_joined_to_nothing() -> None:
    marks = chain_marks(CHAIN, sight(), 5, {5: Placed(25, 28, (0,))}, ("9 µs", "9"))
    assert text_of(marks, 0) == "9 µs · launch hidden"
    assert not any(one.crosses or one.beyond for one in marks.values())


def test_places_are_those_of_shown_rows_and_where_folded_ones_would_be(document: Document) -> None:
    assert document.links is not None
    trace = document.trace
    chain = document.links.chain(rows_named(trace, GEMM)[0])
    lane = next(i for i, one in enumerate(document.lanes) if one.group == "cpu")
    rows = document.listed.rows(document.lanes, {}, 60, (), USUAL, True)
    whole = places_of(document, rows, chain)
    assert all(not one.folded for one in whole.values()) and len(whole) == len(chain.links)
    short = tuple(row for row in rows if row.lane != lane or row.is_first)
    launch = whole[chain.links[1].row]
    folded = places_of(document, short, chain)[chain.links[1].row]
    assert folded.folded and folded.start_ns == launch.start_ns
    assert short[folded.lines[0]].lane == lane
    hidden = places_of(document, tuple(row for row in rows if row.lane != lane), chain)
    assert chain.links[1].row not in hidden and chain.links[0].row in hidden


def test_the_line_takes_a_cell_of_a_bar_in_its_colours_and_hides_behind_it_along_a_row() -> None:
    body = bar_code(0, 0)
    painted = Painted(np.full(10, ord(" "), np.uint32), np.full(10, BLANK))
    painted.codes[4:7] = body
    painted.codes[9] = CURSOR
    marks = LineMarks(np.arange(10) == 4, {5: "─", 7: "─"}, {6: "│", 8: "│", 9: "│"})
    drawn = laid(painted, marks)
    assert drawn.codes[4] == lit_code(0) + UNDERLINED
    assert drawn.codes[5] == body and drawn.glyphs[5] == ord(" ")
    assert drawn.codes[6] == body and drawn.glyphs[6] == ord("│")
    assert drawn.codes[7] == drawn.codes[8] == BLANK + JOINED and drawn.glyphs[7] == ord("─")
    assert drawn.codes[9] == CURSOR and drawn.glyphs[9] == ord(" ")


def test_words_tell_delay_queue_and_which_of_a_launch_the_work_is(document: Document) -> None:
    assert document.links is not None
    kernel = rows_named(document.trace, GEMM)[0]
    assert words_of(document, document.links.chain(kernel)) == ("5.000 µs · queue 0", "5.000 µs")
    sync = rows_named(document.trace, "cudaStreamSynchronize")[0]
    assert words_of(document, document.links.chain(sync)) == ()


def test_a_screen_scrolls_to_the_work_first_then_to_its_launch() -> None:
    def top(top: int, height: int, row: int, places: dict[int, Placed]) -> int:
        return top_for(top, height, 0, row, CHAIN, places)

    far = {5: Placed(16, 18, (0,)), 9: Placed(1, 3, (12,))}
    assert top(5, 20, 12, far) == 0, "both fit"
    assert top(5, 8, 12, far) == 6, "the cursor and what is beside it"
    assert top(0, 20, 12, far) == 0, "nothing moves that need not"
    near = {5: Placed(16, 18, (0,)), 9: Placed(1, 3, (9,))}
    assert top(8, 8, 13, near) == 8, "of the two, the launch fits"
