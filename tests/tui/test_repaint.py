"""What is written to the terminal: what differs from what it shows, and nothing else."""

from __future__ import annotations

import pyte
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from whichlayer.tui.repaint import Difference, Shown, changed_cells, difference

WIDTH, HEIGHT = 12, 3
CONSOLE = Console(force_terminal=True, color_system="truecolor", width=WIDTH, legacy_windows=False)
STYLES = [Style(), Style(color="red"), Style(bgcolor="blue", bold=True)]


def strip(text: str, style: int = 0) -> Strip:
    return Strip([Segment(text, STYLES[style])])


def whole(*lines: list[Strip]) -> LayoutUpdate:
    return LayoutUpdate(list(lines), Region(0, 0, WIDTH, HEIGHT))


#: A line as pieces that fill it.
PIECES = st.lists(
    st.tuples(st.integers(1, 6), st.sampled_from("ab "), st.integers(0, 2)), min_size=1, max_size=6
).map(
    lambda pieces: [
        strip(letter * width, style) for width, letter, style in pieces
    ]
)  # fmt: skip


def filling(pieces: list[Strip]) -> list[Strip]:
    """Pieces that end where the line does."""
    filled: list[Strip] = []
    left = WIDTH
    for piece in pieces:
        filled.append(piece.crop(0, left))
        left -= filled[-1].cell_length
        if not left:
            return filled
    return [*filled, strip("." * left)]


LINES = st.lists(PIECES.map(filling), min_size=HEIGHT, max_size=HEIGHT)


@st.composite
def updates(draw: st.DrawFn) -> LayoutUpdate | ChopsUpdate:
    lines = draw(LINES)
    if draw(st.booleans()):
        return whole(*lines)
    chops, ends = [], []
    for line in lines:
        places, x = {}, 0
        for piece in line:
            places[x] = None if draw(st.integers(0, 3)) == 0 else piece
            x += piece.cell_length
        chops.append(places)
        ends.append([*list(places)[1:], WIDTH])
    # Spans begin where pieces do: Textual cuts them at the edges of widgets.
    spans = [
        (y, draw(st.sampled_from(list(chops[y]))), draw(st.integers(1, WIDTH)))
        for y in sorted(draw(st.sets(st.integers(0, HEIGHT - 1), min_size=1)))
    ]
    return ChopsUpdate(chops, spans, ends)


def cells(screen: pyte.Screen) -> list[list[tuple[object, ...]]]:
    return [[tuple(screen.buffer[y][x]) for x in range(WIDTH)] for y in range(HEIGHT)]


@given(st.lists(updates() | st.none(), max_size=8))
def test_the_terminal_shows_what_it_would_show(
    changes: list[LayoutUpdate | ChopsUpdate | None],
) -> None:
    plain, less = pyte.Screen(WIDTH, HEIGHT), pyte.Screen(WIDTH, HEIGHT)
    plain_stream, less_stream, shown = pyte.Stream(plain), pyte.Stream(less), Shown()
    for change in changes:
        if change is None:
            less.reset()
            plain.reset()
            shown.forget()
            continue
        plain_stream.feed("\x1b[?7l" + change.render_segments(CONSOLE))
        less_stream.feed("\x1b[?7l" + Difference(change, shown).render_segments(CONSOLE))
        assert cells(plain) == cells(less)


def test_what_is_there_is_not_written_again() -> None:
    shown = Shown()
    lines = [[strip("one", 1), strip("two")], [strip("three")], [strip("")]]
    assert "three" in Difference(whole(*lines), shown).render_segments(CONSOLE)
    assert Difference(whole(*lines), shown).render_segments(CONSOLE) == ""
    lines[0][1] = strip("2 2")
    written = Difference(whole(*lines), shown).render_segments(CONSOLE)
    assert "2 2" in written and "one" not in written and "three" not in written


def test_another_size_and_another_program_make_all_unknown() -> None:
    shown = Shown()
    line = [strip("one")]
    Difference(whole(line), shown).render_segments(CONSOLE)
    wider = LayoutUpdate([line], Region(0, 0, WIDTH + 1, HEIGHT))
    assert "one" in Difference(wider, shown).render_segments(CONSOLE)
    shown.forget()
    assert "one" in Difference(wider, shown).render_segments(CONSOLE)


def test_what_is_no_update_of_the_screen_is_left_alone() -> None:
    shown = Shown()
    Difference(whole([strip("one")]), shown).render_segments(CONSOLE)
    assert difference(None, shown) is None
    assert Difference(whole([strip("one")]), shown).render_segments(CONSOLE) == ""
    assert difference("text", shown) == "text"
    assert "one" in Difference(whole([strip("one")]), shown).render_segments(CONSOLE)


def test_of_a_line_only_the_stretch_that_changed_is_written() -> None:
    shown = Shown()
    before, after = strip("left end|cursor at a|right end"), strip("left end|cursor at b|right end")
    assert changed_cells(before, after) == (19, 20)
    Difference(whole([before]), shown).render_segments(CONSOLE)
    written = Difference(whole([after]), shown).render_segments(CONSOLE)
    assert "b" in written and "cursor" not in written and "right" not in written
    assert changed_cells(after, after) == (0, 0)


def test_a_sheet_costs_its_own_area_when_it_comes_and_when_it_goes() -> None:
    shown = Shown()
    assert shown.note(0, 0, strip("abcdefghijkl")) is not None
    assert shown.note(0, 0, strip("abc")) is None, "what is beside the sheet is there already"
    opened = shown.note(3, 0, strip("SHEET", 1))
    assert opened is not None and (opened[0], opened[1].text) == (3, "SHEET")
    assert shown.note(8, 0, strip("ijkl")) is None
    closed = shown.note(0, 0, strip("abcdefghijkl"))
    assert closed is not None and (closed[0], closed[1].text) == (3, "defgh")
    assert shown.note(0, 0, strip("abcdefghijkl")) is None


def test_what_is_not_known_in_full_is_written_in_full() -> None:
    shown = Shown()
    shown.note(2, 0, strip("cd"))
    told = shown.note(0, 0, strip("abcdef"))
    assert told is not None and (told[0], told[1].text) == (0, "abcdef")
