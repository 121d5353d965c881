"""What a recording without GPU activity holds instead, for there is no time to account for."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from whichlayer.analysis.report.text_layout import Column, table, wrap
from whichlayer.analysis.report.units import count_text, time_text
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.text import clean
from whichlayer.analysis.trace.columns import Lane, Trace
from whichlayer.analysis.trace.kinds import SliceKind

_SHOWN = 8
_COLUMNS = (
    Column("", 40, right=False),
    Column("slices", 9),
    Column("span", 8),
    Column("most time in", 33, right=False),
)


def recording_lines(analysis: Analysis) -> list[str]:
    """Its events, and the lanes with the most slices; empty where a GPU was recorded."""
    if analysis.devices:
        return []
    trace = analysis.trace
    if not trace.events:
        return ["RECORDING  no events"]
    rows = [bounds for bounds in pairwise(trace.lane_rows.tolist()) if _tells(trace, *bounds)]
    slices = sum(last - first for first, last in rows)
    holds = [f"{count_text(len(rows), 'lane')} with {count_text(slices, 'slice')}"] if rows else []
    holds += _marks(trace)
    ends = "from first start to last end" if len(trace) else "from first to last"
    facts = [
        count_text(trace.events, "event"),
        *(holds or ["no slices"]),
        *([f"{time_text(trace.duration_ns)} {ends}"] if holds else []),
    ]
    ranked = sorted(range(len(rows)), key=lambda index: rows[index][0] - rows[index][1])
    shown = [_row(trace, *rows[index]) for index in ranked[:_SHOWN]]
    more = len(rows) - len(shown)
    return [
        *wrap(", ".join(facts), "RECORDING  "),
        *(table(_COLUMNS, shown, indent="  ") if shown else ()),
        *([f"  and {count_text(more, 'more lane')}"] if more else ()),
    ]


def _marks(trace: Trace) -> list[str]:
    """Its counters and, where nothing lasts, its instants."""
    counters, found = trace.counters, []
    if len(counters.time_ns):
        series = int((np.diff(counters.series_id) != 0).sum()) + 1
        samples = count_text(len(counters.time_ns), "sample")
        found.append(f"{count_text(series, 'counter')} with {samples}")
    if len(trace.instants.time_ns) and not len(trace):
        found.append(count_text(len(trace.instants.time_ns), "instant"))
    return found


def _tells(trace: Trace, first: int, last: int) -> bool:
    """Whether a lane holds more than the recording itself."""
    return bool((trace.kind[first:last] != SliceKind.PROFILER).any())


def _row(trace: Trace, first: int, last: int) -> tuple[str, ...]:
    lane = trace.lanes[int(trace.lane_id[first])]
    inside = np.flatnonzero(~trace.stray[first:last]) + first
    span = (
        int(trace.end_ns[inside].max()) - int(trace.start_ns[inside].min()) if len(inside) else None
    )
    return (_lane(lane), str(last - first), time_text(span), _longest(trace, inside))


def _lane(lane: Lane) -> str:
    name = clean(lane.name).strip() or str(lane.tid)
    process = clean(lane.process).strip()
    return f"{process}: {name}" if process else name


def _longest(trace: Trace, rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> str:
    """The name that most of the time of the outermost slices goes to."""
    outer = rows[trace.parent[rows] < 0]
    if not len(outer):
        return ""
    names, index = np.unique(trace.name_id[outer], return_inverse=True)
    time = np.zeros(len(names), np.int64)
    np.add.at(time, index, trace.end_ns[outer] - trace.start_ns[outer])
    return clean(trace.strings[int(names[time.argmax()])])
