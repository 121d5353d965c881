"""The legend: what the colours in sight stand for."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import set_cell_size
from rich.text import Text
from textual.containers import VerticalScroll
from textual.widgets import Static

from whichlayer.analysis.report.units import time_text
from whichlayer.tui.legend import Section
from whichlayer.tui.palette import Palette, bar_code
from whichlayer.tui.slot_letters import letter_of
from whichlayer.tui.slots import ColourBy
from whichlayer.tui.widgets.over_screen import ScrolledSheet

#: Cells of a label.
_LABEL_CELLS = 44


class LegendScreen(ScrolledSheet):
    """The colours in sight."""

    OWN = "legend"
    FRAME = "legend"

    def __init__(self, palette: Palette, by: ColourBy, sections: Sequence[Section]) -> None:
        """Take the colours, and what they stand for."""
        super().__init__()
        self._by = by
        self._letters = palette.letters
        self._sheet = legend_text(palette, sections)

    @property
    def text(self) -> str:
        """What the sheet says."""
        return self._sheet.plain

    def entitle(self, frame: VerticalScroll) -> None:
        """What colours tell, and what closes it."""
        frame.border_title = f"coloured by {self._by.value} · share of the bars in sight"
        letters = "letters begin bars without a name · " if self._letters else ""
        frame.border_subtitle = f"{letters}esc closes"

    def content(self) -> Static:
        """The text."""
        return Static(self._sheet)


def legend_text(palette: Palette, sections: Sequence[Section]) -> Text:
    """The sheet: for each colour a patch, what it stands for, its share and its time.

    Where bars carry letters, so do the patches.
    """
    text = Text(no_wrap=True)
    if not sections:
        text.append("no bar is in sight", palette.dim)
    for section in sections:
        if text:
            text.append("\n")
        text.append(f"{section.title}\n", palette.accent)
        for entry in section.entries:
            patch = palette.timeline[bar_code(entry.slot, 0)] if entry.slot >= 0 else palette.text
            letter = letter_of(entry.slot) if palette.letters and entry.slot >= 0 else ""
            text.append(f" {letter:<3}", patch)
            text.append(f" {set_cell_size(entry.label, _LABEL_CELLS)}", palette.text)
            text.append(f"{100 * entry.share:5.1f} %", palette.strong)
            text.append(f"{time_text(entry.time_ns):>10}\n", palette.dim)
    text.rstrip()
    return text
