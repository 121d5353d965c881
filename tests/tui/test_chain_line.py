"""The line between a launch and its work, drawn into rows of characters."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.tui.chain_line import End, Ink, line_between

LAUNCH, WORK, BAR = "L", "W", "#"


def drawn(rows: list[str], texts: tuple[str, ...] = ()) -> list[str]:
    """The rows with the line: ``L`` are cells of the launch, ``W`` of the work, ``#`` of others."""
    launch, work = (
        End(y, row.index(what), row.rindex(what))
        for what in (LAUNCH, WORK)
        for y, row in enumerate(rows)
        if what in row
    )
    idle = np.array([[cell == " " for cell in row] for row in rows])
    return inked(rows, line_between(launch, work, idle, texts))


def inked(rows: list[str], ink: Ink) -> list[str]:
    cells = [list(row) for row in rows]
    for (y, cell), char in ink.behind.items():
        if cells[y][cell] == " ":
            cells[y][cell] = char
    for (y, cell), char in ink.before.items():
        cells[y][cell] = char
    return ["".join(row) for row in cells]


def test_from_the_launch_along_its_row_then_up_to_the_work() -> None:
    assert drawn([
        "         WWW  ",
        "##############",
        "  LLL         ",
    ]) == [
        "         WWW  ",
        "#########▲####",
        "  LLL────┘    ",
    ]  # fmt: skip


def test_work_that_begins_inside_its_launch_hangs_on_it() -> None:
    assert drawn([
        "     WWW  ",
        " ######## ",
        "  LLLLLL  ",
    ]) == [
        "     WWW  ",
        " ####▲### ",
        "  LLL┴LL  ",
    ]  # fmt: skip


def test_work_below_its_launch_is_pointed_at_downwards() -> None:
    assert drawn(["LL        ", "          ", "      WWW "]) == [
        "LL────┐   ", "      ▼   ", "      WWW ",
    ]  # fmt: skip


def test_neighbouring_rows_meet_at_the_corner() -> None:
    assert drawn(["      WWW ", "LL        "]) == ["      WWW ", "LL────┘   "]


def test_where_launches_are_in_the_way_the_line_takes_an_emptier_row() -> None:
    assert drawn([
        "             WW",
        "               ",
        "###############",
        "LL ## ## ## ## ",
    ]) == [
        "             WW",
        "┌────────────┘ ",
        "│##############",
        "┴L ## ## ## ## ",
    ]  # fmt: skip


def test_along_a_row_the_line_passes_behind_bars() -> None:
    assert drawn(["         W", "LL ##     "]) == ["         W", "LL─##────┘"]


def test_the_longest_text_that_fits_is_said_beside_the_line() -> None:
    texts = ("9.05 µs · queue 3", "9.05 µs")
    assert drawn(["        WWW                   ", "LLL                           "], texts)[
        1
    ] == ("LLL─────┘ 9.05 µs · queue 3   ")
    assert drawn(["        WWW         ", "LLL                 "], texts)[1] == (
        "LLL─────┘ 9.05 µs   "
    )
    assert drawn(["        WWW#########", "LLL      ###########"], texts)[1] == (
        "LLL─────┘###########"
    )
    wide = drawn(["                       WWW", "LLL                       "], texts)[1]
    assert wide == "LLL 9.05 µs · queue 3 ─┘  "
    assert drawn(["                       WWW", "LLL ##                    "], texts) == [
        "     9.05 µs · queue 3 WWW", "LLL─##─────────────────┘  ",
    ], "before the work, in the gap that it ends"  # fmt: skip


def test_a_launch_before_the_first_column_is_pointed_at() -> None:
    idle = np.ones((2, 10), np.bool_)
    rows = [" " * 10] * 2
    assert inked(rows, line_between(End(1, -9, -2), End(0, 4, 6), idle)) == [
        " " * 10, "◀───┘     ",
    ]  # fmt: skip


def test_work_behind_the_last_column_is_pointed_at() -> None:
    idle = np.ones((2, 10), np.bool_)
    rows = [" " * 10] * 2
    assert inked(rows, line_between(End(1, 1, 2), End(0, 40, 50), idle)) == [
        " " * 10, "   ──────▶",
    ]  # fmt: skip


def test_rows_out_of_sight_are_pointed_at() -> None:
    idle = np.ones((2, 6), np.bool_)
    rows = [" " * 6] * 2
    assert inked(rows, line_between(End(1, 0, 1), End(-1, 4, 5), idle)) == ["    ▲ ", "  ──┘ "]
    assert inked(rows, line_between(End(2, 0, 1), End(0, 4, 5), idle)) == ["      ", "    ▼ "]
    assert line_between(End(-1, 0, 1), End(-1, 4, 5), idle) == Ink()
    assert line_between(End(2, 0, 1), End(2, 4, 5), idle) == Ink()


ENDS = st.builds(
    lambda y, first, length: End(y, first, first + length),
    st.integers(-1, 6), st.integers(-30, 50), st.integers(0, 20),
)  # fmt: skip


@given(ENDS, ENDS, st.integers(0, 2**60), st.sampled_from([(), ("1.5 µs · queue 3", "1.5 µs")]))
def test_the_line_stays_on_the_screen_and_words_stand_on_idle_cells(
    launch: End, work: End, seed: int, texts: tuple[str, ...]
) -> None:
    idle = np.random.default_rng(seed).random((6, 24)) < 0.8
    ink = line_between(launch, work, idle, texts)
    for y, cell in (*ink.behind, *ink.before):
        assert 0 <= y < 6 and 0 <= cell < 24
    letters = [place for place, char in ink.behind.items() if char not in "─ "]
    assert all(idle[place] and place not in ink.before for place in letters)
    if 0 <= work.first < 24 and launch.y != work.y:
        turned = {y for y, cell in ink.before if cell == work.first}
        between = range(min(launch.y, work.y) + 1, max(launch.y, work.y))
        near = max(between, default=None) if work.y > launch.y else min(between, default=None)
        assert near is None or near in turned, "the line reaches the work"
