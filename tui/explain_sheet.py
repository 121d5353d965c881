"""What the owner, the cause and the numbers of something mean, as a sheet."""

from __future__ import annotations

from collections.abc import Sequence

from whichlayer.analysis.report.explanations import explain
from whichlayer.analysis.report.glossary import find_term
from whichlayer.analysis.text import clean
from whichlayer.tui.at_hand import AtHand
from whichlayer.tui.line import Line
from whichlayer.tui.line_terms import COLUMNS, told, told_lines
from whichlayer.tui.sheet import Sheet, SheetLine


def explain_sheet(this: AtHand, said: Sequence[Line] = (), panel: str = "") -> Sheet:
    """Owner, cause and numbers of what is at hand, each as ``whichlayer explain`` tells it.

    Args:
        this: what is at hand.
        said: what the region pane says of it.
        panel: the table that it was chosen in, whose columns are explained too.
    """
    lines: list[SheetLine] = []
    if this.judged:
        lines += [SheetLine("Between launch and work, here", "accent")]
        lines += [SheetLine(f"  {clean(this.judged)}"), SheetLine("")]
    if this.rule:
        lines += _told("Cause", this.rule)
    if this.layer is not None:
        lines += _told("Owner", this.layer.id)
    lines += _here_lines(said) + _column_lines(panel)
    lines += term_lines(this.words, "Numbers")
    if this.fix:
        lines = [SheetLine("Fix", "accent"), SheetLine(f"  {clean(this.fix)}"), SheetLine(""),
                 *lines]  # fmt: skip
    return Sheet(f"explained · {clean(this.name)[:60]}", tuple(lines[:-1]))


def term_lines(words: tuple[str, ...], heading: str) -> list[SheetLine]:
    """Words of the glossary, each with what it means."""
    terms = [term for term in map(find_term, words) if term is not None]
    if not terms:
        return []
    told = [SheetLine(f"  {term.word}: {term.means}") for term in terms]
    return [SheetLine(heading, "accent"), *told, SheetLine("")]


def _here_lines(said: Sequence[Line]) -> list[SheetLine]:
    """Every labelled line of the region pane, and what it tells."""
    found = told_lines(said)
    if not found:
        return []
    lines = [SheetLine("What the region pane says", "accent")]
    for label, text, meaning in found:
        lines.append(SheetLine(f"  {label}: {clean(text)}", "strong"))
        lines.append(SheetLine(f"    {meaning}"))
    return [*lines, SheetLine("")]


def _column_lines(panel: str) -> list[SheetLine]:
    columns = COLUMNS.get(panel, {})
    if not columns:
        return []
    lines = [SheetLine(f"  {title}: {told(words)}") for title, words in columns.items()]
    return [SheetLine(f"Columns of {panel}", "accent"), *lines, SheetLine("")]


def _told(heading: str, word: str) -> list[SheetLine]:
    try:
        told = explain(word)
    except KeyError:
        return []
    lines = [SheetLine(heading, "accent")]
    lines += [SheetLine(f"  {line.rstrip()}") for line in told.splitlines()]
    return [*lines, SheetLine("")]
