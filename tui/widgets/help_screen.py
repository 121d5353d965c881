"""The help sheet: every key, made from the one table, and what each part shows."""

from __future__ import annotations

from itertools import groupby

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report.glossary import find_term
from whichlayer.tui.family import Family
from whichlayer.tui.keys import current_keys
from whichlayer.tui.palette import Palette, bar_code
from whichlayer.tui.pane_terms import PANE_TERMS
from whichlayer.tui.widgets.pane import Pane


class HelpScreen(ModalScreen[None]):
    """A sheet over the screen; any of its closing keys puts it away."""

    BINDINGS = [("escape,question_mark,q,enter", "dismiss", "close")]  # noqa: RUF012

    def __init__(
        self, palette: Palette, panes: list[Pane], live: bool = False, here: Pane | None = None
    ) -> None:
        """Take the colours, the parts of the screen that have something to say, and the focus."""
        super().__init__()
        self._sheet = help_text(palette, panes, live)
        if here is not None:
            self._sheet = pane_text(palette, here).append_text(self._sheet)

    @property
    def text(self) -> str:
        """What the sheet says."""
        return self._sheet.plain

    def compose(self) -> ComposeResult:
        """One text that scrolls."""
        with VerticalScroll(id="help") as sheet:
            sheet.border_title = "whichlayer · keys"
            sheet.border_subtitle = "esc closes · ↑ ↓ scroll"
            yield Static(self._sheet)


def pane_text(palette: Palette, pane: Pane) -> Text:
    """What one part shows, and how its figures are computed."""
    text = Text()
    text.append(f"In focus: {pane.id or ''}\n", palette.accent)
    text.append(f"  {pane.HELP}\n")
    for term in map(find_term, PANE_TERMS.get(pane.id or "", ())):
        if term is not None:
            text.append(f"  {term.word}", palette.strong)
            text.append(f": {term.means}\n", palette.dim)
    text.append("  tab goes to another part, @ explains what is chosen\n\n", palette.dim)
    return text


def help_text(palette: Palette, panes: list[Pane], live: bool = False) -> Text:
    """The sheet: keys by group, the layers, and what each part shows."""
    text = Text()
    for group, keys in groupby(current_keys(live), key=lambda key: key.group):
        text.append(f"{group}\n", palette.accent)
        for key in keys:
            text.append(f"  {key.shown:<9}", palette.strong)
            text.append(f" {key.does}")
            text.append(f"  ({key.mouse})\n" if key.mouse else "\n", palette.dim)
        text.append("\n")
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
