"""Where the keys that jump go: next gap, next slice, next step.

Pure functions from a document and a view to another view; None where there is nowhere to go.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from whichlayer.tui.counter_row import CounterRow
from whichlayer.tui.dealt_rows import most_lines, outer_rows, until_marks, used_rows
from whichlayer.tui.document import Document
from whichlayer.tui.instant_lanes import InstantRow
from whichlayer.tui.lane_order import LaneOrder
from whichlayer.tui.lanes import Fold, ShownRow
from whichlayer.tui.raster import Row
from whichlayer.tui.view import View

if TYPE_CHECKING:  # the first timeline does not wait for what shows an analysis
    from whichlayer.tui.heat import HeatRow
    from whichlayer.tui.whole_gaps import WholeGaps

#: Share of the width that a step takes when it is gone to.
_STEP_SHARE = 0.94

#: Share of the width that a gap takes where it has to be zoomed to.
_GAP_SHARE = 1 / 3

#: Lines are dealt anew when a stretch they were dealt for is so many times as long as the span.
_CLOSEST = 4


def rows_of(document: Document, view: View) -> tuple[ShownRow, ...]:
    """The lines of the timeline under the view's folds."""
    return document.listed.rows(
        document.lanes,
        view.folds,
        view.lines,
        view.used,
        view.order,
        document.is_whole,
        view.outer,
    )


def settled(document: Document, view: View) -> View:
    """The view with lines for what can be seen in it, the cursor on the row it was on.

    Lines change only when the span leaves the stretch that they were dealt for, or becomes much
    shorter than it: panning by small steps moves nothing up or down.
    """
    port, (first, last) = view.port, view.around or (0, 0)
    holds = first <= port.start_ns and port.end_ns <= last
    if holds and last - first <= _CLOSEST * port.span_ns:
        return view
    rows = rows_of(document, view)
    here = rows[view.row] if view.row < len(rows) else None
    return dealt(document, view, None if here is None else (here.lane, here.depth))


def dealt(document: Document, view: View, here: tuple[int, int] | None) -> View:
    """The view with lines dealt for what can be seen in it, the cursor on (lane, depth)."""
    port = view.port
    margin = port.span_ns // 2
    low, high = port.start_ns - margin, port.end_ns + margin
    low, high = until_marks(document.lanes, (low, high), (port.start_ns, port.end_ns))
    least = {} if here is None else {here[0]: here[1] + 1 - document.lanes[here[0]].first_row}
    used = used_rows(document.lanes, low, high, least)
    outer = outer_around(document, low, high, here)
    view = replace(view, used=used, outer=outer, around=(low, high))
    return view if here is None else on_lane(document, view, *here)


def outer_around(
    document: Document, low_ns: int, high_ns: int, here: tuple[int, int] | None
) -> tuple[int, ...]:
    """The outer rows that each lane leaves out in a stretch, as far as that was recorded."""
    low, high = max(low_ns, document.low_ns), min(high_ns, document.high_ns)
    return outer_rows(document.lanes, low, high, here) if low < high else ()


def most_rows(document: Document) -> int:
    """Lines that the timeline has when every lane shows all of its rows."""
    return sum(lane.most_rows for lane in document.lanes)


def tallest(document: Document) -> int:
    """The most lines that the timeline makes use of: rows are higher where there is room."""
    return most_lines(document.lanes)


def row_at(document: Document, rows: tuple[ShownRow, ...], index: int) -> Row | None:
    """The slices of a line, None where there is no such line."""
    if not 0 <= index < len(rows):
        return None
    return document.lanes[rows[index].lane].row(rows[index].depth)


def slice_at(document: Document, rows: tuple[ShownRow, ...], view: View) -> int:
    """Trace row of the slice that the cursor is on, or -1.

    A slice that begins later in the cursor's column counts, as it cannot be told apart there;
    but on a GPU not where the cursor is in a gap.
    """
    row = row_at(document, rows, view.row)
    if row is None:
        return -1
    here = row.index_at(view.cursor_ns)
    if here < 0 and not _in_gap_of_row(document, rows, view):
        cell = view.port.cell_of(view.cursor_ns)
        here = row.index_at(view.cursor_ns, view.port.edge(cell + 1))
    return -1 if here < 0 else int(row.slices[here])


def to_gap(document: Document, view: View, step: int) -> View | None:
    """The next whole gap of the device in time, or the one before for a negative step."""
    gaps = _whole_gaps(document, view)
    if gaps is None:
        return None
    here = gaps.at(view.cursor_ns)
    if step > 0:
        place = gaps.after(view.cursor_ns)
    else:
        place = gaps.before(view.cursor_ns if here < 0 else int(gaps.start_ns[here]))
    return _on_gap(document, view, gaps, place) if place >= 0 else None


def to_gap_of_rank(document: Document, view: View, rank: int) -> View | None:
    """The largest whole gap of the device for rank 0, then by size downwards."""
    gaps = _whole_gaps(document, view)
    if gaps is None or not 0 <= rank < len(gaps):
        return None
    return _on_gap(document, view, gaps, int(gaps.by_size[rank]))


