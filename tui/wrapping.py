"""Breaks text into lines: between words, else where a path or a name has a joint."""

from __future__ import annotations

import re

from rich.cells import cell_len, chop_cells

from whichlayer.analysis.report.units import apart, together

_PARTS = re.compile(r" +|[^ ]+")

#: A name may go on in the next line behind one of these, and before an opening bracket.
_JOINTS = re.compile(r"(?<=::)|(?<=[./_#,;:|>)-])(?!:)|(?=[(\\[<])")


def broken(text: str, width: int) -> list[str]:
    """Text as lines of at most ``width`` cells; at least one.

    Spaces within a line stay as they are, a number and its unit stay together, and a word is
    broken only where it is longer than a line: at its joints, else where the line is full.

    >>> broken("where moca/library/model.py:28 is", 12)
    ['where moca/', 'library/', 'model.py:28', 'is']
    """
    lines = [""]
    for part in _PARTS.findall(together(text)):
        if not part.strip(" "):
            fits = cell_len(lines[-1]) + len(part) < width
            lines[-1] += part if fits else " " * (width - cell_len(lines[-1]))
            continue
        for piece in [part] if cell_len(part) <= width else _pieces(part, width):
            if cell_len(lines[-1]) + cell_len(piece) > width:
                # A line of spaces alone would be none.
                lines[len(lines) if lines[-1].strip(" ") else -1 :] = [""]
            lines[-1] += piece
    return [apart(line.rstrip(" ")) for line in lines]


def _pieces(word: str, width: int) -> list[str]:
    """The parts of a long word that lines may be made of, none longer than a line."""
    parts = [part for part in _JOINTS.split(word) if part]
    return [piece for part in parts for piece in chop_cells(part, width)]
