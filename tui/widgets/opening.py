"""What stands in the place of the panes in the first picture, for a fraction of a second."""

from __future__ import annotations

from textual.strip import Strip

from whichlayer.tui.widgets.pane import Pane, Piece, strip_of

#: The labels at the left of the first lines, where they stay.
_LABELS = ("overview", "time", "LAYERS")


class Opening(Pane):
    """The time axis without anything on it."""

    def render_line(self, y: int) -> Strip:
        """A label, or nothing."""
        pieces: list[Piece] = [self.labelled(_LABELS[y])] if y < len(_LABELS) else []
        return strip_of(pieces, self.size.width, self.palette.text)
