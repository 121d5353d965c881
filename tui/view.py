"""What the user looks at: the one state that all parts of the screen share.

A :class:`View` is a value; every act makes a new one, and the history
(``whichlayer.tui.history``) is a list of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from whichlayer.tui.lane_order import USUAL, LaneOrder
from whichlayer.tui.lanes import Fold
from whichlayer.tui.viewport import Viewport

#: Factor of one zoom step; two steps halve the span.
ZOOM_STEP = 2**-0.5


@dataclass(frozen=True, slots=True)
class View:
    """Span, cursor and selection.

    Attributes:
        port: the visible span and the cells that show it.
        cursor_ns: the instant that panels speak of while nothing is selected.
        row: line of the timeline that the cursor is on.
        device: index into ``Analysis.devices`` of the device that strips and panels show.
        selection: (start, end) that panels speak of, or None.
        anchor_ns: where a selection was begun, or None.
        folds: how much is shown of each lane, by its index.
        lines: height of the timeline; lanes get more rows while there is room.
        used: rows that each lane needs for what lies in ``around``; empty before that is known.
        outer: rows that each lane leaves out at the top, since they say one thing all over
            ``around``; empty for none.
        around: the stretch that ``used`` was counted in, a little longer than the span then.
        order: which lanes are shown, in which order and in how many rows.
        clock: times are told as wall-clock time.
        edition: which state of the trace times and lanes are of; it grows as more is read.
    """

    port: Viewport
    cursor_ns: int = 0
    row: int = 0
    device: int = 0
    selection: tuple[int, int] | None = None
    anchor_ns: int | None = None
    folds: Mapping[int, Fold] = field(default_factory=dict)
    lines: int = 0
    used: tuple[int, ...] = ()
    outer: tuple[int, ...] = ()
    around: tuple[int, int] | None = None
    edition: int = 0
    order: LaneOrder = USUAL
    clock: bool = False

    def zoomed(self, steps: float, about_ns: int | None = None) -> View:
        """Zoomed in by so many steps (out for negative ones) about an instant or the cursor."""
        if about_ns is None:
            about_ns = self.cursor_ns if self.port.shows(self.cursor_ns) else self._middle
        return replace(self, port=self.port.zoomed(ZOOM_STEP**steps, about_ns))

    def panned(self, cells: float) -> View:
        """The span moved; the cursor stays on the screen."""
        port = self.port.panned(cells)
        last = port.edge(port.cells - 1)
        cursor = min(max(self.cursor_ns, port.start_ns), last)
        return replace(self, port=port)._cursor(cursor)

    def cursor_moved(self, cells: int) -> View:
        """The cursor moved by so many columns; the span follows it."""
        cell = min(max(self.port.cell_of(self.cursor_ns), 0), self.port.cells - 1) + cells
        if 0 <= cell < self.port.cells:
            return self._cursor(self.port.centre(cell))
        port = self.port.panned(cells)
        return replace(self, port=port)._cursor(port.centre(0 if cells < 0 else port.cells - 1))

    def at(self, time_ns: int, row: int | None = None) -> View:
        """The cursor put on an instant; the span moves only if it has to."""
        time_ns = self.port.clamp(time_ns)
        view = replace(
            self, port=self.port.including(time_ns), row=self.row if row is None else row
        )
        return view._cursor(time_ns)

    def pointed(self, time_ns: int, row: int) -> View:
        """The cursor put where the mouse is; the span does not move."""
        return replace(self, row=row)._cursor(self.port.clamp(time_ns))

    def showing(self, start_ns: int, end_ns: int, share: float = 1.0) -> View:
        """The span set to show ``[start, end)`` on ``share`` of the width."""
        port = self.port.around(start_ns, end_ns, share)
        cursor = self.cursor_ns if port.shows(self.cursor_ns) else max(start_ns, port.start_ns)
        return replace(self, port=port)._cursor(cursor)

    def revealing(self, start_ns: int, end_ns: int) -> View:
        """The cursor put on a stretch, zoomed in until it is wide enough to be seen."""
        middle = self.port.clamp((start_ns + end_ns) // 2)
        view = self
        if (end_ns - start_ns) * 2 * self.port.cells < 5 * self.port.span_ns:
            view = replace(self, port=self.port.around(start_ns, end_ns, 0.25))
        elif end_ns - start_ns > self.port.span_ns:
            view = replace(self, port=self.port.around(start_ns, end_ns, 0.8))
        return view.at(middle)

    def holding(self, start_ns: int, end_ns: int, share: float) -> View:
        """A stretch brought into sight, at the zoom of now if it can be seen whole there.

        Where it takes less than two columns, or more than there are, the zoom becomes the one
        at which it takes ``share`` of the width.
        """
        length, port = end_ns - start_ns, self.port
        if length * port.cells < 2 * port.span_ns or length > port.span_ns:
            return replace(self, port=port.around(start_ns, end_ns, share))
        if start_ns >= port.start_ns and end_ns <= port.end_ns:
            return self
        start = (start_ns + end_ns - port.span_ns) // 2
        return replace(self, port=port.to(start, start + port.span_ns))

    def selecting(self) -> View:
        """A selection begun at the cursor, or the begun one ended there."""
        if self.anchor_ns is None:
            return replace(self, anchor_ns=self.cursor_ns, selection=None)
        return self.selected(self.anchor_ns, self.cursor_ns)

    def selected(self, one_ns: int, other_ns: int) -> View:
        """A selection between two instants; none where they are the same."""
        low, high = sorted((self.port.clamp(one_ns), self.port.clamp(other_ns)))
        return replace(self, anchor_ns=None, selection=(low, high) if high > low else None)

    def cleared(self) -> View:
        """Nothing selected, nothing begun."""
        return replace(self, anchor_ns=None, selection=None)

    def folded(self, lane: int) -> View:
        """The next fold of a lane."""
        fold = self.folds.get(lane, Fold.SOME).following
        return replace(self, folds={**self.folds, lane: fold})

    def seen_as(self, then: View) -> View:
        """Span and cursor of another view; its row and rows too, where lanes are the same."""
        view = replace(self, port=then.port.with_cells(self.port.cells), cursor_ns=then.cursor_ns)
        if (then.order, then.folds) != (self.order, self.folds):
            return view
        return replace(view, row=then.row, used=then.used, outer=then.outer, around=then.around)

    @property
    def marked(self) -> tuple[int, int] | None:
        """The selection, or the stretch from its begin to the cursor while it is being made."""
        if self.anchor_ns is None:
            return self.selection
        low, high = sorted((self.anchor_ns, self.cursor_ns))
        return (low, high) if high > low else None

    @property
    def _middle(self) -> int:
        return (self.port.start_ns + self.port.end_ns) // 2

    def _cursor(self, time_ns: int) -> View:
        return replace(self, cursor_ns=time_ns)
