"""Whether replays of one CUDA graph have the same kernels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.quality.launch_calls import graph_launch_rows
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import GPU_WORK

Int32 = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Replays:
    """A graph whose replays differ.

    Attributes:
        name: which graph, in words.
        replays: how often it was launched.
        fewest, most: activities of a replay.
    """

    name: str
    replays: int
    fewest: int
    most: int

    @property
    def spread(self) -> float:
        """Share of its activities that the poorest replay lacks."""
        return 1 - self.fewest / self.most


def uneven_replays(trace: Trace) -> Iterator[Replays]:
    """The graphs whose replays have different numbers of activities.

    A poorer replay counts only where all it has is in the richest one: another mix of kernels
    is another graph, or the same one updated.
    """
    calls = graph_launch_rows(trace)
    if len(calls) < 2:
        return
    calls = calls[np.argsort(trace.start_ns[calls], kind="stable")]
    work = np.flatnonzero(among(trace.kind, GPU_WORK) & among(trace.launch, calls))
    work = work[np.argsort(trace.launch[work], kind="stable")]
    bounds = (
        np.searchsorted(trace.launch[work], calls),
        np.searchsorted(trace.launch[work], calls, "right"),
    )
    owned = [work[a:b] for a, b in zip(*(side.tolist() for side in bounds), strict=True)]
    for name, mine in _graphs(trace, calls, owned):
        mine = [index for index in mine if len(owned[index])]
        sizes = [len(owned[index]) for index in mine]
        if len(mine) < 2 or min(sizes) == max(sizes):
            continue
        names = [np.sort(trace.name_id[owned[index]]) for index in mine]
        richest = names[sizes.index(max(sizes))]
        parts = [len(one) for one in names if _is_part(one, richest)]
        if len(parts) > 1:
            yield Replays(name, len(parts), min(parts), max(parts))


def _graphs(
    trace: Trace, calls: Int32, owned: list[NDArray[np.intp]]
) -> Iterator[tuple[str, list[int]]]:
    """(name, indices into ``calls``) of each graph that was launched more than once."""
    numbers = [_graph_id(trace, rows) for rows in owned]
    if any(number is not None for number in numbers):
        of_graph: dict[int, list[int]] = {}
        for index, number in enumerate(numbers):
            if number is not None:
                of_graph.setdefault(number, []).append(index)
        for known, mine in of_graph.items():
            yield f"graph {known}", mine
        return
    begins = [step.start_ns for step in trace.host_steps]
    starts = trace.start_ns[calls]
    first = np.searchsorted(starts, begins)
    stop = np.searchsorted(starts, [step.end_ns for step in trace.host_steps])
    counts = (stop - first).tolist()
    # Without numbers, only a program that does the same in each step shows which is which.
    if len(counts) > 1 and min(counts) == max(counts):
        for place in range(counts[0]):
            yield f"graph launch {place + 1} of a step", [int(i) + place for i in first]


def _graph_id(trace: Trace, rows: NDArray[np.intp]) -> int | None:
    """The number of the graph that a launch replayed, where it is recorded."""
    if not len(rows):
        return None
    number = trace.detail(int(rows[0])).get("graph id")
    known = isinstance(number, int) and not isinstance(number, bool) and number > 0
    return number if known else None


def _is_part(some: Int32, whole: Int32) -> bool:
    """Whether each name of one occurs at least as often in the other (both sorted)."""
    names, counts = np.unique(some, return_counts=True)
    there = np.searchsorted(whole, names, "right") - np.searchsorted(whole, names, "left")
    return bool((counts <= there).all())
