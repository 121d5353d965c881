"""The overview: the whole recording in one row, with the visible span marked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from textual import events
from textual.strip import Strip

from whichlayer.analysis.layers import Layer
from whichlayer.tui.messages import DRAG, Looked
from whichlayer.tui.overview_drag import Grip, dragged, grip_at
from whichlayer.tui.owners import columns_of
from whichlayer.tui.view import View
from whichlayer.tui.viewport import Viewport
from whichlayer.tui.widgets.pane import Pane, Piece, strip_of

_HEIGHTS = "▁▂▃▄▅▆▇█"


class Overview(Pane):
    """Height: how busy the device is. Colour: who owns what is lost. Brackets: what is seen."""

    HELP = (
        "The whole recording: a column is as high as the device is busy, in the colour of the "
        "layer that loses most of it. The brackets hold the visible span: drag it, drag one of "
        "its ends, or draw another span beside it."
    )

    def __init__(self, *, id: str | None = None) -> None:
        """Start empty."""
        super().__init__(id=id)
        self._columns: tuple[tuple[int, int], str, NDArray[np.uint8]] | None = None
        self._grip: Grip | None = None
        self._drags = 0

    def document_changed(self) -> None:
        """Work the columns out anew."""
        self._columns = None

    def view_changed(self, old: View | None) -> None:
        """Repaint when the span or the device changes, not for the cursor."""
        if old is None or self.view is None:
            self.refresh()
            return
        if old.device != self.view.device:
            self._columns = None
        if (self.view.port, self.view.device) != (old.port, old.device):
            self.refresh()

    def on_resize(self) -> None:
        """Other columns."""
        self._columns = None

    def render_line(self, y: int) -> Strip:
        """One line."""
        palette, width = self.palette, self.size.width
        if self.view is None or self.document is None:
            return strip_of([self.labelled("overview")], width, palette.text)
        whole = self._whole()
        text, layers = self._profile(whole)
        port = self.view.port
        first = min(max(whole.cell_of(port.start_ns), 0), whole.cells - 1)
        last = min(max(whole.cell_of(port.end_ns - 1), first), whole.cells - 1)
        marks = (
            {} if port.is_whole else {max(first - 1, 0): "[", min(last + 1, whole.cells - 1): "]"}
        )
        colours = palette.colours
        pieces: list[Piece] = [self.labelled("overview")]
        for cell, (char, layer) in enumerate(zip(text, layers.tolist(), strict=True)):
            ground = colours.marked if first <= cell <= last and marks else ""
            if cell in marks:
                pieces.append((marks[cell], palette.accent))
            else:
                colour = colours.faint if layer == Layer.NONE else colours.layers[Layer(layer)]
                ink = colours.dim if layer == Layer.NONE else colour
                pieces.append((char, palette.style(ink, ground)))
        return strip_of(pieces, width, palette.text)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of the visible span, or of one of its ends; beside it, begin another."""
        if self.view is None or self.document is None or event.x < self.label_cells:
            return
        self._grip = grip_at(self._whole(), self.view.port, event.x - self.label_cells)
        self.capture_mouse()
        self._drags += 1
        if self._grip.part == "new" and not self.view.port.is_whole:
            self._move_to(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Move the span, move its end, or draw another span."""
        if self._grip is None or self.view is None or self.document is None:
            return
        cell = min(max(event.x - self.label_cells, 0), self._whole().cells - 1)
        port = dragged(self._whole(), self.view.port, self._grip, cell)
        if port is not None:
            moved = replace(self.view, port=port)
            inside = port.shows(moved.cursor_ns)
            at = moved.cursor_ns if inside else (port.start_ns + port.end_ns) // 2
            self.post_message(Looked(moved.pointed(at, moved.row), run=self._run))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Zoom in about the pointer."""
        self._zoom(event, 1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Zoom out about the pointer."""
        self._zoom(event, -1)

    def _zoom(self, event: events.MouseScrollUp | events.MouseScrollDown, turn: int) -> None:
        event.stop()
        event.prevent_default()
        if self.view is not None and self.document is not None:
            self.post_message(Looked(self.view.zoomed(turn, self._time_at(event.x)), run="zoom"))

    def on_mouse_up(self) -> None:
        """Let go."""
        self._grip = None
        self.release_mouse()

    def _move_to(self, x: int) -> None:
        if self.view is None or self.document is None:
            return
        time = self._time_at(x)
        port = self.view.port
        start = time - port.span_ns // 2
        moved = replace(self.view, port=port.to(start, start + port.span_ns))
        self.post_message(Looked(moved.pointed(time, moved.row), run=self._run))

    @property
    def _run(self) -> str:
        return f"{DRAG} {self.id} {self._drags}"

    def _time_at(self, x: int) -> int:
        whole = self._whole()
        return whole.centre(min(max(x - self.label_cells, 0), whole.cells - 1))

    def _whole(self) -> Viewport:
        assert self.document is not None
        cells = max(self.size.width - self.label_cells, 1)
        return Viewport.over(self.document.low_ns, self.document.high_ns, cells)

    def _profile(self, whole: Viewport) -> tuple[str, NDArray[np.uint8]]:
        """Heights and owners of the columns, worked out once."""
        assert self.document is not None and self.view is not None
        key = (whole.cells, self.view.device)
        if self._columns is not None and self._columns[0] == key:
            return self._columns[1], self._columns[2]
        edges = whole.edges()
        layers = np.full(whole.cells, Layer.NONE, dtype=np.uint8)
        if self.document.owners:
            columns = columns_of(self.document.owners[self.view.device], edges[:-1], edges[1:])
            busy, layers = columns.busy, columns.layer
        elif self.document.lanes:
            cells = self.document.lanes[0].row(0).cells(edges)
            busy = cells.busy_ns / np.diff(edges)
        else:
            busy = np.zeros(whole.cells)
        height = np.clip(np.round(busy * len(_HEIGHTS)), 1, len(_HEIGHTS)).astype(np.int64) - 1
        text = "".join(
            " " if share <= 0 and layer == Layer.NONE else _HEIGHTS[level]
            for level, share, layer in zip(
                height.tolist(), busy.tolist(), layers.tolist(), strict=True
            )
        )
        self._columns = (key, text, layers)
        return text, layers
