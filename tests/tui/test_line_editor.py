"""One line being typed."""

from __future__ import annotations

import doctest

from hypothesis import given
from hypothesis import strategies as st

from whichlayer.tui import line_editor
from whichlayer.tui.line_editor import MOST, EditedLine

KEYS = ["backspace", "delete", "ctrl+w", "ctrl+u", "ctrl+k", "left", "right", "home", "end",
        "ctrl+a", "ctrl+e", "ctrl+b", "ctrl+f", "f5", "escape"]  # fmt: skip


def test_the_examples_hold() -> None:
    result = doctest.testmod(line_editor)
    assert result.attempted and not result.failed


@given(st.lists(st.one_of(st.sampled_from(KEYS), st.text(max_size=5).map(lambda t: f"+{t}"))))
def test_the_cursor_stays_in_the_text_and_the_text_printable(acts: list[str]) -> None:
    line = EditedLine()
    for act in acts:
        edited = line.typed(act[1:]) if act.startswith("+") else line.key(act)
        line = line if edited is None else edited
        assert 0 <= line.place <= len(line.text) <= MOST
        assert line.text.isprintable()


def test_words_and_ends_go_as_in_a_shell() -> None:
    line = EditedLine.ending("kernel: dur>1ms  ")
    assert line.key("ctrl+w") == EditedLine("kernel: ", 8)
    assert line.key("ctrl+u") == EditedLine("", 0)
    assert EditedLine("ab", 1).key("ctrl+k") == EditedLine("a", 1)
    assert EditedLine("ab", 1).key("backspace") == EditedLine("b", 0)
    assert EditedLine("ab", 1).key("delete") == EditedLine("a", 1)
    assert line.key("f5") is None


def test_no_more_is_taken_than_there_is_room_for() -> None:
    assert len(EditedLine().typed("x" * 2 * MOST).text) == MOST
