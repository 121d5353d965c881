"""Every label and every column on the screen is explained."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tui.screen import LARGE, screen_of, view_of
from whichlayer import tui
from whichlayer.analysis.report.glossary import find_term
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.at_hand import AtHand
from whichlayer.tui.explain_sheet import explain_sheet
from whichlayer.tui.line import Line
from whichlayer.tui.line_terms import COLUMNS, LABELS, told, told_lines
from whichlayer.tui.pane_terms import PANE_TERMS
from whichlayer.tui.widgets import findings_list, kernel_table
from whichlayer.tui.widgets.pane import Pane
from whichlayer.tui.widgets.text_sheet import TextSheet

FOLDER = Path(tui.__file__).parent


def labels_of(path: Path) -> set[str]:
    """Words that a module gives to ``Line`` as a label, where they stand in its text."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Line"):
            continue
        given = [*node.args[1:2], *(k.value for k in node.keywords if k.arg == "label")]
        for value in given:
            found |= {
                one.value.strip()
                for one in ast.walk(value)
                if isinstance(one, ast.Constant) and isinstance(one.value, str)
            }
    return found - {""}


def test_every_label_of_the_region_pane_has_a_meaning() -> None:
    used = set[str]().union(*(labels_of(path) for path in FOLDER.glob("describe*.py")))
    used |= labels_of(FOLDER / "widgets" / "region.py")
    assert {"rate", "launch", "queue", "value"} <= used, "they are found in the text"
    assert used <= set(LABELS), "a label without a meaning"
    assert set(LABELS) <= used, "a meaning without a label"


def test_every_column_has_a_meaning() -> None:
    titles = {column.title for column in kernel_table.COLUMNS} | {"by"}
    assert set(COLUMNS["kernels"]) == titles
    figures = (findings_list._LOST, findings_list._SHARE, findings_list._RECOVERABLE)
    assert set(COLUMNS["findings"]) == {title for title, _ in figures}


def test_meanings_are_sentences() -> None:
    for words in [*LABELS.values(), *(w for table in COLUMNS.values() for w in table.values())]:
        assert told(words).endswith("."), words
        assert all(find_term(word) or word.endswith(".") for word in words), words


def test_every_word_of_a_pane_is_in_the_glossary() -> None:
    assert all(find_term(word) for words in PANE_TERMS.values() for word in words)


def test_each_label_is_told_once_with_what_stands_there() -> None:
    lines = [Line("2.675 ms before", "launch"), Line("more", " "), Line("again", "launch")]
    ((label, text, meaning),) = told_lines(lines)
    assert (label, text) == ("launch", "2.675 ms before") and "launch" in meaning
    sheet = explain_sheet(AtHand("x"), lines, "kernels")
    said = "\n".join(line.text for line in sheet.lines)
    assert "launch: 2.675 ms before" in said and "%roof:" in said


async def test_the_delay_between_launch_and_kernel_is_explained_with_its_length(
    trace: Trace, analysis: Analysis
) -> None:
    async with screen_of(trace, analysis, LARGE) as (app, pilot):
        app.look_at(replace(view_of(app), cursor_ns=750_000, row=0))
        await pilot.press("at")
        await pilot.pause()
        assert isinstance(app.screen, TextSheet)
        text = " ".join(app.screen.text.plain.split())
        assert "launch: cudaLaunchKernel," in text and "From the start of a launch call" in text


@pytest.mark.parametrize(("keys", "word"), [(3, "%roof:"), (2, "recoverable:"), (1, "%:")])
async def test_the_columns_of_the_table_in_focus_are_explained(
    trace: Trace, analysis: Analysis, keys: int, word: str
) -> None:
    async with screen_of(trace, analysis, LARGE) as (app, pilot):
        app.look_at(replace(view_of(app), cursor_ns=150_000, row=0))
        await pilot.press(*["tab"] * keys, "at")
        await pilot.pause()
        assert isinstance(app.screen, TextSheet) and word in app.screen.text.plain


async def test_every_pane_says_what_it_shows(trace: Trace, analysis: Analysis) -> None:
    async with screen_of(trace, analysis, LARGE) as (app, _):
        for pane in app.query(Pane):
            if pane.id not in ("footer", "opening", "prompt"):
                assert pane.HELP.endswith("."), pane.id
