"""The region pane: whose the time under the cursor is, why, and where to change it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Region
from textual.strip import Strip

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.report.units import count_text
from whichlayer.tui.deferred import Deferred
from whichlayer.tui.line import Line
from whichlayer.tui.messages import Subject
from whichlayer.tui.ruler import Axis, axis_of, clock_axis
from whichlayer.tui.view import View
from whichlayer.tui.widgets.pane import Pane, Piece, strip_of
from whichlayer.tui.widgets.panel import Panel
from whichlayer.tui.wrapping import broken

# The words come after the first timeline, which does not wait for them.
if TYPE_CHECKING:
    from whichlayer.analysis import results
    from whichlayer.tui import describe, describe_counter, describe_mark, describe_place, go_to
    from whichlayer.tui.document import Document
else:
    go_to = Deferred("whichlayer.tui.go_to")
    results = Deferred("whichlayer.analysis.results")
    describe = Deferred("whichlayer.tui.describe")
    describe_counter = Deferred("whichlayer.tui.describe_counter")
    describe_mark = Deferred("whichlayer.tui.describe_mark")
    describe_place = Deferred("whichlayer.tui.describe_place")

_LABEL = 7


class RegionPane(Panel):
    """Speaks of a focused table's chosen row, else of the selection, else of the cursor."""

    HELP = (
        "Owner, cause, evidence, fix and place of the gap, kernel or call at the cursor. With "
        "a selection: where its time went, which adds up to its length."
    )

    def __init__(self, *, id: str | None = None) -> None:
        """Start empty."""
        super().__init__(id=id)
        self._subject: Subject | None = None
        self._slice = -1
        self._said: list[Line] = []
        self._strips: list[list[Piece]] = []

    @property
    def lines(self) -> int:
        """Lines of text, wrapped."""
        return len(self._strips)

    def view_changed(self, old: View | None) -> None:
        """Nothing by itself: the application tells what is under the cursor."""

    def speak_of(self, subject: Subject | None, slice_row: int) -> None:
        """Take what is chosen in a table, else the slice under the cursor (-1 for none)."""
        self._subject, self._slice = subject, slice_row
        said = self._describe()
        if said == self._said:
            return
        before = [self.render_line(y) for y in range(self.size.height)]
        self._said = said
        self.top = 0
        self._wrap()
        for y, line in enumerate(before):
            if line != self.render_line(y):
                self.refresh(Region(0, y, self.size.width, 1))

    def document_changed(self) -> None:
        """Say it in the new colours, of the new document; of something else, from its title on."""
        said = self._describe()
        if said[:1] != self._said[:1]:
            self.top = 0
        self._said = said
        self._wrap()

    def on_resize(self) -> None:
        """Wrap anew."""
        self._wrap()
        self.refresh()

    def choose(self, line: int) -> None:
        """There is no chosen line here: moving scrolls."""
        self.scroll_lines(line - self.top)

    def scroll_lines(self, count: int) -> None:
        """Scroll, to where the last line is the last in sight."""
        top = min(max(self.top + count, 0), max(self.lines - self.size.height, 0))
        if top != self.top:
            self.top = top
            self.refresh()

    def move(self, columns: int, rows: int) -> None:
        """Scroll."""
        self.scroll_lines(rows)

    def read_on(self) -> None:
        """The next screenful; from the end, the start."""
        if self._hidden:
            self.page(1)
        else:
            self.scroll_lines(-self.top)

    def render_line(self, y: int) -> Strip:
        """One line of text, or as the last how much follows below it."""
        width, palette = self.size.width, self.palette
        if self._hidden and y == self.size.height - 1:
            text = f"▼ {count_text(self._hidden, 'more line')}: r reads on"
            if len(text) > width:
                text = f"▼ {self._hidden} more: r"
            return strip_of([(text, palette.accent)], width, palette.text)
        return strip_of(_at(self._strips, self.top + y), width, palette.text)

    @property
    def body_height(self) -> int:
        """How many lines of text are in sight: the mark that more follows takes one."""
        return max(self.size.height - bool(self._hidden), 1)

    @property
    def _hidden(self) -> int:
        """Lines below those in sight."""
        height = self.size.height
        below = len(self._strips) - self.top - height
        return below + 1 if below > 0 and height > 1 else 0

    @property
    def said(self) -> tuple[Line, ...]:
        """What the pane says, paragraph by paragraph."""
        return tuple(self._said)

    @property
    def text(self) -> str:
        """Everything that the pane says."""
        return "\n".join("".join(text for text, _ in line) for line in self._strips)

    def _describe(self) -> list[Line]:
        document, view = self.document, self.view
        if document is None or view is None:
            return [Line(self.waiting)]
        analysis = document.analysis
        if self._subject is not None and analysis is not None:
            if isinstance(self._subject, results.Finding):
                return describe.describe_finding(analysis, self._subject)
            if isinstance(self._subject, TraceWarning):
                return describe.describe_warning(self._subject)
            return describe.describe_group(analysis, self._subject)
        if view.selection is not None:
            return describe_place.describe_selection(
                document, view.device, *view.selection, self._axis(document, view)
            )
        counter = describe_counter.describe_counter(document, view)
        counter = counter or describe_mark.describe_mark(document, view)
        instant = describe_place.describe_instant(
            document, view.device, view.cursor_ns, self._slice, self._axis(document, view)
        )
        said = [*counter, Line(""), *instant] if counter and instant else counter or instant
        if view.clock and said:
            at = go_to.wall_clock_text(document.trace, view.cursor_ns)
            return [*said, Line(at, label="clock")]
        return said

    @staticmethod
    def _axis(document: Document, view: View) -> Axis:
        """The ruler above, whose unit times are told in."""
        zero = go_to.wall_clock_ns(document.trace) if view.clock else None
        return axis_of(view.port) if zero is None else clock_axis(view.port, zero)

    def _wrap(self) -> None:
        width = self.size.width
        self._strips = [
            pieces for line in self._said for pieces in wrapped(self, line, max(width, 8))
        ]


def _at(lines: list[list[Piece]], index: int) -> list[Piece]:
    return lines[index] if index < len(lines) else []


def wrapped(pane: Pane, line: Line, width: int) -> list[list[Piece]]:
    """A paragraph as lines of pieces that fit a width."""
    palette = pane.palette
    style = palette.strong if line.strong else palette.text
    lead: list[Piece] = []
    indent = 0
    if line.layer is not None:
        lead = [
            (f" {line.layer.text.letter} ", palette.layer(line.layer, strong=True)),
            (" ", style),
        ]
        indent = 4
    elif line.label:
        lead = [(f"{line.label:<{_LABEL}}", palette.dim)]
        indent = _LABEL
    parts = broken(line.text, max(width - indent, 4))
    pieces = [[*lead, (parts[0], style)]]
    pieces += [[(" " * indent, style), (part, style)] for part in parts[1:]]
    return pieces
