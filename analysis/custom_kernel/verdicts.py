"""Whether a custom kernel is justified, for each candidate of a window."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.compiled.graphs import graph_of
from whichlayer.analysis.custom_kernel.answers import Answer, Reply, overall
from whichlayer.analysis.custom_kernel.captured import captured
from whichlayer.analysis.custom_kernel.chains import SHORTEST, Chain, Origin, find_chains
from whichlayer.analysis.custom_kernel.parts import Parts
from whichlayer.analysis.custom_kernel.shapes import shape_groups, stable
from whichlayer.analysis.custom_kernel.worth import owns, projected
from whichlayer.analysis.findings.where import where_of
from whichlayer.analysis.kernels.names import short_name
from whichlayer.analysis.kernels.peaks import DeviceMatch, device_entry, match_device
from whichlayer.analysis.results import Analysis, Where

#: What a custom kernel costs, always told beside what it saves.
COST: Final = "one more vendor tie (CUDA: one vendor; Triton: a compiler per vendor), and its tests and upkeep"
#: Candidates with less of the step than this are not listed.
_LEAST: Final = 0.002
_BACKWARD: Final = re.compile(r"Backward\d*$|_backward$|AccumulateGrad")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One chain of kernels that a custom kernel could replace, and whether it should.

    Attributes:
        answer: yes only if all three are.
        origin: ``eager``, ``compiled`` or ``hidden``.
        kernels: short names of one call, in order.
        operators: those that launched them, in order, each once.
        calls: in the window.
        time_ns: of its kernels in the window, each instant counted once.
        share: of the window times its devices.
        saving_ns: what one kernel would save at most; None where it is not known.
        external_bytes: what that kernel would move in a typical call; None likewise.
        nothing_captures, owns, stable: the three questions.
        instead: the cheaper bet, or what to record; empty where the answer is yes.
        where: of the call in the middle.
    """

    answer: Answer
    origin: Origin
    kernels: tuple[str, ...]
    operators: tuple[str, ...]
    calls: int
    time_ns: int
    share: float
    saving_ns: int | None
    external_bytes: int | None
    nothing_captures: Reply
    owns: Reply
    stable: Reply
    instead: str
    where: Where

    @property
    def saving_share(self) -> float | None:
        """``saving_ns`` of the window times its devices."""
        if self.saving_ns is None or not self.time_ns:
            return None
        return self.saving_ns * self.share / self.time_ns

    @property
    def replies(self) -> tuple[Reply, Reply, Reply]:
        """The three answers in order."""
        return self.nothing_captures, self.owns, self.stable


def custom_kernels(analysis: Analysis) -> tuple[Candidate, ...]:
    """Every candidate of the window: what is justified first, then by time."""
    trace = analysis.trace
    parts = Parts(analysis)
    peaks = [
        match_device(device_entry(device.number, trace.header), trace.header, analysis.options)
        for device in analysis.devices
    ]
    trains = any(_BACKWARD.search(name[-64:]) for name in trace.strings)
    whole = max(analysis.budget.total_ns, 1)
    chains = (chain for chain in find_chains(analysis) if chain.time_ns >= _LEAST * whole)
    judged = (_judged(analysis, chain, peaks, parts, trains) for chain in chains)
    found = [one for one in judged if one is not None]
    rank = {Answer.YES: 0, Answer.UNKNOWN: 1, Answer.NO: 2}
    return tuple(sorted(found, key=lambda one: (rank[one.answer] > 0, -one.time_ns)))


def _judged(
    analysis: Analysis, chain: Chain, peaks: list[DeviceMatch], all_parts: Parts, trains: bool
) -> Candidate | None:
    """The verdict on a chain, None for one and the same call over and over: that is a loop."""
    trace, acts = analysis.trace, analysis.activities
    middle = chain.members[len(chain.members) // 2]
    parts = all_parts.of(middle)
    if len({(part.operator, part.kernels, part.tensors) for part in parts}) < SHORTEST:
        return None
    before = chain.before[len(chain.members) // 2]
    earlier = all_parts.of(_same_graph(analysis, before[before >= 0], middle))
    groups = np.unique(acts.group[middle])
    rules = frozenset(analysis.kernels[one].rule for one in groups.tolist() if one >= 0)
    shapes = shape_groups(analysis, chain)
    saving = projected(
        analysis, chain, shapes, peaks[int(acts.device[middle[0]])], all_parts, trains=trains
    )
    replies = (
        captured(chain.origin, parts, earlier, rules),
        owns(analysis, chain, saving),
        stable(analysis, chain, shapes),
    )
    answer = overall(replies)
    return Candidate(
        answer=answer,
        origin=chain.origin,
        kernels=tuple(short_name(trace.name(int(row))) for row in acts.row[middle]),
        operators=tuple(dict.fromkeys(part.operator for part in parts if part.operator)),
        calls=chain.calls,
        time_ns=chain.time_ns,
        share=chain.time_ns / max(analysis.budget.total_ns, 1),
        saving_ns=saving.ns,
        external_bytes=saving.external_bytes,
        nothing_captures=replies[0],
        owns=replies[1],
        stable=replies[2],
        instead=_instead(answer, replies),
        where=where_of(trace, int(trace.launch[acts.row[middle[0]]])),
    )


def _same_graph(
    analysis: Analysis, before: NDArray[np.int64], members: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Of the kernels before a chain those that the very same call of a compiled graph launched."""
    trace, row = analysis.trace, analysis.activities.row
    launches = trace.launch[row[np.append(before, members[0])]].astype(np.int64)
    graphs = graph_of(trace, launches)
    kept: NDArray[np.int64] = before[graphs[:-1] == graphs[-1]]
    return kept


def _instead(answer: Answer, replies: tuple[Reply, ...]) -> str:
    """The cheaper bet of the answer that decided: the first no, else the first unknown."""
    if answer is Answer.YES:
        return ""
    return next((reply.instead for reply in replies if reply.answer is answer), "")
