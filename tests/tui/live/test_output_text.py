"""What a program prints, shown without letting it act on the terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import Color
from rich.style import Style

from whichlayer.tui.colours import DARK
from whichlayer.tui.live.output_pane import program_line
from whichlayer.tui.live.output_text import MOST_LINES, ProgramOutput
from whichlayer.tui.palette import Palette


def printed(*parts: bytes) -> ProgramOutput:
    output = ProgramOutput()
    for part in parts:
        output.feed(part)
        while output.take():
            pass
    return output


def texts(output: ProgramOutput) -> list[str]:
    return ["".join(text for text, _ in line) for line in output.lines()]


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"a\r\nb\r\n", ["a", "b"]),
        (b" 10%\r 20%\r100%\r\n", ["100%"]),
        (b"one\ntwo\x1b[1A\rONE\x1b[1B\rTWO", ["ONE", "TWO"]),
        (b"abc\x1b[2Dx\x1b[Kz", ["axz"]),
        (b"ab\x08c\tz", ["ac      z"]),
        (b"\x1b]0;a title\x07x\x1b]8;;http://a\x1b\\y", ["xy"]),
        (b"\x1bPpayload\x1b\\x\x1b(By\x1b7z", ["xyz"]),
        (b"a\x00\x07\x7fb\x9b31mc", ["ab\N{REPLACEMENT CHARACTER}31mc"]),
        ("z\u202eé \N{GRINNING FACE}".encode(), ["z\N{REPLACEMENT CHARACTER}é \N{GRINNING FACE}"]),
        (b"a\x1b[2Jb", [" b"]),
        (b"gone\x1b[2K\rkept", ["kept"]),
    ],
)
def test_movements_are_obeyed_and_all_else_vanishes(data: bytes, shown: list[str]) -> None:
    assert texts(printed(data)) == shown


@pytest.mark.parametrize(
    ("data", "style"),
    [
        (b"\x1b[31mx", Style(color=Color.from_ansi(1))),
        (b"\x1b[1;4;92mx", Style(bold=True, underline=True, color=Color.from_ansi(10))),
        (b"\x1b[38;5;208mx", Style(color=Color.from_ansi(208))),
        (b"\x1b[48;2;1;2;3mx", Style(bgcolor=Color.from_rgb(1, 2, 3))),
        (b"\x1b[31;1m\x1b[0mx", Style.null()),
        (b"\x1b[31;44m\x1b[39mx", Style(bgcolor=Color.from_ansi(4))),
        (b"\x1b[31;44m\x1b[49mx", Style(color=Color.from_ansi(1))),
        (b"\x1b[38;5mx", Style.null()),
        (b"\x1b[38;2;1mx", Style.null()),
    ],
)
def test_colours_of_the_program_are_kept(data: bytes, style: Style) -> None:
    ((text, found),) = printed(data).lines()[0]
    assert (text, found) == ("x", style)


@given(st.lists(st.binary(max_size=60), max_size=20))
def test_no_control_character_ever_reaches_the_terminal(parts: list[bytes]) -> None:
    palette = Palette(DARK)
    for line in printed(*parts).lines():
        strip = program_line(line, 40, palette)
        assert strip.cell_length == 40
        assert strip.text.isprintable()


@given(st.binary(max_size=200), st.integers(1, 9))
def test_where_the_bytes_are_cut_changes_nothing(data: bytes, size: int) -> None:
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert printed(*pieces).lines() == printed(data).lines()


def test_a_flood_is_cut_with_a_word_and_never_grows() -> None:
    output = ProgramOutput()
    for _ in range(100):
        output.feed(b"x" * 79 + b"\n" + b"y" * 10_000 + b"\n")
    while output.take():
        pass
    assert any("left out" in line for line in texts(output))
    output = printed(b"\n".join(b"%d" % n for n in range(20_000)))
    assert len(output.lines()) <= MOST_LINES + 60
    assert texts(output)[-1] == "19999"


def test_words_of_ours_stand_on_lines_of_their_own() -> None:
    output = printed(b"step 1")
    output.say("a window was lost")
    output.feed(b"step 2")
    output.take()
    assert texts(output) == ["step 1", "• a window was lost", "step 2"]
    assert ["".join(t for t, _ in line) for line in output.last(2)] == texts(output)[-2:]
