"""A text over the screen, as a value: lines, some of which lead to a place of the recording."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from whichlayer.analysis.layers import Layer

#: Cells by which the further lines of a paragraph stand in.
_HANGING = 2


@dataclass(frozen=True, slots=True)
class Target:
    """A place of the recording.

    Attributes:
        start_ns, end_ns: the stretch.
        slice_row: trace row of a slice to put the cursor on, or -1.
        device: index into ``Analysis.devices``, or -1 for the one that is shown.
    """

    start_ns: int
    end_ns: int
    slice_row: int = -1
    device: int = -1


@dataclass(frozen=True, slots=True)
class SheetLine:
    """One paragraph of a sheet, clean.

    Attributes:
        text: what it says; leading spaces indent all of its lines.
        look: ``text``, ``strong``, ``dim`` or ``accent``.
        layer: owner whose letter leads the line, or None.
        target: where enter goes from here, or None.
    """

    text: str
    look: str = "text"
    layer: Layer | None = None
    target: Target | None = None


@dataclass(frozen=True, slots=True)
class Sheet:
    """A titled text.

    Attributes:
        title: at the top.
        lines: paragraphs.
        keys: what keys do here besides moving, in a few words, or empty.
    """

    title: str
    lines: tuple[SheetLine, ...]
    keys: str = ""


def report_lines(section: list[str]) -> list[SheetLine]:
    """The lines of a section of the text report, the first as its heading."""
    return [SheetLine(line, "text" if place else "strong") for place, line in enumerate(section)]


def is_table(line: str) -> bool:
    """Whether a line is cut at the edge instead of wrapped, so that columns stay columns.

    Columns are set apart by more than one space.
    """
    words = [place for place, char in enumerate(line.strip()) if char == " "]
    return sum(1 for one, two in pairwise(words) if two == one + 1) >= 3


def indent_of(text: str) -> int:
    """Cells by which the further lines of a paragraph stand in."""
    return len(text) - len(text.lstrip()) + _HANGING
