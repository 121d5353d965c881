"""What a recording without GPU activity holds instead, for there is no time to account for."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from whichlayer.analysis.report.text_layout import Column, table
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
    facts = [
        count_text(trace.events, "event"),
        f"{count_text(len(rows), 'lane')} with {count_text(slices, 'slice')}",
        f"{time_text(trace.duration_ns)} from first start to last end",
    ]
    ranked = sorted(range(len(rows)), key=lambda index: rows[index][0] - rows[index][1])
    shown = [_row(trace, *rows[index]) for index in ranked[:_SHOWN]]
    more = len(rows) - len(shown)
    return [
        f"RECORDING  {', '.join(facts)}",
        *(table(_COLUMNS, shown, indent="  ") if shown else ()),
        *([f"  and {count_text(more, 'more lane')}"] if more else ()),
    ]


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
