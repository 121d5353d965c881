"""Dots in cells."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from whichlayer.tui.braille import BLANK, Canvas

DOT = st.tuples(st.integers(-3, 30), st.integers(-3, 30))


def shown(canvas: Canvas) -> list[str]:
    return ["".join(text for text, _ in line) for line in canvas.lines()]


def test_dots_are_numbered_as_unicode_numbers_them() -> None:
    canvas = Canvas(1, 1)
    for x, y, so_far in [(0, 0, "⠁"), (1, 0, "⠉"), (0, 3, "⡉"), (1, 3, "⣉"), (1, 1, "⣙")]:
        canvas.dot(x, y, 0)
        assert shown(canvas) == [so_far]


@given(st.sets(DOT), st.booleans())
def test_every_dot_inside_is_shown_and_none_outside(
    dots: set[tuple[int, int]], ascii_only: bool
) -> None:
    canvas = Canvas(7, 3, ascii_only)
    for x, y in dots:
        canvas.dot(x, y, 5)
    inside = {(x, y) for x, y in dots if 0 <= x < canvas.width and 0 <= y < canvas.height}
    text = "".join(shown(canvas))
    if ascii_only:
        assert text.count(".") == len(inside) and text.isascii()
    else:
        assert sum((ord(one) - 0x2800).bit_count() for one in text if one != " ") == len(inside)


@given(st.sets(DOT), st.integers(0, 9), st.integers(0, 5))
def test_lines_are_as_wide_as_the_canvas(dots: set[tuple[int, int]], cells: int, rows: int) -> None:
    canvas = Canvas(cells, rows)
    for x, y in dots:
        canvas.disc(x, y, 2.5, 1)
        canvas.ring(x, y, 4, 2)
    assert [len(line) for line in shown(canvas)] == [cells] * rows


def test_the_last_ink_of_a_cell_is_its_ink() -> None:
    canvas = Canvas(2, 1)
    canvas.dot(0, 0, 1)
    canvas.dot(1, 1, 2)
    assert canvas.lines() == [[("⠑", 2), (" ", BLANK)]]


def test_a_ring_is_hollow_and_a_disc_is_not() -> None:
    disc, ring = Canvas(8, 4), Canvas(8, 4)
    disc.disc(8, 8, 3, 0)
    ring.ring(8, 8, 3, 0)
    middle = ord(shown(disc)[2][4]) - 0x2800
    assert middle & 1  # the dot (8, 8)
    assert shown(ring)[2][4] == " " or not (ord(shown(ring)[2][4]) - 0x2800) & 1


def test_texts_never_overlap_nor_leave_the_picture() -> None:
    canvas = Canvas(10, 1)
    assert canvas.text(0, 0, "roof", 3)
    assert not canvas.text(2, 0, "x", 3)
    assert not canvas.text(4, 0, "x", 3)  # it would touch
    assert not canvas.text(8, 0, "wide", 3)
    assert canvas.text(5, 0, "right", 3)
    canvas.dot(0, 0, 9)
    assert canvas.lines() == [[("roof", 3), (" ", BLANK), ("right", 3)]]
