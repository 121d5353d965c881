"""The pane of what the program prints, small beside the timeline or over the whole screen."""

from __future__ import annotations

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.message import Message
from textual.strip import Strip

from whichlayer.tui.live.output_text import ProgramOutput
from whichlayer.tui.palette import Palette
from whichlayer.tui.view import View
from whichlayer.tui.widgets.over_screen import LeavesOnce
from whichlayer.tui.widgets.pane import Pane, Piece, strip_of


class OutputAsked(Message):
    """The user wants to see all of the output."""


class OutputPane(Pane):
    """The last lines that the program has printed."""

    HELP = "What the program prints, and what was told about recording; O shows all of it."

    def __init__(self, output: ProgramOutput, title: str, *, id: str | None = None) -> None:
        """Take the lines; ``renew`` shows what was added."""
        super().__init__(id=id)
        self.output = output
        self.border_title = title
        self._painted = -1

    def view_changed(self, old: View | None) -> None:
        """Nothing here depends on the view."""

    def renew(self) -> None:
        """Repaint if there is more."""
        if self.output.edition != self._painted:
            self._painted = self.output.edition
            self.refresh()

    def on_click(self) -> None:
        """All of it."""
        self.post_message(OutputAsked())

    def render_line(self, y: int) -> Strip:
        """A line, the newest at the bottom; from the top while there are few."""
        lines = self.output.last(self.size.height)
        pieces = lines[y] if y < len(lines) else ()
        return program_line(pieces, self.size.width, self.palette)


class WholeOutput(Pane, can_focus=True):
    """All lines that are kept, to be scrolled; it stays at the end until it is moved."""

    def __init__(self, output: ProgramOutput, palette: Palette, title: str) -> None:
        """Begin at the end."""
        super().__init__(id="whole-output")
        self.output, self.palette = output, palette
        self.border_title = title
        self.border_subtitle = " ↑ ↓ pgup pgdn home end scroll · O esc closes "
        self._top: int | None = None
        self._painted = -1
        self._lines = output.lines()

    def renew(self) -> None:
        """Take what was added."""
        if self.output.edition != self._painted:
            self._painted = self.output.edition
            before, self._lines = len(self._lines), self.output.lines()
            if self._top is None or before != len(self._lines):
                self.refresh()

    @property
    def top(self) -> int:
        """The first line in sight."""
        most = max(len(self._lines) - self.size.height, 0)
        return most if self._top is None else min(self._top, most)

    def scroll_by(self, lines: int) -> None:
        """Scroll; at the end it follows again."""
        most = max(len(self._lines) - self.size.height, 0)
        top = min(max(self.top + lines, 0), most)
        self._top = None if top >= most else top
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line."""
        place = self.top + y
        pieces = self._lines[place] if place < len(self._lines) else ()
        return program_line(pieces, self.size.width, self.palette)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll."""
        event.stop()
        self.scroll_by(-3)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll."""
        event.stop()
        self.scroll_by(3)


class OutputScreen(LeavesOnce[None]):
    """The program's output over the whole screen."""

    BINDINGS = [  # noqa: RUF012
        ("escape,q,O", "dismiss", "close"),
        ("down,j", "move(1)", "down"),
        ("up,k", "move(-1)", "up"),
        ("pagedown,space", "page(1)", "a screenful down"),
        ("pageup", "page(-1)", "a screenful up"),
        ("home,g", "move(-10000000)", "first"),
        ("end,G", "move(10000000)", "last"),
    ]

    def __init__(self, output: ProgramOutput, palette: Palette, title: str) -> None:
        """Take the lines."""
        super().__init__()
        self.whole = WholeOutput(output, palette, title)

    def compose(self) -> ComposeResult:
        """The lines alone."""
        yield self.whole

    def on_mount(self) -> None:
        """Show what is added, a few times a second."""
        self.set_interval(0.2, self.whole.renew)

    def action_move(self, lines: int) -> None:
        """Scroll by lines."""
        self.whole.scroll_by(lines)

    def action_page(self, pages: int) -> None:
        """Scroll by screenfuls."""
        self.whole.scroll_by(pages * max(self.whole.size.height - 1, 1))


def program_line(pieces: tuple[Piece, ...], width: int, palette: Palette) -> Strip:
    """A line of the program's on the screen's ground; what is too long is cut, with a mark."""
    ground = palette.text
    shown: list[Piece] = [(text, ground + style) for text, style in pieces]
    if sum(cell_len(text) for text, _ in pieces) > width > 0:
        cut = strip_of(shown, width - 1, ground)
        return Strip([*cut, *strip_of([("…", palette.dim)], 1, ground)], width)
    return strip_of(shown, width, ground)
