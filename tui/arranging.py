"""Where the parts of the screen are: laid out for its size, and which panel is in front."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.command import CommandPalette

from whichlayer.tui.actions import KeyActions
from whichlayer.tui.deferred import Deferred
from whichlayer.tui.layout import Arrangement, arrangement_for
from whichlayer.tui.messages import PanelWanted
from whichlayer.tui.widgets.panel import Panel

# What the first picture does without comes with the panes: it brings NumPy.
if TYPE_CHECKING:
    from whichlayer.tui import travel
else:
    travel = Deferred("whichlayer.tui.travel")

#: Lines that the palette needs.
_LEAST_PALETTE = 6


class Arranging(KeyActions):
    """The screen as it lays out its parts."""

    def __init__(self, **settings: Any) -> None:
        """Nothing is laid out yet."""
        super().__init__(**settings)
        self._arranged: Arrangement | None = None
        self._in_front: dict[tuple[str, ...], str] = {}

    def show_again(self) -> None:
        """Show the same view anew: something else is known of it."""
        raise NotImplementedError

    @property
    def _has_panes(self) -> bool:
        return bool(self.screen_stack[0].query("#timeline"))

    @property
    def _cells(self) -> int:
        """Columns of the time axis."""
        label = self._arranged.label_cells if self._arranged is not None else 0
        return max(self.size.width - label, 1)

    @property
    def panel_order(self) -> tuple[str, ...]:
        """The panels from left to right, tabs of one place as its title has them."""
        if self._arranged is None:
            return super().panel_order
        return tuple(name for place in self._arranged.places for name in place)

    def on_resize(self, event: events.Resize) -> None:
        """Lay the parts out for the new size."""
        self.shown.forget()  # terminals move text about
        if self._arranged is not None:
            self.refresh(layout=True)  # there and back, too, which Textual takes for no change
        if event.size.height < _LEAST_PALETTE and isinstance(self.screen, CommandPalette):
            self.pop_screen()
        self._arrange(event.size.width, event.size.height)

    async def action_command_palette(self) -> None:  # type: ignore[override]
        """Open the palette, where Textual has room for its list: without any it fails."""
        if self.size.height >= _LEAST_PALETTE and not isinstance(self.screen, CommandPalette):
            from whichlayer.tui.widgets.command_screen import CommandScreen

            palette = CommandScreen(id="--command-palette")
            await self.push_screen(palette)
            palette.take_focus()

    def _arrange(self, width: int, height: int) -> None:
        # While rows come and go with every snapshot, the timeline has all the room there is; of a
        # part there is nothing to say in panels either.
        document = self.document
        rows = tall = None
        if document is not None and document.is_whole:
            rows, tall = travel.most_rows(document), travel.tallest(document)
        analysis = None if document is None else document.analysis
        has_gpu = analysis is None or bool(analysis.devices)
        arranged = self.sized(arrangement_for(width, height, rows, tall, has_gpu), height)
        if arranged != self._arranged:
            self._arranged = arranged
            if self._has_panes:
                self._place_panels(arranged)
            for pane in self.panes:
                pane.label_cells = arranged.label_cells
        self.show_again()

    def arrange_again(self) -> None:
        """Lay the parts out anew."""
        self._arranged = None
        with self.batch_update():
            self._arrange(self.size.width, self.size.height)

    def _place_panels(self, arranged: Arrangement) -> None:
        for place in arranged.places:
            front = self._in_front.get(place, place[0])
            for name in place:
                panel = self.screen_stack[0].query_one(f"#{name}", Panel)
                if panel.display != (name == front):
                    panel.display = name == front
                panel.share_place(place)
        self.place_parts(arranged)

    def bring_to_front(self, name: str) -> None:
        """Focus a panel or the timeline; a panel that shares its place comes to the front."""
        self.say("")
        with self.batch_update():
            if self._arranged is not None:
                for place in self._arranged.places:
                    if name in place:
                        self._in_front[place] = name
                self._place_panels(self._arranged)
            if self.only is not None:
                self.show_only(name)
            self.query_one(f"#{name}").focus()

    @on(PanelWanted)
    def _panel_wanted(self, message: PanelWanted) -> None:
        self.bring_to_front(message.name)
