"""Chains of adjacent kernels that one kernel could replace, by what they are made of.

A chain lies on one stream, in one compiled graph (or outside of any) and one step; it begins
anew at a product, a convolution or an attention, so that it holds one of these at most and
what follows it. A gather in front of a product belongs to the product. Chains of the same
kernels in the same order are one candidate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.compiled.fused import fused_operators
from whichlayer.analysis.compiled.graphs import graph_of
from whichlayer.analysis.kernels.names import family
from whichlayer.analysis.results import Analysis, Role
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Bool = NDArray[np.bool_]
Int64 = NDArray[np.int64]
UInt64 = NDArray[np.uint64]

LONGEST: Final = 15
SHORTEST: Final = 2
#: Candidates that are looked at, those with the most time.
_CANDIDATES: Final = 20
ANCHORS: Final = frozenset({"matmul", "convolution", "attention"})
GATHERS: Final = frozenset(
    {"index", "gather", "embedding", "index_select", "index_put", "scatter", "scatter_add",
     "index_add", "_unsafe_index"}
)  # fmt: skip
_PRIME: Final = np.uint64(0x100000001B3)


class Origin(StrEnum):
    """Who launched a chain."""

    EAGER = "eager"
    COMPILED = "compiled"
    HIDDEN = "hidden"  # a graph of the runtime, or no launch in the file


@dataclass(frozen=True, slots=True)
class Chain:
    """All occurrences of one sequence of kernels.

    Attributes:
        origin: who launched it.
        members: int64 (calls, kernels), indices into ``Analysis.activities``.
        before: int64 (calls, k), the kernels before it on its stream, -1 for none.
        time_ns: of its kernels in the window, each instant counted once.
    """

    origin: Origin
    members: Int64
    before: Int64
    time_ns: int

    @property
    def size(self) -> int:
        """Kernels of one call."""
        return int(self.members.shape[1])

    @property
    def calls(self) -> int:
        """How often it ran in the window."""
        return int(self.members.shape[0])


def is_gather(name: str) -> bool:
    """Whether a kernel picks or places rows by index, by its own or its fused operators' names."""
    if name.startswith("triton_"):
        return not GATHERS.isdisjoint(fused_operators(name))
    return family(name) == "index"


def find_chains(analysis: Analysis) -> tuple[Chain, ...]:
    """The candidates of the window, most time first."""
    trace, acts = analysis.trace, analysis.activities
    if not len(trace):
        return ()
    chosen = np.flatnonzero((acts.owned_ns > 0) & (trace.kind[acts.row] == SliceKind.KERNEL))
    if len(chosen) < SHORTEST:
        return ()
    lane = trace.lane_id[acts.row[chosen]]
    order = chosen[np.lexsort((acts.start_ns[chosen], lane))]
    rows = acts.row[order]
    launch = trace.launch[rows].astype(np.int64)
    graph = graph_of(trace, launch)
    origin = _origins(trace, launch, graph)
    names = trace.name_id[rows]
    anchor, gather = _by_name(trace, names, _is_anchor), _by_name(trace, names, is_gather)
    start = _starts(analysis, order, graph, origin, anchor, gather)
    first = np.flatnonzero(start)
    size = np.diff(np.append(first, len(order)))
    comm = acts.role[order] == Role.COMM
    real = (size >= SHORTEST) & ~comm[first]
    if not real.any():
        return ()
    signature = _signatures(names, origin, first, size)
    time = np.add.reduceat(acts.owned_ns[order], first)
    return _grouped(order, first[real], size[real], signature[real], time[real], origin)


def _grouped(
    order: Int64, first: Int64, size: Int64, signature: UInt64, time: Int64, origin: Int64
) -> tuple[Chain, ...]:
    _, lead, group = np.unique(signature, return_index=True, return_inverse=True)
    total = np.bincount(group, weights=time)
    kinds = tuple(Origin)
    found = []
    for one in np.lexsort((first[lead], -total))[:_CANDIDATES].tolist():
        mine = first[group == one]
        length = int(size[lead[one]])
        members = order[mine[:, np.newaxis] + np.arange(length)]
        earlier = mine[:, np.newaxis] - np.arange(LONGEST, 0, -1)
        before = np.where(earlier >= 0, order[np.maximum(earlier, 0)], -1)
        kind = kinds[int(origin[mine[0]])]
        found.append(Chain(kind, members, before, int(time[group == one].sum())))
    return tuple(found)


