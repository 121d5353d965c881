"""Lines of the region pane end where a reader expects it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from whichlayer.tui.wrapping import broken


@pytest.mark.parametrize(
    "text, width, lines",
    [
        ("idle 257.7 µs", 10, ["idle", "257.7 µs"]),
        ("at 62.2 GB/s now", 10, ["at", "62.2 GB/s", "now"]),
        ("enumerate(DataLoader)#_Iter", 16, ["enumerate", "(DataLoader)#_", "Iter"]),
        ("at::native::copy_kernel", 12, ["at::native::", "copy_kernel"]),
        (
            "model/adapters/text_base_model.py:28",
            15,
            ["model/adapters/", "text_base_", "model.py:28"],
        ),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("  1.2 %  23.4 µs  no owner", 30, ["  1.2 %  23.4 µs  no owner"]),
        ("", 9, [""]),
    ],
)
def test_lines_end_between_words_or_at_joints(text: str, width: int, lines: list[str]) -> None:
    assert broken(text, width) == lines


@given(
    st.text(alphabet="ab/.:_#(<1% µs", max_size=60),
    st.integers(4, 30),
)
def test_every_line_fits_and_no_character_is_lost(text: str, width: int) -> None:
    lines = broken(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "").replace("\u00a0", "")
