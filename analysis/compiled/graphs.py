"""Where compiled code ran on the host: the spans of compiled graphs, forward and backward."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.findings.where import where_of
from whichlayer.analysis.gaps.graph_breaks import graph_rows, region_of
from whichlayer.analysis.gaps.remembered import once_per_trace
from whichlayer.analysis.intervals import Intervals, clip, union
from whichlayer.analysis.results import Analysis, Where, Window
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Bool = NDArray[np.bool_]
Int64 = NDArray[np.int64]

#: What AOTAutograd's backward is called where Inductor leaves no name of its own.
_BACKWARD: Final = "CompiledFunctionBackward"
_KEY: Final = re.compile(r"CompiledFxGraph (\w+)")
_VARIANT: Final = re.compile(r"^Torch-Compiled Region: (\d+)/(\d+)")
_MOST: Final = 50


@dataclass(frozen=True, slots=True)
class CompiledRegion:
    """Calls of one compiled graph.

    A region is an envelope: its time holds what the graph waited for, and what others ran
    beside it; times of regions are never added up.

    Attributes:
        name: the region (``Torch-Compiled Region: 0/0``), or the graph itself.
        graph: Inductor's key of the graph, or empty.
        calls: in the window.
        host_ns: median time of a call on the host.
        kernels: activities launched in it in the window.
        kernel_ns: their time, each instant counted once.
        where: of the first call.
    """

    name: str
    graph: str
    calls: int
    host_ns: int
    kernels: int
    kernel_ns: int
    where: Where


@once_per_trace
def compiled_rows(trace: Trace) -> NDArray[np.intp]:
    """The slices within which compiled code ran, outermost first on each thread."""
    ids = [i for i, name in enumerate(trace.strings) if name == _BACKWARD]
    host = (trace.kind == SliceKind.CPU_OP) | (trace.kind == SliceKind.ANNOTATION)
    backward = np.flatnonzero(among(trace.name_id, ids) & host) if ids else np.empty(0, np.intp)
    return np.union1d(graph_rows(trace), backward)


def graph_of(trace: Trace, rows: Int64) -> Int64:
    """The innermost compiled graph in which each slice begins: int64 (n,), -1 for none."""
    found = np.full(len(rows), -1, np.int64)
    graphs = compiled_rows(trace)
    if not len(graphs):
        return found
    wanted = np.zeros(len(trace), np.bool_)
    wanted[graphs] = True
    at = rows.astype(np.int64)
    while (at >= 0).any():
        hit = (at >= 0) & wanted[np.maximum(at, 0)]
        found[hit] = at[hit]
        at = np.where(hit | (at < 0), -1, trace.parent[np.maximum(at, 0)])
    return found


def region_list(analysis: Analysis, of_launch: Int64) -> tuple[CompiledRegion, ...]:
    """The regions whose calls began in the window, most kernel time first.

    Args:
        analysis: the analysis.
        of_launch: int64 (n,), the graph that launched each activity, -1 for none.
    """
    trace, window = analysis.trace, analysis.window
    graphs = in_window(trace, compiled_rows(trace), window)
    calls: dict[tuple[str, str], list[int]] = {}
    for row in graphs.tolist():
        calls.setdefault(_named(trace, row), []).append(row)
    owned = analysis.activities.owned_ns
    inside = np.flatnonzero((of_launch >= 0) & (owned > 0))
    kernels: dict[tuple[str, str], list[int]] = {}
    rows, which = np.unique(of_launch[inside], return_inverse=True)
    time = np.bincount(which, weights=owned[inside], minlength=len(rows))
    count = np.bincount(which, minlength=len(rows))
    for row, ns, number in zip(rows.tolist(), time.tolist(), count.tolist(), strict=True):
        sums = kernels.setdefault(_named(trace, row), [0, 0])
        sums[0] += number
        sums[1] += int(ns)
    found = []
    for name, members in calls.items():
        lasted = trace.end_ns[members] - trace.start_ns[members]
        number, ns = kernels.get(name, (0, 0))
        found.append(
            CompiledRegion(
                *name,
                len(members),
                int(np.median(lasted)),
                number,
                ns,
                where_of(trace, members[0]),
            )
        )
    # A region that holds a graph of its own is only its envelope.
    held = {one.name for one in found if one.graph}
    found = [one for one in found if one.graph or one.name not in held]
    found.sort(key=lambda one: (-one.kernel_ns, -one.calls, one.name, one.graph))
    return tuple(found[:_MOST])


def variants(trace: Trace) -> tuple[str, ...]:
    """Regions that exist in more than one compiled variant: guards failed at some time."""
    most: dict[str, int] = {}
    for name in trace.strings:
        found = _VARIANT.match(name)
        if found is not None and len(found[2]) < 9:
            most[found[1]] = max(most.get(found[1], 0), int(found[2]))
    return tuple(
        f"Torch-Compiled Region: {region}/{last}" for region, last in most.items() if last > 0
    )


def host_spans(trace: Trace, window: Window) -> dict[int, Intervals]:
    """When compiled code ran on each thread, clipped to the window."""
    rows = compiled_rows(trace)
    lanes = trace.lane_id[rows]
    return {
        lane: clip(
            union(trace.start_ns[rows[lanes == lane]], trace.end_ns[rows[lanes == lane]]),
            window.start_ns,
            window.end_ns,
        )
        for lane in np.unique(lanes).tolist()
    }


def in_window(trace: Trace, rows: NDArray[np.intp], window: Window) -> NDArray[np.intp]:
    """Those that overlap the window."""
    return rows[(trace.end_ns[rows] > window.start_ns) & (trace.start_ns[rows] < window.end_ns)]


def _named(trace: Trace, row: int) -> tuple[str, str]:
    key = _KEY.search(trace.name(row))
    return region_of(trace, row), key[1] if key is not None else ""
