"""Searching on a real terminal: typed, found, listed, left."""

from __future__ import annotations

from pathlib import Path

from tests.tui.test_terminal import Terminal

SAMPLE = Path(__file__).parents[2] / "sample_traces" / "dataloader_bound.json.gz"


def test_a_search_is_typed_found_and_listed() -> None:
    terminal = Terminal(str(SAMPLE))
    terminal.wait_for("● ready")
    terminal.press("/")
    terminal.wait_for("/regex/")
    terminal.press("gemm")
    terminal.wait_for(" of 310")
    terminal.press("\r")
    assert "hits" in terminal.wait_for("of 310 · fprop")
    terminal.press("i")
    terminal.wait_for("310 hits")
    terminal.press("\x1b")
    terminal.settle()  # at once, both would be Alt-q
    assert "310 hits" not in terminal.text
    terminal.press("q")
    assert terminal.leave() == 0
