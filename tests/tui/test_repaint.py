"""What is written to the terminal: what differs from what it shows, and nothing else."""

from __future__ import annotations

import pyte
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
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


def noted(shown: Shown, x: int, strip: Strip) -> list[tuple[int, str]]:
    return [(at, part.text) for at, part in shown.note(x, 0, strip)]


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


#: Segments of a line, with characters that take two cells.
SEGMENTS = st.lists(
    st.tuples(st.text("ab日▌ ", min_size=1, max_size=6), st.integers(0, 2)), min_size=1, max_size=6
)


def one_line(parts: list[tuple[str, int]]) -> Strip:
    """A line as wide as the screen, no character cut in two."""
    segments: list[Segment] = []
    left = WIDTH
    for text, style in parts:
        fitting = text
        while cell_len(fitting) > left:
            fitting = fitting[:-1]
        segments.append(Segment(fitting, STYLES[style]))
        left -= cell_len(fitting)
    return Strip([*segments, Segment("." * left, STYLES[0])])


@given(SEGMENTS, SEGMENTS)
def test_the_stretches_of_a_line_that_are_written_make_it_the_new_one(
    old: list[tuple[str, int]], new: list[tuple[str, int]]
) -> None:
    before, after = one_line(old), one_line(new)
    shown, fresh = pyte.Screen(WIDTH, HEIGHT), pyte.Screen(WIDTH, HEIGHT)
    pyte.Stream(shown).feed("\x1b[?7l" + before.render(CONSOLE))
    pyte.Stream(fresh).feed("\x1b[?7l" + after.render(CONSOLE))
    for low, high in changed_cells(before, after):
        part = after.crop(low, high)
        assert part.cell_length == high - low > 0
        pyte.Stream(shown).feed(f"\x1b[1;{low + 1}H" + part.render(CONSOLE))
    assert cells(shown) == cells(fresh)


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
    assert changed_cells(before, after) == [(19, 20)]
    Difference(whole([before]), shown).render_segments(CONSOLE)
    written = Difference(whole([after]), shown).render_segments(CONSOLE)
    assert "b" in written and "cursor" not in written and "right" not in written
    assert changed_cells(after, after) == []


def test_a_sheet_costs_its_own_area_when_it_comes_and_when_it_goes() -> None:
    shown = Shown()
    assert noted(shown, 0, strip("abcdefghijkl")) == [(0, "abcdefghijkl")]
    assert not noted(shown, 0, strip("abc")), "what is beside the sheet is there already"
    assert noted(shown, 3, strip("SHEET", 1)) == [(3, "SHEET")]
    assert not noted(shown, 8, strip("ijkl"))
    assert noted(shown, 0, strip("abcdefghijkl")) == [(3, "defgh")]
    assert not noted(shown, 0, strip("abcdefghijkl"))


def test_what_is_not_known_in_full_is_written_in_full() -> None:
    shown = Shown()
    noted(shown, 2, strip("cd"))
    assert noted(shown, 0, strip("abcdef")) == [(0, "abcdef")]


def test_what_is_the_same_between_two_changes_is_moved_over_where_that_costs_less() -> None:
    def line(left: str, middle: int, right: str) -> Strip:
        parts = [
            Segment(left, STYLES[1]),
            Segment("=" * middle, STYLES[0]),
            Segment(right, STYLES[1]),
        ]
        return Strip(parts)

    assert changed_cells(line("a", 1, "a"), line("b", 1, "b")) == [(0, 1), (2, 3)]
    assert changed_cells(strip("a" + "=" * 9 + "a"), strip("b" + "=" * 9 + "b")) == [(0, 11)]
    marked = Strip(
        [Segment("a" * 20, STYLES[0]), Segment("|", STYLES[1]), Segment("a" * 9, STYLES[0])]
    )
    moved = Strip(
        [Segment("a" * 25, STYLES[0]), Segment("|", STYLES[1]), Segment("a" * 4, STYLES[0])]
    )
    assert changed_cells(marked, moved) == [(20, 26)]
    far = Strip([Segment("|", STYLES[1]), Segment("a" * 29, STYLES[0])])
    assert changed_cells(far, moved) == [(0, 1), (25, 26)]
    assert changed_cells(strip("日本" + "a"), strip("日木" + "a")) == [(0, 5)], "wide ones in one"
