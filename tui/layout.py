"""What fits where: how wide labels are, how high panels, and which panels share a place."""

from __future__ import annotations

from dataclasses import dataclass

#: Panels in the order in which the tab key visits them.
PANELS = ("gaps", "findings", "kernels", "region")

#: Widths from which three and four panels stand side by side.
MEDIUM, WIDE = 100, 170

#: Lines of header, verdict, overview, ruler, layers and keys.
_OTHER_LINES = 6

#: Rows that the timeline keeps however few it can fill.
_LEAST_ROWS = 8


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The layout for one size of terminal.

    Attributes:
        label_cells: width of the label column.
        panel_lines: height of the panels, their title line included.
        places: panels by place, from left to right; those of one place share it as tabs, and
            the first is shown until another is asked for.
    """

    label_cells: int
    panel_lines: int
    places: tuple[tuple[str, ...], ...]


def arrangement_for(width: int, height: int, rows: int | None = None) -> Arrangement:
    """The layout for a terminal of ``width`` times ``height`` cells.

    Args:
        width: of the terminal.
        height: of the terminal.
        rows: lines that the timeline can fill; panels get what it leaves.
    """
    places: tuple[tuple[str, ...], ...]
    if width < MEDIUM:
        label, places = 12, (("region", "findings", "gaps", "kernels"),)
    elif width < WIDE:
        label, places = 16, (("gaps", "findings"), ("kernels",), ("region",))
    else:
        label, places = 20, (("gaps",), ("findings",), ("kernels",), ("region",))
    panel_lines = min(max(height * 3 // 8, 6), 20)
    if height < 16:
        panel_lines = max(height - 10, 0)
    elif rows is not None:
        spare = height - _OTHER_LINES - panel_lines - max(rows, _LEAST_ROWS)
        panel_lines += min(max(spare, 0), height // 4)
    return Arrangement(label, panel_lines, places)