def _whole_gaps(document: Document, view: View) -> WholeGaps | None:
    return document.whole_gaps[view.device] if view.device < len(document.whole_gaps) else None


def _on_gap(document: Document, view: View, gaps: WholeGaps, place: int) -> View:
    """All of a gap shown, the cursor on the piece that the most of it is owned for."""
    pieces = document.gaps[view.device]
    piece = int(gaps.piece[place])
    start, end = int(pieces.start_ns[piece]), int(pieces.end_ns[piece])
    shown = view.holding(int(gaps.start_ns[place]), int(gaps.end_ns[place]), _GAP_SHARE)
    return shown.pointed((start + end) // 2, view.row)


def to_slice(document: Document, rows: tuple[ShownRow, ...], view: View, step: int) -> View | None:
    """The next slice of the cursor's row, or the one before."""
    row = row_at(document, rows, view.row)
    if row is None or not len(row):
        return None
    if isinstance(row, CounterRow | InstantRow):
        place = row.neighbour(view.cursor_ns, step > 0)
        return view.at(int(row.start_ns[place])) if place >= 0 else None
    cell = view.port.cell_of(view.cursor_ns)
    here = row.index_at(view.cursor_ns, view.port.edge(cell + 1))
    place = here + step if here >= 0 else row.neighbour(view.cursor_ns, step > 0)
    if not 0 <= place < len(row):
        return None
    start, end = int(row.start_ns[place]), int(row.end_ns[place])
    # A slice that shares its column with others is widened: the cursor has to be on it alone.
    if end - start < view.port.span_ns // view.port.cells:
        view = view.revealing(start, end)
    return view.at(start if end - start < 3 else start + (end - start) // 3)


def to_step(document: Document, view: View, step: int) -> View | None:
    """The next step, shown whole, or the one before; first the cursor's own if it is not."""
    spans = [(row.start_ns, row.end_ns) for row in _steps(document, view.device)]
    if not spans:
        spans = [(s.start_ns, s.end_ns) for s in document.host_steps]
    here = [i for i, (start, end) in enumerate(spans) if start <= view.cursor_ns < end]
    shown = bool(here) and _shows_one(view, spans[here[0]])
    if here and not shown:
        place = here[0]
    elif here:
        place = here[0] + step
    else:
        after = [i for i, (start, _) in enumerate(spans) if start > view.cursor_ns]
        before = [i for i, (_, end) in enumerate(spans) if end <= view.cursor_ns]
        place = (after[:1] or [len(spans)])[0] if step > 0 else (before[-1:] or [-1])[0]
    if not 0 <= place < len(spans):
        return None
    start, end = spans[place]
    port = view.port.around(start, end, _STEP_SHARE)
    # On the way to later steps the cursor never goes back: not to the start of its own step.
    cursor = max(start, view.cursor_ns) if step > 0 else start
    return replace(view, port=port).pointed(cursor, view.row)


def to_slice_row(document: Document, view: View, slice_row: int) -> View:
    """A slice in sight and the cursor on its line; its lane is unfolded if need be."""
    trace = document.trace
    view = view.revealing(int(trace.start_ns[slice_row]), int(trace.end_ns[slice_row]))
    return on_slice(document, view, slice_row)


def on_slice(document: Document, view: View, slice_row: int) -> View:
    """The cursor on the line of a slice, whose lane is unfolded if need be."""
    trace = document.trace
    view = settled(document, view)
    mine = trace.lanes[int(trace.lane_id[slice_row])]
    for index, lane in enumerate(document.lanes):
        depth = lane.depth_of(slice_row) if lane.lane is mine else -1
        if depth < 0:
            continue
        line = _line_of(rows_of(document, view), index, depth, view)
        if line < 0 and index in view.order.hidden:
            view = replace(view, order=view.order.showing(index))
            line = _line_of(rows_of(document, view), index, depth, view)
        if line < 0 and view.outer and view.outer[index]:
            view = dealt(document, view, (index, depth))
            line = _line_of(rows_of(document, view), index, depth, view)
        if line < 0:
            folds = {**view.folds, index: Fold.ALL}
            view = replace(view, folds=folds, order=view.order.sized(index, 0))
            line = _line_of(rows_of(document, view), index, depth, view)
        return replace(view, row=line)
    return view


def fit(document: Document, view: View) -> View:
    """The analysed window; everything where that is shown already."""
    low, high = document.home
    home = view.port.to(low, high)
    return replace(view, port=view.port.fitted() if view.port == home else home)


def fit_thing(document: Document, rows: tuple[ShownRow, ...], view: View) -> View | None:
    """The selection, else the slice under the cursor, else the gap."""
    if view.marked is not None:
        return view.showing(*view.marked, 0.96)
    row = slice_at(document, rows, view)
    if row >= 0:
        trace = document.trace
        return view.showing(int(trace.start_ns[row]), int(trace.end_ns[row]), 0.8)
    gaps = _whole_gaps(document, view)
    place = -1 if gaps is None else gaps.at(view.cursor_ns)
    if gaps is not None and place >= 0:
        return view.showing(int(gaps.start_ns[place]), int(gaps.end_ns[place]), 0.8)
    return None


def down(document: Document, view: View, count: int) -> View:
    """The cursor so many rows further down, however many lines each has."""
    rows = rows_of(document, view)
    firsts = [line for line, row in enumerate(rows) if not row.part]
    place = max(bisect_right(firsts, view.row) - 1, 0) + count
    return on_row(document, view, firsts[min(max(place, 0), len(firsts) - 1)] if firsts else 0)


def on_row(document: Document, view: View, row: int) -> View:
    """The cursor on the row of a line; strips and panels follow to its device."""
    rows = rows_of(document, view)
    row = min(max(row, 0), max(len(rows) - 1, 0))
    row -= rows[row].part if rows else 0  # of a row that is several lines high, the first
    view = replace(view, row=row)
    if rows:
        device = document.device_of(rows[row].lane)
        if device is not None:
            view = replace(view, device=device)
    return view


def refolded(document: Document, view: View, lane: int) -> View:
    """The next fold of a lane, with the cursor on the same lane as before."""
    rows = rows_of(document, view)
    mine = rows[view.row].lane if view.row < len(rows) else lane
    view = view.folded(lane)
    return on_lane(document, view, mine)


def arranged(document: Document, view: View, order: LaneOrder) -> View:
    """The lanes in another order, the cursor on the row it was on, else where that was."""
    rows = rows_of(document, view)
    here = rows[view.row] if view.row < len(rows) else None
    after = replace(view, order=order)
    if here is not None and here.lane in order.listed(len(document.lanes)):
        after = on_lane(document, after, here.lane, here.depth)
    return on_row(document, after, after.row)


def on_lane(document: Document, view: View, lane: int, depth: int = -1) -> View:
    """The cursor on a row of a lane: the nearest to a depth that is shown, else the first."""
    rows = rows_of(document, view)
    mine = _lines_of(rows, lane, view)
    return replace(view, row=min(mine, key=lambda line: abs(rows[line].depth - depth), default=0))


def with_lines(document: Document, view: View, lines: int) -> View:
    """The view on a timeline of another height, with the cursor on the row it was on."""
    rows = rows_of(document, view)
    taller = replace(view, lines=lines)
    if view.row >= len(rows):
        return replace(taller, row=0)
    return on_lane(document, taller, rows[view.row].lane, rows[view.row].depth)


def first_look(document: Document, view: View) -> View:
    """What an analysed trace opens with: the window, the cursor on what matters most."""
    analysis = document.analysis
    low, high = document.home
    view = replace(view, port=view.port.to(low, high))
    if analysis is None or not document.gaps:
        return replace(view, cursor_ns=view.port.start_ns)
    for finding in analysis.findings:
        regions = [r for r in finding.regions if low <= r.start_ns and r.end_ns <= high]
        if regions:
            longest = max(regions, key=lambda r: r.end_ns - r.start_ns)
            view = replace(view, device=longest.device)
            return view.pointed((longest.start_ns + longest.end_ns) // 2, view.row)
    if len(document.whole_gaps[0]):
        pieces, place = document.gaps[0], int(document.whole_gaps[0].by_size[0])
        piece = int(document.whole_gaps[0].piece[place])
        middle = int(pieces.start_ns[piece] + pieces.end_ns[piece]) // 2
        return view.pointed(middle, view.row)
    return view.pointed(view.port.start_ns, view.row)


def _line_of(rows: tuple[ShownRow, ...], lane: int, depth: int, view: View) -> int:
    mine = _lines_of(rows, lane, view)
    return next((line for line in mine if rows[line].depth == depth), -1)


def _lines_of(rows: tuple[ShownRow, ...], lane: int, view: View) -> range:
    """The lines of a lane, which follow on one another."""
    if not view.order.is_usual:
        found = [line for line, row in enumerate(rows) if row.lane == lane]
        return range(found[0], found[-1] + 1) if found else range(0)
    first = bisect_left(rows, lane, key=_lane_of)
    return range(first, bisect_right(rows, lane, lo=first, key=_lane_of))


def _lane_of(row: ShownRow) -> int:
    return row.lane


def _steps(document: Document, device: int) -> tuple[HeatRow, ...]:
    return document.steps[device] if device < len(document.steps) else ()


def _shows_one(view: View, span: tuple[int, int]) -> bool:
    """True where the view shows little more than one step."""
    return view.port.span_ns * _STEP_SHARE**2 <= span[1] - span[0] <= view.port.span_ns


def _in_gap_of_row(document: Document, rows: tuple[ShownRow, ...], view: View) -> bool:
    device = document.device_of(rows[view.row].lane)
    return device is not None and document.gaps[device].at(view.cursor_ns) >= 0
