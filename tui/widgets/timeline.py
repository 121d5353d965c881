"""The timeline: every lane's slices over time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.segment import Segment
from rich.style import Style
from textual.filter import ANSIToTruecolor, LineFilter
from textual.geometry import Region
from textual.strip import Strip

from whichlayer.tui.bars import mark, select
from whichlayer.tui.chain_marks import (
    JOINED,
    UNDERLINED,
    InSight,
    LineMarks,
    chain_marks,
    laid,
)
from whichlayer.tui.deferred import Deferred
from whichlayer.tui.document import Document
from whichlayer.tui.frame import Frame, draw_frame
from whichlayer.tui.frame_labels import label_of
from whichlayer.tui.frame_lit import Lit
from whichlayer.tui.frame_marks import (
    Stretch,
    marks_of,
    reselected,
    selected_cells,
)
from whichlayer.tui.frame_runs import Painted, Places
from whichlayer.tui.frame_search import Stack
from whichlayer.tui.frame_strips import Strips
from whichlayer.tui.messages import TimelineResized
from whichlayer.tui.palette import BLANK, Palette
from whichlayer.tui.row_edges import with_edge
from whichlayer.tui.slots import ColourBy
from whichlayer.tui.travel import rows_of
from whichlayer.tui.view import View
from whichlayer.tui.widgets.rows_pane import RowsPane

if TYPE_CHECKING:  # there is no search before someone types one
    from whichlayer.analysis.search.hits import Hits
    from whichlayer.tui import chain_places
    from whichlayer.tui.chain import Chain
    from whichlayer.tui.chain_places import Placed
    from whichlayer.tui.colour_by import Colouring
else:
    chain_places = Deferred("whichlayer.tui.chain_places")

Int32 = NDArray[np.int32]


class Timeline(RowsPane, can_focus=True):
    """Lanes from top to bottom; scrolls by rows, its time axis is the view's."""

    HELP = (
        "Each row is a stream, or a depth of calls on a thread. A bar is one slice; where "
        "slices are narrower than a column, the height tells how busy it is, in the colour of "
        "what takes most of it. Without colours, with sixteen or in ASCII a letter begins what has "
        "no name (K lists them), a capital where half of the cell or more is busy. +3 beside a label: "
        "so many rows of the lane are folded away; ▲ and ▼: so many rows are out of sight above and "
        "below, a click on that label scrolls to them."
    )

    def __init__(self, *, id: str | None = None) -> None:
        """Start without rows."""
        super().__init__(id=id)
        self._frame: Frame | None = None
        self._stack: Stack | None = None
        self._frame_lines: list[int] = []
        self._strips: dict[int, Strip] = {}
        self._drawn = Strips()
        self._labels: dict[tuple[int, bool, int, tuple[str, ...]], Segment] = {}
        self._lit = Lit()
        self._chain: tuple[Chain, int] | None = None
        self._chain_lines: dict[int, LineMarks] | None = None
        self._chain_places: Mapping[int, Placed] | None = None
        self._chained_row = -1
        self._colour_by = ColourBy.FAMILY
        self._colouring: Colouring | None = None

    def mark_chain(self, chain: Chain | None) -> None:
        """Mark the slices that lead to the one at the cursor, and those that it leads to."""
        old = self._chain_lines
        here = chain.links[chain.at].row if chain is not None else -1
        is_new = self._chain is None or chain is not self._chain[0]
        self._chain = None if chain is None else (chain, here)
        if is_new:
            self._chain_places = None
        if self.view is not None and self.view.row != self._chained_row:
            self._chained_row = self.view.row
            self._scroll_to_chain()
        self._chain_lines = None
        if self._frame is None:  # all of it is drawn anew
            return
        new = self._lines_of_chain()
        self._refresh_changed(new if old is None else {*old, *new})

    def _scroll_to_chain(self) -> None:
        """Have the GPU work, its launch and the cursor's row in sight, if there is room for them."""
        if self._chain is None or self.view is None:
            return
        height, pinned = self.size.height, self.pinned_lines
        top = chain_places.top_for(
            self.top, height, pinned, self.view.row, self._chain[0], self._placed(self._chain[0])
        )
        top = min(max(top, 0), max(len(self.rows) - height, 0))
        if top != self.top:
            self.top = top
            self.rows_moved()
            self.refresh()

    def _placed(self, chain: Chain) -> Mapping[int, Placed]:
        if self._chain_places is None:
            assert self.document is not None
            self._chain_places = chain_places.places_of(self.document, self.rows, chain)
        return self._chain_places

    def _lines_of_chain(self) -> dict[int, LineMarks]:
        if self._chain_lines is None:
            self._chain_lines = {}
            lines = self.lines_in_sight()
            if self._chain is None or self.document is None or self.view is None or not lines:
                return self._chain_lines
            chain, here = self._chain
            painted = self._framed(lines[0], self.view).painted
            idle = (painted.codes == BLANK) & (painted.glyphs == ord(" "))
            lanes, shown = self.document.lanes, [self.rows[line] for line in lines]
            rows = [lanes[row.lane].row(row.depth) for row in shown]
            sight = InSight(lines, rows, self.view.port, idle[: len(lines)], self.pinned_lines)
            words = chain_places.words_of(self.document, chain)
            self._chain_lines = chain_marks(chain, sight, here, self._placed(chain), words)
        return self._chain_lines

    def light(self, hits: Hits | None) -> None:
        """Light the bars of what a search found; None for none."""
        if hits is not self._lit.hits:
            self._light(Lit(hits, self._lit.calls))

    def light_calls(self, calls: Int32 | None) -> None:
        """Light these slices (trace rows) in place of what a search found; None for none."""
        if calls is not None or self._lit.calls is not None:
            self._light(Lit(self._lit.hits, calls))

    def _light(self, lit: Lit) -> None:
        self._lit = lit
        self._refresh_changed(self.lines_in_sight())

    def colour(self, by: ColourBy) -> None:
        """Let the colours of bars tell something else."""
        self._colour_by, self._colouring = by, None
        self._forget_frame()
        self.refresh()

    def paint_with(self, palette: Palette) -> None:
        """Take the colours of another theme; the chain stays marked."""
        chain = self._chain
        super().paint_with(palette)
        self._chain = chain

    def document_changed(self) -> None:
        """List the rows anew."""
        self._lit.forget_rows()
        self._colouring = self._stack = self._chain = None
        self._drawn.forget()
        self._list_rows()
        self._forget_frame()
        if self.view is not None:
            self.bring_into_sight(self.view.row)

    def view_changed(self, old: View | None) -> None:
        """Repaint all rows only if the span, the rows or the selection change."""
        view = self.view
        if view is None or old is None:
            self._forget_frame()
            self.refresh()
            return
        listed = _listed_by(view) != _listed_by(old)
        if listed:
            self._list_rows()
            self._forget_frame()
        if view.port != old.port:
            self._forget_frame()
        scrolled = self.bring_into_sight(view.row)
        if self._frame is None or scrolled:
            self._strips.clear()
            if listed:
                self.refresh()
            else:  # below the last row nothing is drawn
                self.refresh(Region(0, 0, self.size.width, len(self.lines_in_sight())))
            return
        if view.marked != old.marked:
            self._select_otherwise(selected_cells(old), selected_cells(view))
        if view.row != old.row or view.cursor_ns != old.cursor_ns:
            self._refresh_changed(
                line
                for line in self._frame_lines
                if self.is_cursors(line, old) or self.is_cursors(line, view)
            )

    def _select_otherwise(self, old: Stretch | None, new: Stretch | None) -> None:
        """Repaint the rows that look otherwise where one selection holds a cell and one does not."""
        if self._frame is None:
            return
        (low, high), rows = reselected(self._frame.painted.codes, old, new)
        for y in rows.tolist():
            self._strips.pop(self._frame_lines[y], None)
            self.refresh(Region(self.label_cells + low, y, high - low, 1))

    def _refresh_changed(self, lines: Iterable[int]) -> None:
        """Repaint of some lines the cells that look otherwise than when they were drawn."""
        if self._frame is None or self.view is None:
            self._strips.clear()
            self.refresh()
            return
        heights = {line: y for y, line in enumerate(self._frame_lines)}
        mine = sorted({line for line in lines if line in heights}, key=heights.__getitem__)
        places = np.array([heights[line] for line in mine], np.intp)
        painted, labels = (
            self._marked(self._frame, places, self.view),
            self._labels_of(mine, self.view),
        )
        for y, cells in self._drawn.changes(painted, labels, places, len(self._frame_lines)):
            self._strips.pop(self._frame_lines[y], None)
            self.refresh(Region(cells[0], y, cells[1] - cells[0], 1))

    def _labels_of(self, lines: Iterable[int], view: View) -> list[Segment]:
        chained = self._lines_of_chain()
        return [self._label(line, view, chained.get(line)) for line in lines]

    def on_resize(self) -> None:
        """Other rows are in sight."""
        self._forget_frame()
        if self.view is not None:
            self.bring_into_sight(self.view.row)
        self.post_message(TimelineResized())

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines as they are written.

        Textual would make two more strips of each, for borders and filters: a timeline has no
        border, and its colours need no filter but where colours or characters are left out.
        """
        if self.size != self.outer_size:
            return super().render_lines(crop)
        width = self.size.width
        strips = self._lines(crop, width)
        for one in self.get_line_filters():
            if not self._passes(one):
                background = self.background_colors[1]
                strips = [strip.apply_filter(one, background) for strip in strips]
        if crop.column_span != (0, width):
            strips = [strip.crop(*crop.column_span) for strip in strips]
        return strips

    def _passes(self, one: LineFilter) -> bool:
        """Whether a filter leaves all of a timeline as it is: colours are colours already."""
        return isinstance(one, ANSIToTruecolor) and not self.palette.colours.flat

    def render_line(self, y: int) -> Strip:
        """One row: its label, then its cells."""
        width = self.size.width
        return self._lines(Region(0, y, width, 1), width)[0]

    def _lines(self, crop: Region, width: int) -> list[Strip]:
        """Some lines, each of the whole width."""
        fill = self.palette.text
        blank = Strip.blank(width, fill)
        view, strips, rows = self.view, self._strips, len(self.rows)
        if view is None or self.document is None:
            return [blank] * crop.height
        pinned, top = self.pinned_lines, self.top
        found = []
        for y in crop.line_range:
            index = y if y < pinned else top + y
            if index < rows and index not in strips:
                self._make_strips(index, view)
            strip = strips[index] if index < rows else blank
            if strip.cell_length != width:
                strip = strip.adjust_cell_length(width, fill)
            found.append(strip)
        return found

    def _make_strips(self, index: int, view: View) -> None:
        """Make the strip of a line, and of all others in sight that have none."""
        frame = self._framed(index, view)
        places = [y for y, line in enumerate(self._frame_lines) if line not in self._strips]
        lines, heights = [self._frame_lines[y] for y in places], np.array(places)
        painted = self._marked(frame, heights, view)
        labels = self._labels_of(lines, view)
        strips = self._drawn.drawn(painted, labels, heights, len(self._frame_lines), self._style)
        self._strips.update(zip(lines, strips, strict=True))

    def _marked(self, frame: Frame, heights: Places, view: View) -> Painted:
        """Some lines of a frame with all that lies over them."""
        if len(heights) == len(self._frame_lines):
            painted = frame.painted.copy()
        else:
            painted = Painted(frame.painted.glyphs[heights], frame.painted.codes[heights])
        selected = selected_cells(view)
        if selected is not None:
            select(painted.codes, selected)
        chained = self._lines_of_chain()
        for place, y in enumerate(heights.tolist()):
            line = self._frame_lines[y]
            is_cursors = self.is_cursors(line, view)
            if self._lit.is_any or is_cursors:
                row, cells, _ = frame.row(y)
                hits = self._lit.cells(row, view.port)
                marks = marks_of(row, view, hits, is_cursors=is_cursors)
                if marks is not None:
                    painted.put(place, mark(painted.row(place), cells, marks))
            if line in chained:
                painted.put(place, laid(painted.row(place), chained[line]))
        return painted

    def _style(self, code: int) -> Style:
        if code < UNDERLINED:
            return self.palette.timeline[code]
        if code >= JOINED:
            return self.palette.joined(marked=code - JOINED != BLANK)
        return self.palette.underlined(self.palette.timeline[code - UNDERLINED])

    def _framed(self, index: int, view: View) -> Frame:
        # A line may be asked for after the size has changed and before on_resize ran.
        if self._frame is not None and index not in self._frame_lines:
            self._frame = None
        if self._frame is None:
            assert self.document is not None
            lines = self.lines_in_sight()
            lines += range(lines[-1] + 1 if lines else index, index + 1)
            shown = [self.rows[line] for line in lines]
            rows = [self.document.lanes[r.lane].row(r.depth) for r in shown]
            name_of = self.document.names.short
            if self._colour_by is not ColourBy.FAMILY:
                colouring = self._coloured(self.document)
                rows = [colouring.row(row) for row in rows]
                name_of = colouring.name_of
            parts = [(row.part, row.parts) for row in shown]
            self._frame = draw_frame(rows, view.port, name_of, parts, self._stack)
            self._stack = self._frame.stack
            if self.palette.letters:
                self._write_letters(self._frame)
            self._frame_lines = lines
        return self._frame

    @staticmethod
    def _write_letters(frame: Frame) -> None:
        from whichlayer.tui.slot_letters import write_letters

        write_letters(frame.painted, frame.cells, frame.rows)

    def _coloured(self, document: Document) -> Colouring:
        if self._colouring is None:
            from whichlayer.tui.colour_by import Colouring

            self._colouring = Colouring(document, self._colour_by)
        return self._colouring

    def _label(self, index: int, view: View, marks: LineMarks | None) -> Segment:
        beyond = () if marks is None else marks.beyond
        edge = self.edge(index)
        # What of the chain is there is told first, as far as there is room for its words.
        texts = (*beyond[:-1], *edge) if edge else beyond
        key = (index, index == view.row, self.label_cells, texts)
        if key not in self._labels:
            assert self.document is not None
            shown = self.rows[index]
            self._labels[key] = label_of(
                shown, self.document.lanes[shown.lane], self.label_cells, self.palette,
                pinned=shown.lane in view.order.pinned, chosen=index == view.row,
            )  # fmt: skip
            if texts:
                self._labels[key] = with_edge(self._labels[key], texts)
        return self._labels[key]

    def _list_rows(self) -> None:
        self._labels.clear()
        self._chain_places = None
        if self.document is None or self.view is None:
            self.rows = ()
            return
        self.rows = rows_of(self.document, self.view)

    def rows_moved(self) -> None:
        """Draw a frame of the lines that are on the screen now."""
        self._forget_frame()

    def _forget_frame(self) -> None:
        self._frame = None
        self._chain_lines = None
        self._strips.clear()


def _listed_by(view: View) -> tuple[object, ...]:
    """What the list of lines depends on."""
    return view.folds, view.lines, view.used, view.outer, view.order
