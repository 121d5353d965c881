"""What all parts of the screen have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from whichlayer.tui.palette import Palette, palette_for

if TYPE_CHECKING:
    from whichlayer.tui.document import Document
    from whichlayer.tui.view import View

Piece = tuple[str, Style]


class Pane(Widget):
    """A part of the screen that shows a document through the shared view.

    A pane reads; it never changes the view itself, but posts messages.
    """

    ALLOW_SELECT = False

    #: It speaks of the selected span, once that is analysed; others always of the whole.
    OF_SPAN = False

    #: What the help says about this part.
    HELP = ""

    def __init__(self, *, id: str | None = None) -> None:
        """Start without a document."""
        super().__init__(id=id)
        self.document: Document | None = None
        self.view: View | None = None
        self.palette = palette_for("", None)
        self.label_cells = 0

    def show(self, document: Document | None, view: View | None) -> None:
        """Take what is to be shown; repaint as little as possible."""
        old_document, old_view = self.document, self.view
        self.document, self.view = document, view
        if document is not old_document:
            self.document_changed()
            self.refresh()
        elif view is not old_view:
            self.view_changed(old_view)

    def paint_with(self, palette: Palette) -> None:
        """Take the colours of another theme."""
        self.palette = palette
        self.document_changed()
        self.refresh()

    def document_changed(self) -> None:
        """Forget what was worked out for the document before."""

    def view_changed(self, old: View | None) -> None:
        """Repaint what the new view shows otherwise; everything, if not overridden."""
        self.refresh()

    @property
    def waiting(self) -> str:
        """What a part that shows an analysis says while there is none."""
        return "reading …" if self.document is None else self.document.extent.value

    def labelled(self, text: str, style: Style | None = None) -> Piece:
        """A label in the column at the left that all rows of the time axis share.

        All of them begin where those of the timeline do, after the mark of the cursor's row.
        """
        room = max(self.label_cells - 1, 0)
        return set_cell_size(f" {text}", room) + " ", style or self.palette.dim


def strip_of(pieces: Iterable[Piece], width: int, fill: Style) -> Strip:
    """A line of exactly ``width`` cells: cut where it is too long, filled where too short."""
    segments: list[Segment] = []
    left = width
    for text, style in pieces:
        if left <= 0:
            break
        size = cell_len(text)
        if size > left:
            text, size = set_cell_size(text, left), left
        if not text:
            continue
        if segments and segments[-1].style == style:
            segments[-1] = Segment(segments[-1].text + text, style)
        else:
            segments.append(Segment(text, style))
        left -= size
    if left > 0:
        segments.append(Segment(" " * left, fill))
    return Strip(segments, width)


def shortened(text: str, room: int) -> str:
    """Text cut to ``room`` cells, with ``…`` where something is missing, filled to them."""
    if cell_len(text) > room:
        text = set_cell_size(text, max(room - 1, 0)) + "…" if room > 0 else ""
    return set_cell_size(text, max(room, 0))
