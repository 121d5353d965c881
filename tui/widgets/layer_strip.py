"""The layer strip: who owns the lost time of every column, by letter and colour."""

from __future__ import annotations

import numpy as np
from textual.strip import Strip

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.text import gpu_text
from whichlayer.tui.owners import REST_MARKS, columns_of
from whichlayer.tui.view import View
from whichlayer.tui.widgets.pane import Piece, strip_of
from whichlayer.tui.widgets.time_pane import TimePane

#: Devices that get a line of their own; with more, those round the chosen one.
MOST_LINES = 4

_OUTSIDE = " "


class LayerStrip(TimePane):
    """One line per device."""

    HELP = (
        "The layer that loses most of each column: P PyTorch, R runtime, B boundary, C CUDA, "
        "F precision, ? unattributed; else what most of it is: = work at the roof, – work that is not judged, "
        "· idle without an owner. On its own colour where at least half "
        "of the column is lost."
    )

    def __init__(self, *, id: str | None = None) -> None:
        """Start empty."""
        super().__init__(id=id)
        self._lines: dict[int, list[tuple[str, int, bool]]] = {}

    def document_changed(self) -> None:
        """Take as many lines as there are devices."""
        self._lines.clear()
        analysis = None if self.document is None else self.document.analysis
        count = 1 if analysis is None else min(max(len(analysis.devices), 1), MOST_LINES)
        if self.is_attached and self.styles.height is not None:
            self.styles.height = count

    def view_changed(self, old: View | None) -> None:
        """Repaint when the span or the device changes, not for the cursor."""
        if old is None or self.view is None or (old.port, old.device) != (
            self.view.port, self.view.device
        ):  # fmt: skip
            self._lines.clear()
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The strip of one device."""
        palette, width = self.palette, self.size.width
        analysis = None if self.document is None else self.document.analysis
        if self.document is None or self.view is None or analysis is None:
            waiting = (self.waiting, palette.faint)
            return strip_of([self.labelled("LAYERS"), waiting], width, palette.text)
        if not analysis.devices:
            text = "no GPU activity in this recording: nothing to attribute"
            return strip_of([self.labelled("LAYERS"), (text, palette.dim)], width, palette.text)
        device = self._first_device() + y
        if device >= len(self.document.owners):
            return Strip.blank(width, palette.text)
        several = len(analysis.devices) > 1
        chosen = several and device == self.view.device
        label = f"LAYERS {gpu_text(analysis.devices[device].number)}" if several else "LAYERS"
        if len(label) > self.label_cells - 2:
            label = label.removeprefix("LAYERS ")
        pieces: list[Piece] = [self.labelled(label, palette.strong if chosen else None)]
        for text, layer, strong in self._runs(device):
            style = palette.faint if text[0] in REST_MARKS else palette.layer(Layer(layer), strong)
            pieces.append((text, style))
        return strip_of(pieces, width, palette.text)

    def _first_device(self) -> int:
        assert self.document is not None and self.view is not None
        last = len(self.document.owners) - MOST_LINES
        return min(max(self.view.device - MOST_LINES + 1, 0), max(last, 0))

    def _runs(self, device: int) -> list[tuple[str, int, bool]]:
        """Stretches of one letter: (text, layer, fills the column)."""
        found = self._lines.get(device)
        if found is not None:
            return found
        assert self.document is not None and self.view is not None
        edges = self.view.port.edges()
        columns = columns_of(self.document.owners[device], edges[:-1], edges[1:])
        letters = np.array([k.text.letter for k in Layer])
        rest = np.array(REST_MARKS)[columns.rest]
        chars = np.where(columns.layer == Layer.NONE, rest, letters[columns.layer])
        chars = np.where(columns.known, chars, _OUTSIDE)
        runs: list[tuple[str, int, bool]] = []
        for char, layer, strong in zip(
            chars.tolist(), columns.layer.tolist(), columns.strong.tolist(), strict=True
        ):
            if runs and runs[-1][0][-1] == char and runs[-1][2] == strong:
                runs[-1] = (runs[-1][0] + char, layer, strong)
            else:
                runs.append((char, layer, strong))
        self._lines[device] = runs
        return runs
