"""A panel at the bottom of the screen: a title, and lines that can be moved through."""

from __future__ import annotations

from textual import events

from whichlayer.tui.messages import PanelFullAsked, PanelsDragged, PanelWanted
from whichlayer.tui.widgets.pane import Pane

#: Cells of the border before its title.
_TITLE_STARTS = 2


class Panel(Pane, can_focus=True):
    """A part of the screen with a list in it."""

    OF_SPAN = True

    def __init__(self, *, id: str | None = None) -> None:
        """Start at the first line."""
        super().__init__(id=id)
        self.top = 0
        self.chosen = 0
        self.tabs: tuple[str, ...] = ()
        self._dragged = False

    def share_place(self, tabs: tuple[str, ...]) -> None:
        """Name in the title the panels of this place, this one as the one in front."""
        if tabs == self.tabs:
            return
        self.tabs = tabs
        self.border_title = "".join(
            f"[reverse] {name} [/]" if name == self.id and len(tabs) > 1 else f" {name} "
            for name in tabs
        )

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return 0

    @property
    def body_height(self) -> int:
        """How many lines are in sight, headings not counted."""
        return max(self.size.height, 1)

    def move(self, columns: int, rows: int) -> None:
        """Move the panel's cursor."""
        self.choose(self.chosen + rows)

    def page(self, count: int) -> None:
        """Move by screenfuls."""
        self.move(0, count * max(self.body_height - 1, 1))

    def edge(self, side: int) -> None:
        """Move to the first line, or to the last for a positive side."""
        self.choose(self.lines - 1 if side > 0 else 0)

    def follow(self) -> None:
        """Show on the timeline what is chosen."""

    def choose(self, line: int) -> None:
        """Put the panel's cursor on a line and bring it into sight."""
        line = min(max(line, 0), max(self.lines - 1, 0))
        changed = line != self.chosen
        self.chosen = line
        top = min(self.top, line)
        self.top = max(top, line + 1 - self.body_height)
        self.refresh()
        if changed:
            self.line_chosen()

    def line_chosen(self) -> None:
        """Tell the others which line the cursor is on now."""

    def scroll_lines(self, count: int) -> None:
        """Scroll without moving the panel's cursor."""
        top = min(max(self.top + count, 0), max(self.lines - self.body_height, 0))
        if top != self.top:
            self.top = top
            self.refresh()

    def on_focus(self) -> None:
        """The chosen line is shown as such."""
        self.refresh()
        self.line_chosen()

    def on_blur(self) -> None:
        """The chosen line is shown more quietly."""
        self.refresh()

    def content_place(self, event: events.MouseEvent) -> tuple[int, int]:
        """Where the mouse is, from the first cell of the first line; y is -1 on the title."""
        gutter = self.gutter
        return event.x - gutter.left, event.y - gutter.top

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """A click on the title of a tab shows that panel; beside it, the title can be dragged."""
        x, y = self.content_place(event)
        if y >= 0:
            return
        place = x - _TITLE_STARTS
        for name in self.tabs:
            if 0 <= place < len(name) + 2:
                event.stop()
                event.prevent_default()
                self.post_message(PanelWanted(name))
                return
            place -= len(name) + 2
        if self.region.y == self.screen.query_one("#panels").region.y:
            self._dragged = True
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Panels are as high as their title is dragged to."""
        if self._dragged:
            self.post_message(PanelsDragged(int(event.screen_y)))

    def on_mouse_up(self) -> None:
        """Let the title go."""
        if self._dragged:
            self._dragged = False
            self.release_mouse()

    def on_click(self, event: events.Click) -> None:
        """A double click on the title: the whole screen, and back."""
        if event.chain == 2 and self.content_place(event)[1] < 0 and self.id is not None:
            self.post_message(PanelFullAsked(self.id))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll."""
        event.stop()
        self.scroll_lines(-3)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll."""
        event.stop()
        self.scroll_lines(3)
