"""The help sheet: every key, made from the one table, and what each part shows."""

from __future__ import annotations

from itertools import groupby

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from textual.containers import VerticalScroll
from textual.widgets import Static

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report.glossary import find_term
from whichlayer.tui.family import Family
from whichlayer.tui.keys import current_keys
from whichlayer.tui.palette import Palette, bar_code
from whichlayer.tui.pane_terms import PANE_TERMS
from whichlayer.tui.widgets.over_screen import ScrolledSheet
from whichlayer.tui.widgets.pane import Pane


class HelpScreen(ScrolledSheet):
    """Every key, and what the part in focus shows."""

    OWN = "help"
    FRAME = "help"

    def __init__(
        self, palette: Palette, panes: list[Pane], live: bool = False, here: Pane | None = None
    ) -> None:
        """Take the colours, the parts of the screen that have something to say, and the focus."""
        super().__init__()
        self._sheet = help_text(palette, panes, live, here)

    @property
    def text(self) -> str:
        """What the sheet says."""
        return self._sheet.plain

    def entitle(self, frame: VerticalScroll) -> None:
        """Title, and what closes and scrolls it."""
        frame.border_title = "whichlayer · keys"
        frame.border_subtitle = "esc closes · ↑ ↓ space b scroll · g G ends"

    def content(self) -> Static:
        """The text; lines that are too long go on below where their words begin."""
        return Static(Group(*map(_hung, self._sheet.split("\n", allow_blank=True))))


#: Cells before what a key does, and those by which other indented lines stand in.
_KEY_CELLS, _INDENT = 12, 4


def _hung(line: Text) -> RenderableType:
    """A line whose further lines stand in, where it does."""
    if not line.plain.startswith("  "):
        return line
    keys = {f"  {key.shown:<9} " for key in current_keys(live=True)}
    cells = _KEY_CELLS if line.plain[:_KEY_CELLS] in keys else _INDENT
    grid = Table.grid()
    grid.add_column(width=cells, no_wrap=True)
    grid.add_column(ratio=1)
    grid.add_row(line[:cells], line[cells:])
    return grid


def pane_text(palette: Palette, pane: Pane) -> Text:
    """What one part shows."""
    text = Text()
    text.append(f"In focus: {pane.id or ''}", palette.accent)
    text.append(" (tab: another; how it is computed: below the keys)\n", palette.dim)
    text.append(f"  {pane.HELP}\n\n")
    return text


def terms_text(palette: Palette, pane: Pane) -> Text:
    """How the figures of one part are computed."""
    text = Text()
    terms = [term for term in map(find_term, PANE_TERMS.get(pane.id or "", ())) if term is not None]
    if terms:
        text.append(f"How the figures of {pane.id} come about\n", palette.accent)
        for term in terms:
            text.append(f"  {term.word}", palette.strong)
            text.append(f": {term.means}\n", palette.dim)
        text.append("  @ explains what is chosen\n\n", palette.dim)
    return text


def help_text(
    palette: Palette, panes: list[Pane], live: bool = False, here: Pane | None = None
) -> Text:
    """The sheet: the part in focus, keys by group, the layers, and what each part shows."""
    text = Text() if here is None else pane_text(palette, here)
    for group, keys in groupby(current_keys(live), key=lambda key: key.group):
        text.append(f"{group}\n", palette.accent)
        for key in keys:
            text.append(f"  {key.shown:<9}", palette.strong)
            text.append(f" {key.does}")
            text.append(f"  ({key.mouse})\n" if key.mouse else "\n", palette.dim)
        text.append("\n")
    if here is not None:
        text.append_text(terms_text(palette, here))
    text.append("Layers\n", palette.accent)
    for layer in Layer:
        words = layer.text
        text.append("  ")
        text.append(f" {words.letter} ", palette.layer(layer, strong=True))
        text.append(f" {words.name}", palette.strong)
        text.append(f": {words.owns}. Fixed in: {words.fixed_in}.\n")
    text.append("\nColours of the timeline\n", palette.accent)
    for family in Family:
        style = palette.timeline[bar_code(family, 0)]
        text.append(f"  {family.word:<12}", style)
        text.append("\n" if family % 4 == 3 else "  ")
    text.append("\n\nParts of the screen\n", palette.accent)
    for pane in panes:
        if pane.HELP:
            text.append(f"  {pane.id or ''}", palette.strong)
            text.append(f": {pane.HELP}\n")
    return text
