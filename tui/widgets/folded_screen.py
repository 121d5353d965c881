"""All steps over one another, over the screen: median and spread of every position, with a cursor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.geometry import Size
from textual.markup import escape
from textual.strip import Strip

from whichlayer.analysis.layers import Layer, layer_name
from whichlayer.analysis.report.units import count_text, share_text, time_text
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.steps.folded import Folded, fold_steps
from whichlayer.analysis.text import clean
from whichlayer.tui import folded_sheet
from whichlayer.tui.document import Document
from whichlayer.tui.folded_chart import ABOVE, BELOW, MEDIAN, NOTHING, Curve, bands, curves_of
from whichlayer.tui.palette import Palette, mixed
from whichlayer.tui.ruler import axis_of
from whichlayer.tui.sheet import SheetLine, Target
from whichlayer.tui.viewport import Viewport
from whichlayer.tui.widgets.over_screen import OverScreen
from whichlayer.tui.widgets.pane import Pane, Piece, shortened, strip_of
from whichlayer.tui.wrapping import broken

#: Cells of labels at the left, and of figures at the cursor at the right.
_LABEL, _FIGURES = 16, 15

#: Lines of a curve at most: of the gaps, of others.
_MOST_LINES, _MOST_LANE_LINES = 16, 6

#: From this height on, how the chart is computed is in sight without scrolling.
_TOLD_HEIGHT = 30

#: Lines of the list of differences that are in sight at least.
_LEAST_LISTED = 4

_EIGHTHS = " ▁▂▃▄▅▆▇█"

#: What a full cell of a band is drawn with; the dotted one is told from the others without colours.
_FULL = {ABOVE: "░", MEDIAN: "█", BELOW: "█"}

#: How much of its colour a band has.
_SHARES = {ABOVE: 0.7, MEDIAN: 0.75, BELOW: 1.0}

_KEYS = "← → position · ↑ ↓ where steps differ · enter goes there · esc "


@dataclass(frozen=True, slots=True)
class _Row:
    """A line below the ruler: of the chart (its cells), or text with what it leads to."""

    label: str = ""
    cells: tuple[tuple[str, Style], ...] = ()
    curve: int = -1
    text: str = ""
    entry: int = -1
    line: SheetLine | None = None
    look: str = "text"


class FoldedScreen(OverScreen[Target]):
    """Gives the place to go to."""

    OWN = "folded"
    BINDINGS = [  # noqa: RUF012
        ("escape,q", "leave", "close"),
        ("left,h", "move(-1)", "position before"),
        ("right,l", "move(1)", "next position"),
        ("home,g", "edge(0)", "first position"),
        ("end,G", "edge(1)", "last position"),
        ("down,j,tab", "entry(1)", "next place where steps differ"),
        ("up,k,shift+tab", "entry(-1)", "the one before"),
        ("pagedown,space", "page(1)", "a screenful down"),
        ("pageup,b", "page(-1)", "a screenful up"),
        ("enter", "go", "go there"),
    ]

    def __init__(self, palette: Palette, document: Document, device: int) -> None:
        """Take what is shown; the document has an analysis with at least one device."""
        super().__init__()
        self.plot = FoldedPlot(palette, document, device)

    def compose(self) -> ComposeResult:
        """The chart alone."""
        yield self.plot

    def action_move(self, cells: int) -> None:
        """Move the cursor."""
        self.plot.point(self.plot.column + cells)

    def action_edge(self, side: int) -> None:
        """The first or the last position."""
        self.plot.point(side * (self.plot.bins - 1))

    def action_entry(self, step: int) -> None:
        """Choose another line of the list."""
        self.plot.choose(self.plot.chosen + step)

    def action_page(self, pages: int) -> None:
        """Scroll."""
        self.plot.scroll_by(pages * max(self.plot.size.height - 2, 1))

    def action_go(self) -> None:
        """Close, and go to the place."""
        target = self.plot.target
        if target is not None:
            self.dismiss(target)


class FoldedPlot(Pane, can_focus=True):
    """The ruler, the curves below it, what is at the cursor, and where steps differ."""

    def __init__(self, palette: Palette, document: Document, device: int) -> None:
        """Begin at the place where steps differ most."""
        super().__init__(id="folded")
        assert document.analysis is not None
        self.palette, self.document = palette, document
        self._device = device
        self.column, self.chosen, self.top = 0, -1, 0
        self.entries: tuple[SheetLine, ...] = ()
        self.found: Folded | None = None
        self.curves: tuple[Curve, ...] = ()
        self._rows: list[_Row] = []
        self.border_title = escape(f" {folded_sheet.title_of(self._analysis, device)} ")
        self.border_subtitle = escape(f" {_KEYS}")

    @property
    def _analysis(self) -> Analysis:
        assert self.document is not None and self.document.analysis is not None
        return self.document.analysis

    @property
    def bins(self) -> int:
        """Positions."""
        return max(self.size.width - _LABEL - _FIGURES, 10)

    @property
    def plain(self) -> str:
        """All of the text, the chart as characters."""
        lines = [self._text_of(row) for row in self._rows]
        return "\n".join([self._ruler_text(), *lines])

    @property
    def target(self) -> Target | None:
        """Where enter goes: what the chosen line tells of, else the longest idle at the cursor."""
        if 0 <= self.chosen < len(self.entries):
            return self.entries[self.chosen].target
        found = self.found
        return None if found is None else folded_sheet.target_of(found, self.column)

    def on_resize(self) -> None:
        """Other positions: the cursor stays at its time."""
        before, found = self.found, None
        self.found = fold_steps(self._analysis, self._device, self.bins)
        if self.found is None:
            self._rows = self._nothing()
            self.refresh()
            return
        found = self.found
        assert self.document is not None
        device = self._analysis.devices[self._device].number
        self.curves = (
            Curve("gaps", "gaps", found.low, found.median, found.high),
            *curves_of(self._analysis.trace, self.document.lanes, device, found),
        )
        unlike = folded_sheet.outliers(self._analysis, self._device)
        self._differ = folded_sheet.differences(self._analysis, found)
        self.entries = (*self._differ, *unlike)
        if before is None:
            self.chosen = 0 if self.entries else -1
            self.column = self._column_of(self.chosen)
        else:
            at = int(before.offset_ns[min(self.column, len(before.median) - 1)])
            self.column = self._column_at(at)
            self.chosen = min(self.chosen, len(self.entries) - 1)
        self._lay_out()

    def point(self, column: int) -> None:
        """Put the cursor on a position; no line of the list is chosen then."""
        self.column, self.chosen = min(max(column, 0), self.bins - 1), -1
        self._lay_out()

    def choose(self, entry: int) -> None:
        """Choose a line of the list, the cursor on where it speaks of."""
        if not self.entries:
            return
        self.chosen = min(max(entry, 0), len(self.entries) - 1)
        self.column = self._column_of(self.chosen)
        self._lay_out()
        mine = [place for place, row in enumerate(self._rows) if row.entry == self.chosen]
        height = max(self.size.height - 2, 1)
        if mine:
            self.top = max(min(self.top, mine[0]), mine[-1] + 1 - height)

    def scroll_by(self, lines: int) -> None:
        """Scroll what is below the ruler."""
        most = max(len(self._rows) - max(self.size.height - 1, 1), 0)
        self.top = min(max(self.top + lines, 0), most)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """The ruler, then what is below it."""
        palette, width = self.palette, self.size.width
        if self.found is None:
            text = self._rows[y].text if y < len(self._rows) else ""
            return strip_of([(text, palette.text)], width, palette.text)
        if y == 0:
            return strip_of(self._ruler(), width, palette.text)
        place = self.top + y - 1
        below = len(self._rows) - self.top - (self.size.height - 2)
        if y == self.size.height - 1 and below > 1:
            more = f"▼ {below} more lines: space, page up and down"
            return strip_of([(more, palette.accent)], width, palette.text)
        if place >= len(self._rows):
            return strip_of([], width, palette.text)
        row = self._rows[place]
        if row.cells:
            return strip_of(self._chart_line(row), width, palette.text)
        styles = {"dim": palette.dim, "accent": palette.accent, "strong": palette.strong}
        style = fill = styles.get(row.look, palette.text)
        if row.entry >= 0 and row.entry == self.chosen:
            style = fill = palette.chosen
        pieces: list[Piece] = []
        if row.line is not None:
            pieces.append(("▸ " if row.line.target else "  ", style))
            if row.line.layer is not None:
                letter = f" {row.line.layer.text.letter} "
                pieces += [(letter, palette.layer(row.line.layer, strong=True)), (" ", style)]
        return strip_of([*pieces, (row.text, style)], width, fill)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """All that there is."""
        return container.height

    def on_click(self, event: events.Click) -> None:
        """Point at a position, or choose a line; a second click goes there."""
        x, y = event.x - self.gutter.left, event.y - self.gutter.top
        place = self.top + y - 1
        event.stop()
        if self.found is None or y < 0:
            return
        row = self._rows[place] if 0 <= place < len(self._rows) else _Row()
        if row.entry >= 0:
            self.choose(row.entry)
        elif _LABEL <= x < _LABEL + self.bins and (y == 0 or row.cells):
            self.point(x - _LABEL)
        else:
            return
        if event.chain == 2 and isinstance(self.screen, FoldedScreen):
            self.screen.action_go()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll."""
        event.stop()
        self.scroll_by(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll."""
        event.stop()
        self.scroll_by(-3)

    # What the lines are

    def _lay_out(self) -> None:
        room = max(self.size.width - 1, 10)
        said: list[_Row] = [_Row(text=text) for text in broken(self._at_cursor(), room)]
        listed: list[_Row] = [_Row()]
        headings = {0: "Where steps differ most", len(self._differ): "Steps unlike the others"}
        for place, entry in enumerate(self.entries):
            if place in headings:
                listed.append(_Row(text=headings[place], look="accent"))
            indent = 2 + 4 * (entry.layer is not None)
            parts = broken(entry.text, max(room - indent, 8))
            listed.append(_Row(text=parts[0], entry=place, line=entry))
            listed += [_Row(text=" " * indent + part, entry=place) for part in parts[1:]]
        told = [_Row()]
        for text in folded_sheet.how_told(self._analysis, self.found) if self.found else ():
            told += [_Row(text=part, look="dim") for part in broken(text, room)]
        others = len(said) + min(len(listed), self.size.height // 3)
        others += len(told) if self.size.height >= _TOLD_HEIGHT else 0
        heights = self._heights(max(others, len(said) + _LEAST_LISTED))
        chart = []
        for place, lines in enumerate(heights):
            chart += self._curve_rows(place, lines)
            if not place:
                chart.append(self._owner_row())
        self._rows = [*chart, *said, *listed, *told]
        self.scroll_by(0)

    def _heights(self, others: int) -> list[int]:
        """Lines of each curve: one each, then more for the gaps, then for all."""
        heights = [1] * len(self.curves)
        left = self.size.height - 2 - others - len(heights)
        lanes = len(heights) - 1
        gaps = min(max(self.size.height // 5, 3), _MOST_LINES)
        most = [gaps] + [_MOST_LANE_LINES] * lanes
        heights[0] += 2  # less than three lines show no spread
        left -= 2
        # The gaps get three lines where the lanes get one.
        while left > 0 and heights != most:
            for _ in range(3):
                if left > 0 and heights[0] < most[0]:
                    heights[0] += 1
                    left -= 1
            if lanes and left >= lanes and heights[1] < most[1]:
                heights[1:] = [heights[1] + 1] * lanes
                left -= lanes
            elif heights[0] == most[0]:
                break
        return heights

    def _curve_rows(self, place: int, lines: int) -> list[_Row]:
        curve = self.curves[place]
        foot, filled, above = bands(curve, lines)
        styles: dict[tuple[str, int, int], Style] = {}
        colours = self._colours(curve)
        rows = []
        for line in range(lines):
            cells = []
            for column, (low, eighths, high) in enumerate(
                zip(foot[line].tolist(), filled[line].tolist(), above[line].tolist(), strict=True)
            ):
                key = (colours[column], low, high if eighths < 8 else NOTHING)
                if key not in styles:
                    styles[key] = self._style(*key)
                glyph = " " if low == NOTHING else _EIGHTHS[eighths]
                if low != NOTHING and eighths == 8:
                    glyph = _FULL[low]
                cells.append((glyph, styles[key]))
            rows.append(_Row("" if line else curve.label, tuple(cells), -1 if line else place))
        return rows

    def _colours(self, curve: Curve) -> list[str]:
        colours = self.palette.colours
        if curve.group != "gaps" or self.found is None:
            one = colours.accent if curve.group == "gpu" else colours.dim
            return [one] * len(curve.median)
        return [
            colours.faint if owner == Layer.NONE else colours.layers[Layer(owner)]
            for owner in self.found.owner.tolist()
        ]

    def _style(self, colour: str, band: int, above: int) -> Style:
        def shade(one: int) -> str:
            colours = self.palette.colours
            return colour if colours.flat else mixed(colours.canvas, colour, _SHARES[one])

        if band == NOTHING:
            return self.palette.text
        # A dotted band above an edge is left to the next cell: two bands have one ground.
        ground = shade(above) if above in (MEDIAN, BELOW) else ""
        return self.palette.style(shade(band), ground)

    def _owner_row(self) -> _Row:
        assert self.found is not None
        cells = []
        idle = np.nan_to_num(self.found.high).tolist()
        for owner, share in zip(self.found.owner.tolist(), idle, strict=True):
            layer = Layer(owner)
            if share >= 0.1 and layer != Layer.NONE:
                cells.append((layer.text.letter, self.palette.layer(layer, strong=False)))
            else:
                cells.append(("·", self.palette.faint))
        return _Row("  owner", tuple(cells))

    def _chart_line(self, row: _Row) -> list[Piece]:
        palette, low, high = self.palette, *self._stretch()
        pieces: list[Piece] = [(shortened(f" {row.label}", _LABEL - 1) + " ", palette.dim)]
        for column, (glyph, style) in enumerate(row.cells):
            if column == self.column:
                style = palette.style(palette.colours.accent, palette.colours.marked, bold=True)
                glyph = "│" if glyph == " " else glyph
            elif glyph == " " and low <= column < high:
                style = palette.style(palette.colours.text, palette.colours.marked)
            pieces.append((glyph, style))
        if row.curve >= 0:
            pieces.append((self._figures(self.curves[row.curve]), palette.text))
        return pieces

    def _figures(self, curve: Curve) -> str:
        """Median and spread at the cursor."""
        median, low, high = (
            float(one[self.column]) for one in (curve.median, curve.low, curve.high)
        )
        if np.isnan(median):
            return f"{'–':>5}"
        return f"{100 * median:>4.0f} % {100 * low:.0f}–{100 * high:.0f}"

    def _stretch(self) -> tuple[int, int]:
        """Positions that the chosen line speaks of."""
        if not 0 <= self.chosen < len(self._differ) or self.found is None:
            return 0, 0
        target = self._differ[self.chosen].target
        if target is None:
            return 0, 0
        rows = [
            row for row in self.found.rows
            if row.start_ns <= target.start_ns < row.end_ns
        ]  # fmt: skip
        start = rows[0].start_ns if rows else 0
        return self._column_at(target.start_ns - start), self._column_at(
            target.end_ns - start - 1
        ) + 1

    def _column_at(self, offset_ns: int) -> int:
        assert self.found is not None
        place = int(np.searchsorted(self.found.offset_ns, offset_ns, "right")) - 1
        return min(max(place, 0), len(self.found.median) - 1)

    def _column_of(self, entry: int) -> int:
        """Within a stretch where steps differ, the position where they do most."""
        if not 0 <= entry < len(self._differ) or self.found is None:
            return self.column
        before, self.chosen = self.chosen, entry
        low, high = self._stretch()
        self.chosen = before
        if high <= low:
            return self.column
        return low + int(np.nan_to_num(self.found.spread)[low:high].argmax())

    def _at_cursor(self) -> str:
        found = self.found
        assert found is not None
        low, high = (int(found.offset_ns[self.column + side]) for side in (0, 1))
        if not found.steps[self.column]:
            return f"▼ {time_text(low)} to {time_text(high)}: no step is as long"
        shares = [
            share_text(float(one[self.column])) for one in (found.median, found.low, found.high)
        ]
        layer = Layer(int(found.owner[self.column]))
        vendor = self._analysis.devices[self._device].vendor
        owner = f", mostly {layer_name(layer, vendor)}" if layer != Layer.NONE else ""
        row = found.rows[int(found.worst[self.column])]
        return (
            f"▼ {time_text(low)} to {time_text(high)}: {shares[0]} in gaps in the median of "
            f"{count_text(int(found.steps[self.column]), 'step')}, {shares[1]} to {shares[2]} in 8 of "
            f"10{owner}; most in {clean(row.label)} (enter goes there)"
        )

    def _ruler(self) -> list[Piece]:
        text = self._ruler_text(around=True)
        heading = f"{'':<2}at the cursor"
        body = text[_LABEL : _LABEL + self.bins]
        at = self._cursor_label()
        place = self.column if self.column + len(at) <= self.bins else self.bins - len(at)
        palette = self.palette
        return [
            (text[:_LABEL], palette.dim), (body[:place], palette.dim), (at, palette.accent),
            (body[place + len(at) :], palette.dim), (heading, palette.dim),
        ]  # fmt: skip

    def _cursor_label(self) -> str:
        assert self.found is not None
        label = f"▼{time_text(int(self.found.offset_ns[self.column]))} "
        return label if self.column + len(label) <= self.bins else f" {label[1:].strip()}▼"

    def _ruler_text(self, around: bool = False) -> str:
        """The ruler without the cursor; ``around``: without the marks that it would cut, too."""
        if self.found is None:
            return ""
        free = cell_len(self._cursor_label()) if around else 0
        port = Viewport.over(0, max(int(self.found.offset_ns[-1]), 1), self.bins)
        line = [" "] * self.bins
        for cell, label in axis_of(port, spacing=16).marks:
            mark = f"│{label} "
            cut = free and self.column - len(mark) < cell < self.column + free
            if cell + len(mark) <= self.bins and not cut:
                line[cell : cell + len(mark)] = mark
        return f"{' time in step':<{_LABEL}}{''.join(line)}"

    def _text_of(self, row: _Row) -> str:
        if not row.cells:
            letter = f"{row.line.layer.text.letter} " if row.line and row.line.layer else ""
            return letter + row.text
        figures = self._figures(self.curves[row.curve]) if row.curve >= 0 else ""
        return f"{row.label:<{_LABEL}}{''.join(glyph for glyph, _ in row.cells)}{figures}"

    def _nothing(self) -> list[_Row]:
        sheet = folded_sheet.no_steps_sheet(self._analysis, self._device)
        room = max(self.size.width - 2, 10)
        return [
            _Row(text=part) for line in sheet.lines for part in broken(line.text, room)
        ]  # fmt: skip
