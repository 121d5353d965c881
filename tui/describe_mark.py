"""The words for an instant under the cursor: what was marked, when, and on which thread."""

from __future__ import annotations

import math

from whichlayer.analysis.report.units import count_text
from whichlayer.analysis.text import clean
from whichlayer.tui import travel
from whichlayer.tui.counter_lanes import exact_number
from whichlayer.tui.document import Document
from whichlayer.tui.instant_lanes import InstantLane
from whichlayer.tui.line import Line
from whichlayer.tui.ruler import axis_of
from whichlayer.tui.view import View


def describe_mark(document: Document, view: View) -> list[Line]:
    """What the instant of the cursor's row says in the cursor's column; empty on other rows."""
    rows = travel.rows_of(document, view)
    if not 0 <= view.row < len(rows):
        return []
    lane = document.lanes[rows[view.row].lane]
    if not isinstance(lane, InstantLane):
        return []
    row, instants = lane.row(0), document.trace.instants
    cell = view.port.cell_of(view.cursor_ns)
    low, high = view.port.edge(cell), view.port.edge(cell + 1)
    exact = row.nearest(view.cursor_ns, view.cursor_ns + 1)
    index = exact if exact >= 0 else row.nearest(low, high)
    owner = clean(lane.lane.process).strip()
    if index < 0:
        lines = [Line(lane.title.strip(), strong=True), Line(count_text(len(row), "instant"))]
        return [*lines, Line(owner, "of")] if owner else lines
    place = int(row.place[index])
    lines = [
        Line(clean(document.trace.strings[int(instants.name_id[place])]), strong=True),
        Line(f"at {axis_of(view.port).exact(int(instants.time_ns[place]))}, {lane.title.strip()}"),
    ]
    value = float(instants.value[place])
    if math.isfinite(value):
        lines.append(Line(f"{exact_number(value)} bytes allocated then", "value"))
    first, stop = row.start_ns.searchsorted([low, high])
    if stop - first > 1:
        lines.append(Line(f"{count_text(int(stop - first), 'instant')} in this column"))
    return [*lines, Line(owner, "of")] if owner else lines
