"""The line of a search: a mark over every column in which something was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from textual.strip import Strip

from whichlayer.tui.view import View
from whichlayer.tui.viewport import Viewport
from whichlayer.tui.widgets.pane import Piece, strip_of
from whichlayer.tui.widgets.time_pane import TimePane

if TYPE_CHECKING:  # there is no search before someone types one
    from whichlayer.analysis.search.hits import Hits

#: Marks of a column that holds one hit's beginning, more of them, or only goes on with one.
_ONE, _MORE, _ON = "▾", "▼", "─"


class HitsLine(TimePane):
    """Shown while a search is on."""

    HELP = (
        "Where the search found something: ▾ a hit begins in this column, ▼ several do, ─ one "
        "goes on. n and N go to the next and the one before; hits are lit in their rows too."
    )

    def __init__(self, *, id: str | None = None) -> None:
        """Start hidden."""
        super().__init__(id=id)
        self.display = False
        self.hits: Hits | None = None
        self._marks: tuple[Viewport, str] | None = None

    def take(self, hits: Hits | None) -> None:
        """Show where these are; None puts the line away."""
        if hits is not self.hits:
            self.hits, self._marks = hits, None
            self.display = hits is not None
            self.refresh()

    def view_changed(self, old: View | None) -> None:
        """The cursor is none of its business."""
        if old is None or self.view is None or old.port != self.view.port:
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line, one run."""
        palette, width = self.palette, self.size.width
        label = self.labelled("hits")
        if self.view is None or self.hits is None:
            return strip_of([label], width, palette.text)
        port = self.view.port
        if self._marks is None or self._marks[0] != port:
            self._marks = (port, marks_of(self.hits, port))
        hit = palette.style(palette.colours.warning, bold=True)
        pieces: list[Piece] = [label, (self._marks[1], hit)]
        return strip_of(pieces, width, palette.text)


def marks_of(hits: Hits, port: Viewport) -> str:
    """A character for each cell of a span."""
    begun = np.diff(np.searchsorted(hits.start_ns, port.edges(), "left"))
    marks = np.where(begun > 1, ord(_MORE), np.where(begun == 1, ord(_ONE), ord(" ")))
    covered = cells_covered(hits.start_ns, hits.end_ns, port)
    marks[(begun == 0) & covered] = ord(_ON)
    return "".join(map(chr, marks.tolist()))


def cells_covered(
    start_ns: np.ndarray[tuple[int], np.dtype[np.int64]],
    end_ns: np.ndarray[tuple[int], np.dtype[np.int64]],
    port: Viewport,
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """The cells that slices touch: bool (cells,); those without length touch one.

    Args:
        start_ns: int64 (n,), sorted.
        end_ns: int64 (n,), not before the starts.
        port: the span and its cells.
    """
    stop = int(np.searchsorted(start_ns, port.end_ns, "left"))
    inside = np.flatnonzero(np.maximum(end_ns[:stop], start_ns[:stop] + 1) > port.start_ns)
    edges = port.edges()
    first = np.searchsorted(edges, start_ns[inside], "right") - 1
    last = np.searchsorted(edges, np.maximum(end_ns[inside], start_ns[inside] + 1), "left")
    change = np.bincount(np.clip(first, 0, port.cells), minlength=port.cells + 1)
    change = change - np.bincount(np.clip(last, 0, port.cells), minlength=port.cells + 1)
    return np.asarray(np.cumsum(change)[: port.cells] > 0)
