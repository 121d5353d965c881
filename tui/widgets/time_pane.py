"""A part of the screen that lies on the time axis: what the mouse does there."""

from __future__ import annotations

from textual import events

from whichlayer.tui.carry import shift_between
from whichlayer.tui.document import Document
from whichlayer.tui.messages import DRAG, FitAsked, Looked
from whichlayer.tui.view import View
from whichlayer.tui.widgets.pane import Pane

#: Columns of one step of a wheel that pans.
_WHEEL_CELLS = 8
_RIGHT_BUTTON = 3


class TimePane(Pane):
    """Click sets the cursor, drag selects, the wheel zooms about the pointer."""

    def __init__(self, *, id: str | None = None) -> None:
        """Start without a drag."""
        super().__init__(id=id)
        self._drag_from: tuple[int, int] | None = None
        self._drags = 0

    def show(self, document: Document | None, view: View | None) -> None:
        """Take what is to be shown; a drag goes on from the same instant."""
        old = self.document
        if self._drag_from is not None and document is not old and document and old:
            time, x = self._drag_from
            self._drag_from = (time + shift_between(old, document), x)
        super().show(document, view)

    def row_under(self, y: int) -> int:
        """The line of the timeline that a click puts the cursor on; -1 for none."""
        return -1 if self.view is None else self.view.row

    def instant_under(self, x: int) -> int:
        """The instant that a click in a column puts the cursor on."""
        return self._time(x)

    def label_clicked(self, y: int) -> None:
        """The label of a line was clicked."""

    def label_menu(self, y: int) -> None:
        """The label of a line was clicked with the other button."""

    def labels_scrolled(self, lines: int) -> None:
        """The wheel was turned over the labels."""

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Put the cursor there and begin a drag."""
        row = self.row_under(event.y)
        if self.view is None or row < 0:
            return
        if event.button == _RIGHT_BUTTON and event.x < self.label_cells:
            self.label_menu(event.y)
        elif event.button == _RIGHT_BUTTON:
            self.post_message(Looked(self.view.cleared()))
        elif event.x < self.label_cells:
            self.label_clicked(event.y)
        else:
            time = self.instant_under(event.x)
            self._drag_from = (time, event.x)
            self._drags += 1
            self.capture_mouse()
            self.post_message(Looked(self.view.pointed(time, row)))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Select from where the button went down."""
        if self._drag_from is None or self.view is None or event.x == self._drag_from[1]:
            return
        time = self._time(event.x)
        selected = self.view.selected(self._drag_from[0], time)
        self.post_message(Looked(selected, run=f"{DRAG} {self.id} {self._drags}"))

    def on_mouse_up(self) -> None:
        """End the drag."""
        self._drag_from = None
        self.release_mouse()

    def on_click(self, event: events.Click) -> None:
        """A double click fits what is under the mouse."""
        if event.chain == 2 and event.x >= self.label_cells:
            self.post_message(FitAsked())

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Zoom in about the pointer; with shift or ctrl, pan."""
        self._wheel(event, 1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Zoom out about the pointer; with shift or ctrl, pan."""
        self._wheel(event, -1)

    def _wheel(self, event: events.MouseScrollUp | events.MouseScrollDown, turn: int) -> None:
        # Textual would scroll a container sideways for shift and ctrl.
        event.stop()
        event.prevent_default()
        if self.view is None:
            return
        if event.x < self.label_cells:
            self.labels_scrolled(-turn * 2)
        elif event.shift or event.ctrl:
            self.post_message(Looked(self.view.panned(-turn * _WHEEL_CELLS), run="pan"))
        else:
            self.post_message(Looked(self.view.zoomed(turn, self._time(event.x)), run="zoom"))

    def _time(self, x: int) -> int:
        if self.view is None:
            return 0
        port = self.view.port
        return port.centre(min(max(x - self.label_cells, 0), port.cells - 1))
