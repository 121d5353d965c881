"""A text over the screen that scrolls; enter on a line with ▸ goes to its place."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.markup import escape
from textual.strip import Strip

from whichlayer.tui.palette import Palette
from whichlayer.tui.sheet import Sheet, SheetLine, Target, indent_of, is_table
from whichlayer.tui.widgets.over_screen import OverScreen
from whichlayer.tui.widgets.pane import Pane, Piece, shortened, strip_of
from whichlayer.tui.wrapping import broken

#: As the style sheet has it.
_WIDEST = 160

#: Cells before the text: the mark of a line with a place.
_MARGIN = 2


@dataclass(frozen=True, slots=True)
class Left:
    """How a sheet was left: for a place, for another sheet, or with a key of the caller's."""

    target: Target | None = None
    step: int = 0
    key: str = ""


class TextSheet(OverScreen[Left]):
    """Shows a sheet; gives how it was left."""

    BINDINGS = [  # noqa: RUF012
        ("escape,q", "leave", "close"),
        ("down,j", "move(1)", "next"),
        ("up,k", "move(-1)", "before"),
        ("pagedown,space", "page(1)", "a screenful down"),
        ("pageup,b", "page(-1)", "a screenful up"),
        ("home,g", "edge(0)", "first"),
        ("end,G", "edge(1)", "last"),
        ("tab,n", "place(1)", "next place"),
        ("shift+tab,N", "place(-1)", "place before"),
        ("right_square_bracket,right,l", "other(1)", "next sheet"),
        ("left_square_bracket,left,h", "other(-1)", "sheet before"),
        ("enter", "go", "go there"),
    ]

    def __init__(self, palette: Palette, sheet: Sheet, keys: tuple[str, ...] = ()) -> None:
        """Take the text.

        Args:
            palette: of the screen.
            sheet: what is shown.
            keys: keys that close the sheet with ``Left.key`` set: the caller acts on them.
        """
        super().__init__()
        self.text = SheetText(palette, sheet)
        self._keys = keys

    def compose(self) -> ComposeResult:
        """The text alone."""
        yield self.text

    def action_move(self, lines: int) -> None:
        """Move by lines."""
        self.text.choose(self.text.chosen + lines)

    def action_page(self, pages: int) -> None:
        """Move by screenfuls."""
        self.text.choose(self.text.chosen + pages * max(self.text.size.height - 1, 1))

    def action_edge(self, side: int) -> None:
        """The first or the last line."""
        self.text.choose(side * (len(self.text.rows) - 1))

    def action_place(self, step: int) -> None:
        """The next line that leads somewhere."""
        self.text.choose_place(step)

    def action_other(self, step: int) -> None:
        """Another sheet, where there are more."""
        self.dismiss(Left(step=step))

    def action_go(self) -> None:
        """Close, and go to the place of the line."""
        target = self.text.target
        if target is not None:
            self.dismiss(Left(target=target))

    def on_key(self, event: events.Key) -> None:
        """The caller's keys, and those of every sheet."""
        if event.key in self._keys:
            event.stop()
            event.prevent_default()
            self.dismiss(Left(key=event.key))
        else:
            super().on_key(event)


