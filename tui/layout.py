"""What fits where: how wide labels are, how high panels, and which panels share a place."""

from __future__ import annotations

from dataclasses import dataclass

#: All panels.
PANELS = ("gaps", "findings", "kernels", "region")

#: Widths from which three and four panels stand side by side.
MEDIUM, WIDE = 100, 170

#: Width from which labels have room for the longest names of threads.
_WIDEST = 220

#: Height of panels from which gaps stand above findings, and leave their width to the others.
_STACKED_LINES = 22

#: Lines of header, verdict, overview, ruler, layers and keys.
_OTHER_LINES = 6

#: Height of panels that have room for what they say of most recordings.
_AMPLE_LINES = 25

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

    @property
    def is_stacked(self) -> bool:
        """Gaps stand above findings instead of beside them."""
        return len(self.places) == len(PANELS) and self.panel_lines >= _STACKED_LINES


def arrangement_for(
    width: int,
    height: int,
    rows: int | None = None,
    tall: int | None = None,
    has_gpu: bool = True,
) -> Arrangement:
    """The layout for a terminal of ``width`` times ``height`` cells.

    Args:
        width: of the terminal.
        height: of the terminal.
        rows: lines that the timeline needs; panels get what it leaves.
        tall: the most lines that it makes use of, with rows that are several lines high.
        has_gpu: without work of a GPU, gaps and kernels are tabs that have nothing to tell.
    """
    places: tuple[tuple[str, ...], ...]
    if width < MEDIUM:
        label, places = 12, (("region", "findings", "gaps", "kernels"),)
    elif width < WIDE:
        label, places = 16, (("gaps", "findings"), ("kernels",), ("region",))
    else:
        label = 24 if width >= _WIDEST else 20
        places = (("gaps",), ("findings",), ("kernels",), ("region",))
    if not has_gpu and width >= MEDIUM:
        places = (("findings", "gaps", "kernels"), ("region",))
    panel_lines = max(height * 3 // 8, 6)
    if height < 16:
        panel_lines = max(height - 10, 0)
    elif rows is not None:
        room = height - _OTHER_LINES
        # Panels with room for what they say come before high rows; what these leave is theirs too.
        ample = max(height // 2, min(height * 5 // 8, _AMPLE_LINES))
        if not has_gpu:  # then there is little to say of what is recorded, and more to see
            ample = height // 3
        timeline = max(rows, _LEAST_ROWS, min(tall or rows, room - ample))
        panel_lines = max(room - timeline, panel_lines)
    return Arrangement(label, panel_lines, places)
