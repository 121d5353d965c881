"""Plain text laid out for a terminal or a chat message: at most 100 columns, no colour."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from whichlayer.analysis.report.units import apart, together
from whichlayer.analysis.text import clean

COLUMNS = 100


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: its heading, how wide it is, and whether it holds numbers."""

    heading: str
    width: int
    right: bool = True


def columns_of(text: str) -> int:
    """How many terminal cells a text takes: wide characters two, combining ones none."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def fit(text: str, width: int) -> str:
    """A cleaned text cut to a width, with an ellipsis where something is missing."""
    text = clean(text)
    if columns_of(text) <= width:
        return text
    kept, used = [], 0
    for character in text:
        used += _cells(character)
        if used > width - 1:
            break
        kept.append(character)
    return "".join(kept) + "…"


def fit_path(path: str, width: int) -> str:
    """A cleaned path cut at its front: its end says which file it is."""
    path = clean(path)
    if columns_of(path) <= width:
        return path
    return "…" + fit(path[::-1], width)[::-1].removeprefix("…")


def wrap(text: str, first: str = "", rest: str | None = None) -> list[str]:
    """A cleaned text in lines of at most :data:`COLUMNS`, never losing a character.

    A number and its unit stay together.

    Args:
        text: what to wrap, at spaces where there are any.
        first: what the first line begins with.
        rest: what the others begin with; spaces as wide as ``first`` if None.
    """
    rest = " " * columns_of(first) if rest is None else rest
    lines, line, empty = [], first, True
    used, indented = columns_of(first), columns_of(rest)
    widest_word = COLUMNS - max(used, indented)
    for word in filter(None, together(" ".join(clean(text).split())).split(" ")):
        for piece in _pieces(word, widest_word):
            width = columns_of(piece)
            if used + width + (not empty) > COLUMNS and not empty:
                lines.append(line)
                line, used = rest + piece, indented + width
            else:
                line += piece if empty else f" {piece}"
                used += width + (not empty)
            empty = False
    return [apart(line) for line in (*lines, line.rstrip())]


def bar(share: float, width: int) -> str:
    """A share of one as a bar; a dot is a share that is there but too small for a mark."""
    marks = round(max(0.0, min(share, 1.0)) * width)
    return "#" * marks or ("." if share > 0 else "")


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]], indent: str) -> list[str]:
    """A table with one heading line; cells that are too wide are cut."""
    cells = [[column.heading for column in columns], *rows]
    return [
        (indent + "  ".join(_cell(*pair) for pair in zip(columns, row, strict=True))).rstrip()
        for row in cells
    ]


def _cell(column: Column, text: str) -> str:
    text = fit(text, column.width)
    padding = " " * (column.width - columns_of(text))
    return padding + text if column.right else text + padding


def _pieces(word: str, width: int) -> list[str]:
    """A word cut where it is wider than a line."""
    if columns_of(word) <= width:
        return [word]
    pieces, piece, used = [], "", 0
    for character in word:
        cells = _cells(character)
        if used + cells > width:
            pieces.append(piece)
            piece, used = "", 0
        piece += character
        used += cells
    return [*pieces, piece]


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