class SheetText(Pane, can_focus=True):
    """The lines, wrapped to the width."""

    def __init__(self, palette: Palette, sheet: Sheet) -> None:
        """Begin at the top, on the first line that leads somewhere."""
        super().__init__(id="sheet")
        self.palette = palette
        self.sheet = sheet
        self.rows: list[tuple[SheetLine, str, bool]] = []
        self.top = 0
        self.chosen = 0
        self.border_title = escape(f" {sheet.title} ")
        goes = "enter goes to ▸ · tab next ▸ · " if any(one.target for one in sheet.lines) else ""
        more = f"{sheet.keys} · " if sheet.keys else ""
        self.border_subtitle = escape(f" {goes}{more}esc ")

    @property
    def plain(self) -> str:
        """All of the text."""
        return "\n".join(text for _, text, _ in self.rows)

    @property
    def target(self) -> Target | None:
        """Where enter goes."""
        return self.rows[self.chosen][0].target if self.rows else None

    def on_mount(self) -> None:
        """As high as there is text."""
        self.styles.height = len(self._wrapped(max(min(self.app.size.width, _WIDEST) - 4, 20))) + 2

    def on_resize(self) -> None:
        """Wrap anew."""
        first = not self.rows
        kept = self.rows[self.chosen][0] if self.rows else None
        self.rows = self._wrapped(self.size.width)
        self.chosen = next((i for i, row in enumerate(self.rows) if row[0] is kept), 0)
        if first and self.rows:
            places = [i for i, row in enumerate(self.rows) if row[0].target is not None]
            in_sight = [place for place in places if place < self.size.height]
            self.chosen = in_sight[0] if in_sight else 0
        self.choose(self.chosen)

    def choose(self, row: int) -> None:
        """Put the cursor on a line."""
        count, height = len(self.rows), max(self.size.height, 1)
        self.chosen = min(max(row, 0), max(count - 1, 0))
        self.top = max(min(self.top, self.chosen), self.chosen + 1 - height)
        self.top = max(min(self.top, count - height), 0)
        self.refresh()

    def choose_place(self, step: int) -> None:
        """Put the cursor on the next line that leads somewhere."""
        places = [i for i, (line, _, first) in enumerate(self.rows) if line.target and first]
        later = [place for place in places if (place - self.chosen) * step > 0]
        if later:
            self.choose(min(later) if step > 0 else max(later))

    def render_line(self, y: int) -> Strip:
        """One line."""
        palette, width, index = self.palette, self.size.width, self.top + y
        if index >= len(self.rows):
            return strip_of([], width, palette.text)
        line, text, first = self.rows[index]
        style = {"strong": palette.strong, "dim": palette.dim, "accent": palette.accent}.get(
            line.look, palette.text
        )
        fill = palette.text
        if line is self.rows[self.chosen][0] and (line.target or index == self.chosen):
            style = fill = palette.chosen if line.target else palette.marked
        pieces: list[Piece] = [("▸ " if line.target and first else "  ", style)]
        if line.layer is not None and first:
            letter = f" {line.layer.text.letter} "
            pieces += [(letter, palette.layer(line.layer, strong=True)), (" ", style)]
        return strip_of([*pieces, (text, style)], width, fill)

    def on_click(self, event: events.Click) -> None:
        """Choose a line; a second click goes to its place."""
        row = self.top + event.y - self.gutter.top
        if not 0 <= row < len(self.rows) or event.y < self.gutter.top:
            return
        event.stop()
        self.choose(row)
        if event.chain == 2 and isinstance(self.screen, TextSheet):
            self.screen.action_go()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll."""
        event.stop()
        self.choose(self.chosen + 3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll."""
        event.stop()
        self.choose(self.chosen - 3)

    def _wrapped(self, width: int) -> list[tuple[SheetLine, str, bool]]:
        rows: list[tuple[SheetLine, str, bool]] = []
        for line in self.sheet.lines:
            room = max(width - _MARGIN - (4 if line.layer is not None else 0), 8)
            for place, text in enumerate(_broken(line.text, room)):
                rows.append((line, text if place == 0 or line.layer is None else f"    {text}",
                             place == 0))  # fmt: skip
        return rows


def _broken(text: str, room: int) -> list[str]:
    """A paragraph in lines; a line of a table is cut, so that columns stay columns."""
    if cell_len(text) <= room:
        return [text]
    if is_table(text):
        return [shortened(text, room)]
    indent = min(indent_of(text), room // 2)
    parts = broken(text, room)
    rest = " ".join(part.strip() for part in parts[1:])
    return [parts[0], *(" " * indent + part for part in broken(rest, room - indent))]
