"""The words for a counter under the cursor: its value there, exactly, and its range."""

from __future__ import annotations

import numpy as np

from whichlayer.analysis.report.units import bytes_text, count_text, time_text
from whichlayer.analysis.text import clean, gpu_text
from whichlayer.tui import travel
from whichlayer.tui.counter_lanes import CounterLane, Series, exact_number, near_number
from whichlayer.tui.counter_row import CounterRow
from whichlayer.tui.document import Document
from whichlayer.tui.line import Line
from whichlayer.tui.view import View


def describe_counter(document: Document, view: View) -> list[Line]:
    """What the counter of the cursor's row says at the cursor; empty on any other row."""
    rows = travel.rows_of(document, view)
    if not 0 <= view.row < len(rows):
        return []
    lane = document.lanes[rows[view.row].lane]
    if not isinstance(lane, CounterLane):
        return []
    depth = rows[view.row].depth
    row, series = lane.row(depth), lane.series[depth]
    lines = [Line(_name(series), strong=True), _value(row, series, view.cursor_ns)]
    cell = view.port.cell_of(view.cursor_ns)
    first, stop = row.samples(view.port.edge(cell), view.port.edge(cell + 1))
    if stop - first > 1:
        inside = row.value[first:stop]
        known = inside[~np.isnan(inside)]
        if len(known):
            low, high = near_number(float(known.min())), near_number(float(known.max()))
            values = count_text(stop - first, "value")
            lines.append(Line(f"{low} to {high}{_unit(series)} in this column ({values})"))
    low, high = near_number(row.lowest), near_number(row.highest)
    lines.append(Line(f"{low} to {high}{_unit(series)}, {count_text(len(row), 'sample')}", "range"))
    lines.append(Line(_owner(lane, series), "of"))
    return lines


def _name(series: Series) -> str:
    return series.counter if series.plain else f"{series.counter}: {series.field}"


def _owner(lane: CounterLane, series: Series) -> str:
    """Whose counter it is."""
    if lane.device >= 0:
        return gpu_text(lane.device)
    return clean(lane.lane.process).strip() or f"process {series.process}"


def _value(row: CounterRow, series: Series, time_ns: int) -> Line:
    index = row.index_at(time_ns)
    if index < 0:
        first = f"; the first is at {time_text(int(row.start_ns[0]))}" if len(row) else ""
        return Line(f"no sample yet{first}", "value")
    value = float(row.value[index])
    said = f"{exact_number(value)}{_unit(series)}"
    if series.unit == "bytes" and 1000 <= value < 2**53:
        said = f"{bytes_text(int(value))} ({said})"
    start, end = int(row.start_ns[index]), int(row.end_ns[index])
    held = f"for {time_text(end - start)}" if index + 1 < len(row) else "to the end"
    return Line(f"{said} {held} from {time_text(start)}", "value", strong=True)


def _unit(series: Series) -> str:
    return f" {series.unit}" if series.unit else ""