def _starts(
    analysis: Analysis, order: Int64, graph: Int64, origin: Int64, anchor: Bool, gather: Bool
) -> Bool:
    """Where a chain begins: bool (n,)."""
    trace, acts = analysis.trace, analysis.activities
    lane = trace.lane_id[acts.row[order]]
    step = _steps(analysis, order)
    comm = acts.role[order] == Role.COMM
    start = np.ones(len(order), np.bool_)
    start[1:] = (lane[1:] != lane[:-1]) | (graph[1:] != graph[:-1]) | (step[1:] != step[:-1])
    start[1:] |= (origin[1:] != origin[:-1]) | comm[1:] | comm[:-1]
    # The second kernel of a product belongs to the first.
    op = acts.op_row[order]
    anchor = anchor.copy()
    anchor[1:] &= start[1:] | (op[1:] < 0) | (op[1:] != op[:-1]) | ~anchor[:-1]
    # A gather hands its rows to the product behind it.
    fed = np.zeros(len(order), np.bool_)
    fed[1:] = anchor[1:] & gather[:-1] & ~start[1:]
    start |= anchor & ~fed
    start[:-1] |= fed[1:]
    position = np.arange(len(order))
    begun = np.maximum.accumulate(np.where(start, position, 0))
    every: Bool = (position - begun) % LONGEST == 0
    return start | every


def _steps(analysis: Analysis, order: Int64) -> Int64:
    """The step that each activity belongs to, by its launch: int64 (n,)."""
    trace, acts = analysis.trace, analysis.activities
    edges = np.array([step.start_ns for step in analysis.window.steps], np.int64)
    launch = trace.launch[acts.row[order]]
    when = np.where(launch >= 0, trace.start_ns[np.maximum(launch, 0)], acts.start_ns[order])
    return np.searchsorted(edges, when, "right").astype(np.int64)


def steps_of(analysis: Analysis, members: Int64) -> int:
    """In how many steps of the window activities were launched."""
    if not analysis.window.steps:
        return 0
    return len(np.unique(_steps(analysis, members)))


def _origins(trace: Trace, launch: Int64, graph: Int64) -> Int64:
    """Place in ``Origin`` of each activity: int64 (n,)."""
    ids = [i for i, name in enumerate(trace.strings) if "GraphLaunch" in name[:40]]
    hidden = launch < 0
    if ids:
        hidden |= among(trace.name_id[np.maximum(launch, 0)], ids)
    return np.where(hidden, 2, np.where(graph >= 0, 1, 0)).astype(np.int64)


def _signatures(names: NDArray[np.int32], origin: Int64, first: Int64, size: Int64) -> UInt64:
    """What tells sequences of kernels apart: uint64 (chains,)."""
    place = np.arange(len(names)) - np.repeat(first, size)
    mixed = (names.astype(np.uint64) + np.uint64(1)) * _PRIME
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(2) * place.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    found = np.add.reduceat(mixed ^ (mixed >> np.uint64(32)), first)
    return (
        found * np.uint64(64)
        + size.astype(np.uint64) * np.uint64(4)
        + origin[first].astype(np.uint64)
    )


def _is_anchor(name: str) -> bool:
    return family(name) in ANCHORS or name.startswith("triton_tem_")


def _by_name(trace: Trace, names: NDArray[np.int32], ask: Callable[[str], bool]) -> Bool:
    """One answer for each distinct name: bool (n,)."""
    distinct, inverse = np.unique(names, return_inverse=True)
    told = np.array([ask(trace.strings[int(one)]) for one in distinct], np.bool_)
    return told[inverse]
