"""A list over the screen: one line of it is chosen, or told to go."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.geometry import Region
from textual.markup import escape
from textual.strip import Strip

from whichlayer.analysis.text import clean
from whichlayer.tui.palette import Palette
from whichlayer.tui.widgets.over_screen import OverScreen
from whichlayer.tui.widgets.pane import Pane, Piece, shortened, strip_of

#: What is done by a click on what the lower edge says of a key, by that key.
_BY_WORD = {"enter": "choose", "d": "remove", "r": "rename", "esc": "leave"}

#: Cells between two columns.
_BETWEEN = 2


@dataclass(frozen=True, slots=True)
class Listed:
    """What a list shows.

    Attributes:
        title: of the sheet.
        heading: of each column; the first is as wide as there is room, the others as needed.
        rows: texts by column; those behind the first are set to the right.
        nothing: what is said where there are no rows.
        keys: what keys do here.
    """

    title: str
    heading: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    nothing: str
    keys: str


class ListSheet(OverScreen[int]):
    """Gives the number of the chosen row, or None."""

    BINDINGS = [  # noqa: RUF012
        ("escape,q", "leave", "close"),
        ("down,j", "move(1)", "next"),
        ("up,k", "move(-1)", "before"),
        ("pagedown,space", "page(1)", "a screenful down"),
        ("pageup", "page(-1)", "a screenful up"),
        ("home,g", "edge(0)", "first"),
        ("end,G", "edge(1)", "last"),
        ("enter", "choose", "choose"),
        ("delete,x,d", "remove", "delete"),
        ("r", "rename", "rename"),
    ]

    def __init__(
        self,
        palette: Palette,
        listed: Listed,
        chosen: int = 0,
        remove: Callable[[int], Listed] | None = None,
    ) -> None:
        """Take the list, and what deletes a row and gives the list that is left."""
        super().__init__()
        self._removing = remove
        self.renaming: Callable[[int], Awaitable[None]] | None = None
        self.rows = ListedRows(palette, listed, chosen)

    def compose(self) -> ComposeResult:
        """The list alone."""
        yield self.rows

    def action_choose(self) -> None:
        """Close with the chosen row."""
        self.dismiss(self.rows.chosen if self.rows.listed.rows else None)

    def action_move(self, rows: int) -> None:
        """Choose another row."""
        self.rows.choose(self.rows.chosen + rows)

    def action_page(self, pages: int) -> None:
        """Choose a row a screenful away."""
        self.rows.choose(self.rows.chosen + pages * max(self.rows.body - 1, 1))

    def action_edge(self, side: int) -> None:
        """Choose the first or the last row."""
        self.rows.choose((len(self.rows.listed.rows) - 1) * side)

    def action_remove(self) -> None:
        """Delete the chosen row, where rows can be deleted."""
        if self._removing is not None and self.rows.listed.rows:
            self.rows.take(self._removing(self.rows.chosen))

    async def action_rename(self) -> None:
        """Close to give the chosen row another name, where rows can have one."""
        if self.renaming is not None and self.rows.listed.rows:
            renaming, row = self.renaming, self.rows.chosen
            self.dismiss(None)
            await renaming(row)


class ListedRows(Pane, can_focus=True):
    """The rows, with a heading over them."""

    def __init__(self, palette: Palette, listed: Listed, chosen: int) -> None:
        """Show a list with a row chosen."""
        super().__init__(id="listed")
        self.palette = palette
        self.listed = listed
        self.chosen = min(chosen, max(len(listed.rows) - 1, 0))
        self.top = 0
        self._entitle()

    def take(self, listed: Listed) -> None:
        """Show another list."""
        self.listed = listed
        self._entitle()
        self.choose(self.chosen)
        self.refresh(layout=True)

    @property
    def body(self) -> int:
        """Rows in sight."""
        return max(self.size.height - 1, 1)

    def on_mount(self) -> None:
        """As high as it has rows."""
        self._fit()

    def on_resize(self) -> None:
        """The chosen row stays in sight."""
        self.choose(self.chosen)

    def choose(self, row: int) -> None:
        """Put the cursor on a row."""
        count = len(self.listed.rows)
        self.chosen = min(max(row, 0), max(count - 1, 0))
        self.top = max(min(self.top, self.chosen), self.chosen + 1 - self.body)
        self.top = min(self.top, max(count - self.body, 0))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """The heading, then rows."""
        palette, width = self.palette, self.size.width
        rows, index = self.listed.rows, self.top + y - 1
        if y == 0:
            text = self._line(self.listed.heading) if rows else self.listed.nothing
            return strip_of([(text, palette.dim)], width, palette.text)
        if index >= len(rows):
            return strip_of([], width, palette.text)
        style = palette.chosen if index == self.chosen else palette.text
        pieces: list[Piece] = [(self._line(rows[index]), style)]
        return strip_of(pieces, width, style)

    async def on_click(self, event: events.Click) -> None:
        """Choose a row; a second click goes there, one on a word of the last line does that."""
        gutter = self.gutter
        if event.y == self.outer_size.height - 1:
            event.stop()
            await self._do_what_is_written(event.x)
            return
        row = self.top + event.y - gutter.top - 1
        if event.y - gutter.top < 1 or row >= len(self.listed.rows):
            return
        event.stop()
        self.choose(row)
        if event.chain == 2 and isinstance(self.screen, ListSheet):
            self.screen.action_choose()

    async def _do_what_is_written(self, x: int) -> None:
        """What the keys named at a column of the lower edge do."""
        width, height = self.outer_size
        line = self.render_lines(Region(0, height - 1, width, 1))[0].text
        word = line[: x + 1].rpartition("·")[2] + line[x + 1 :].partition("·")[0]
        key = word.strip(" ─╰╯").partition(" ")[0]
        action = _BY_WORD.get(key)
        if action is not None:
            await self.screen.run_action(action)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll."""
        event.stop()
        self.choose(self.chosen + 3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll."""
        event.stop()
        self.choose(self.chosen - 3)

    def _entitle(self) -> None:
        self.border_title = escape(f" {self.listed.title} ")
        self.border_subtitle = escape(f" {self.listed.keys} ")
        if self.is_mounted:
            self._fit()

    def _fit(self) -> None:
        self.styles.height = len(self.listed.rows) + 3

    def _line(self, texts: tuple[str, ...]) -> str:
        width = self.size.width
        every = [self.listed.heading, *self.listed.rows[self.top : self.top + self.body]]
        rest = [
            max(cell_len(row[column]) for row in every) + _BETWEEN
            for column in range(1, len(self.listed.heading))
        ]
        # What there is no room for goes from the right, but for the first of the figures.
        while len(rest) > 1 and width - sum(rest) < max(width // 3, 10):
            rest.pop()
        first = shortened(clean(texts[0]), max(width - sum(rest), 1))
        figures = zip(texts[1:], rest, strict=False)
        return first + "".join(" " * (cells - cell_len(text)) + text for text, cells in figures)
