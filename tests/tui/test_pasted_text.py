"""A long text with control bytes, pasted into what asks for a line: nothing of it acts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.test_terminal import SAMPLE, Terminal
from whichlayer.tui.pasted import END, START, Pasted

PASTED = (
    "gemm\x03\x1b[2J\x1b]0;title\x07\x00\x08\x7f\x1bc\r\nq\n:quit\n"
    + "x" * 5_000
    + "\x9b2J\u202e[bold]"
)


@given(st.lists(st.tuples(st.booleans(), st.text("a\x1b[20~1\n", min_size=1))), st.integers(1, 9))
def test_what_is_pasted_is_told_from_what_is_typed_wherever_it_is_cut(
    parts: list[tuple[bool, str]], size: int
) -> None:
    parts = [one for one in parts if START not in one[1] and END not in one[1]]
    # A text whose end begins a bracket is no text of its own.
    parts = [(is_pasted, f"{text}.") for is_pasted, text in parts]
    typed = "".join(f"{START}{text}{END}" if is_pasted else text for is_pasted, text in parts)
    for pieces in ([typed], [typed[at : at + size] for at in range(0, len(typed), size)]):
        pasted = Pasted()
        got = [one for piece in pieces for one in pasted.parted(piece)]
        if len(pieces) <= 1:
            assert [text for is_pasted, text in got if is_pasted] == [t for p, t in parts if p]
        kept = "".join(text for _, text in got)
        assert kept.replace(START, "").replace(END, "") == "".join(text for _, text in parts)


def test_a_bracket_that_is_cut_in_its_midst_is_one() -> None:
    pasted = Pasted()
    got = [*pasted.parted("k\x1b[20"), *pasted.parted("0~:quit\n\x1b[20"), *pasted.parted("1~j")]
    assert got == [(False, "k"), (True, ":quit\n"), (False, "j")]


def test_a_key_of_its_own_is_handed_on_at_once() -> None:
    pasted = Pasted()
    assert list(pasted.parted("\x1b")) == [(False, "\x1b")]
    assert list(pasted.parted("\x1b[A")) == [(False, "\x1b[A")]


@pytest.mark.parametrize("key", ["/", "&", "g"])
def test_a_pasted_text_is_a_line_that_harms_nothing(key: str) -> None:
    terminal = Terminal(str(SAMPLE))
    terminal.wait_for("● ready")
    terminal.press(key)
    terminal.settle()
    before = len(terminal.sent)
    terminal.press(f"{START}{PASTED}{END}")
    terminal.wait_for("xxxx")
    terminal.settle()
    assert terminal.child.isalive(), "nothing that was pasted has left the screen"
    drawn = terminal.sent[before:]
    assert not any(harm in drawn for harm in (b"\x1b]0;title", b"\x1bc", b"\x1b[2J", b"\xc2\x9b"))
    for _ in range(2):
        terminal.press("\x1b")
        terminal.settle()
    terminal.wait_for("GPU0 s7")
    terminal.press("q")
    assert terminal.leave() == 0
