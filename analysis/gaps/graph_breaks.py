"""Where compiled functions broke: the time between two compiled graphs that a frame proves.

Dynamo names what is left of a function after a break ``torch_dynamo_resume_in_<function>_at_
<line>``. A region (``Torch-Compiled Region: 0/0``) is around a whole function, the rest and its
region included; its graph (``CompiledFunction``, ``## Call CompiledFxGraph … ##``) is what ran
compiled. The break lasts from the end of the graph before the rest, or from the start of the
frame that calls it, to the first graph inside the rest, or to its end without any. A region
without such a frame inside stands for its graph.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.relabel import Spans, disjoint
from whichlayer.analysis.gaps.remembered import once_per_trace
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

_RESUME = re.compile(
    r"^((?P<file>.+)\(\d+\): )?torch_dynamo_resume_in_(?P<function>.+)_at_(?P<line>\d+)$"
)
_REGION = re.compile(r"^Torch-Compiled Region\b")
_GRAPH = re.compile(r"^CompiledFunction$|^(## )?(Call )?CompiledFxGraph\b")
_HOST = (int(SliceKind.CPU_OP), int(SliceKind.ANNOTATION))


def graph_breaks(trace: Trace) -> dict[int, Spans]:
    """The proven graph breaks of each thread; their rows are the frames that prove them."""
    proofs = np.flatnonzero(_named(trace, _RESUME) & (trace.kind == SliceKind.PYTHON))
    if not len(proofs):
        return {}
    graphs = graph_rows(trace)
    found: dict[int, list[tuple[int, int, int]]] = {}
    ends: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
    for row in proofs.tolist():
        lane = int(trace.lane_id[row])
        if lane not in ends:
            mine = graphs[trace.lane_id[graphs] == lane]
            ends[lane] = trace.start_ns[mine], np.sort(trace.end_ns[mine])
        found.setdefault(lane, []).append((*_broken(trace, row, *ends[lane]), row))
    return {lane: disjoint(spans) for lane, spans in found.items()}


@once_per_trace
def graph_rows(trace: Trace) -> NDArray[np.intp]:
    """What ran compiled on the host, in order of time on each thread."""
    host = among(trace.kind, _HOST)
    graphs = _named(trace, _GRAPH) & host
    regions = np.flatnonzero(_named(trace, _REGION) & host)
    rests = np.flatnonzero(_named(trace, _RESUME) & (trace.kind == SliceKind.PYTHON))
    if len(rests):
        # Slices are sorted by thread and start: the next such frame tells.
        at = np.minimum(np.searchsorted(rests, regions), len(rests) - 1)
        inside = (rests[at] > regions) & (trace.lane_id[rests[at]] == trace.lane_id[regions])
        inside &= trace.start_ns[rests[at]] < trace.end_ns[regions]
        regions = regions[~inside]
    graphs[regions] = True
    return np.flatnonzero(graphs)


def region_of(trace: Trace, row: int) -> str:
    """The region that a compiled graph belongs to, by name; its own where none is recorded."""
    around = (trace.name(up) for up in [row, *trace.enclosing(row)])
    return next((name for name in around if _REGION.match(name)), trace.name(row))


def _broken(
    trace: Trace, row: int, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[int, int]:
    """(start, end) of the break around the beginning of the rest of a function.

    A rest without any region was not compiled at all: all of it is what the break left out.
    """
    begin, finish = int(trace.start_ns[row]), int(trace.end_ns[row])
    last = int(np.searchsorted(ends, begin, "right")) - 1
    low = int(ends[last]) if last >= 0 else begin
    callers = (up for up in trace.enclosing(row) if trace.kind[up] == SliceKind.PYTHON)
    caller = next(callers, -1)
    if caller >= 0:
        called = int(trace.start_ns[caller])
        low = max(low, called) if last >= 0 else called
    first = int(np.searchsorted(starts, begin, "left"))
    inside = first < len(starts) and starts[first] < finish
    return low, int(starts[first]) if inside else finish


def place_of_break(name: str) -> tuple[str, int, str] | None:
    """(file, line, function) of the break that such a frame's name tells, None for others."""
    match = _RESUME.match(name)
    if match is None or match["file"] is None:
        return None
    return match["file"].replace("\\", "/"), int(match["line"]), match["function"]


def _named(trace: Trace, pattern: re.Pattern[str]) -> NDArray[np.bool_]:
    """Whether each slice has such a name: bool (n,)."""
    ids = [i for i, text in enumerate(trace.strings) if pattern.search(text)]
    return among(trace.name_id, ids) if ids else np.zeros(len(trace), np.bool_)
