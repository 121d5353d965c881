"""Graph breaks with their place and operator, where the recording proves them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.compiled.graphs import compiled_rows, in_window
from whichlayer.analysis.gaps.graph_breaks import graph_breaks, place_of_break
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

#: What to record where regions follow each other and nothing proves why.
RECORD_BREAKS = (
    "compiled regions follow each other: breaks or separate calls of torch.compile; "
    "record with_stack=True, or run with TORCH_LOGS=graph_breaks, to tell"
)


@dataclass(frozen=True, slots=True)
class GraphBreak:
    """A place where compiled code went back to Python.

    Attributes:
        file, line, function: of the break; None and empty where the frame does not tell.
        times: in the window.
        host_ns: from graph to graph, all of them; an envelope as regions are.
        operator: the first operator that ran there uncompiled, or empty.
        row: a frame that proves it.
    """

    file: str | None
    line: int | None
    function: str
    times: int
    host_ns: int
    operator: str
    row: int


def break_list(analysis: Analysis) -> tuple[GraphBreak, ...]:
    """The proven breaks of the window by place, most time first."""
    trace, window = analysis.trace, analysis.window
    found: dict[tuple[str | None, int | None, str], GraphBreak] = {}
    for lane, spans in graph_breaks(trace).items():
        for start, end, row in zip(
            spans.start_ns.tolist(), spans.end_ns.tolist(), spans.row.tolist(), strict=True
        ):
            low, high = max(start, window.start_ns), min(end, window.end_ns)
            if row < 0 or low >= high:
                continue
            place: tuple[str | None, int | None, str]
            place = place_of_break(trace.name(row)) or (None, None, "")
            operator = _first_operator(trace, lane, start, end)
            file, line, function = place
            one = found.get(place) or GraphBreak(file, line, function, 0, 0, operator, row)
            found[place] = replace(
                one,
                times=one.times + 1,
                host_ns=one.host_ns + high - low,
                operator=one.operator or operator,
            )
    return tuple(sorted(found.values(), key=lambda one: (-one.host_ns, one.row)))


def unproven(analysis: Analysis) -> int:
    """How often one compiled region of a step followed another on a thread, with no proof of why."""
    trace, window = analysis.trace, analysis.window
    rows = in_window(trace, compiled_rows(trace), window)
    if len(rows) < 2:
        return 0
    top = rows[_outermost(trace, rows)]
    same = trace.lane_id[top[1:]] == trace.lane_id[top[:-1]]
    apart = trace.start_ns[top[1:]] >= trace.end_ns[top[:-1]]
    edges = np.array([step.start_ns for step in window.steps], np.int64)
    step = np.searchsorted(edges, trace.start_ns[top], "right")
    # Without steps nothing tells two regions of one pass from two passes of one region.
    other = trace.name_id[top[1:]] != trace.name_id[top[:-1]]
    return int((same & apart & (step[1:] == step[:-1]) & other).sum())


def _outermost(trace: Trace, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which lie in none of the others: bool (n,)."""
    found = np.ones(len(rows), np.bool_)
    for lane in np.unique(trace.lane_id[rows]).tolist():
        mine = np.flatnonzero(trace.lane_id[rows] == lane)
        reach = np.maximum.accumulate(trace.end_ns[rows[mine]])
        found[mine[1:]] = trace.start_ns[rows[mine[1:]]] >= reach[:-1]
    return found


def _first_operator(trace: Trace, lane: int, start: int, end: int) -> str:
    first, last = int(trace.lane_rows[lane]), int(trace.lane_rows[lane + 1])
    begun = trace.start_ns[first:last]
    low, high = first + np.searchsorted(begun, (start, end), "left")
    inside = np.flatnonzero(
        (trace.kind[low:high] == SliceKind.CPU_OP) & (trace.end_ns[low:high] <= end)
    )
    return trace.name(int(low + inside[0])) if len(inside) else ""
