"""The chain behind a slice: GPU work, its launch, operators, module and Python line.

Effects come first, causes after them. Off the GPU a slice starts many things; its chain goes
down to the first of them, unless the user came up from another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.findings.forward import forward_of
from whichlayer.analysis.findings.where import is_users_frame
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind

Int32 = NDArray[np.int32]

_MODULE = "nn.Module: "

#: So many of what an operator or a frame started are marked besides its chain.
_MOST_STARTED = 2000


@dataclass(frozen=True, slots=True)
class Link:
    """One slice of a chain: what it is in a word, and its trace row."""

    word: str
    row: int


@dataclass(frozen=True, slots=True)
class Chain:
    """What leads from a slice to its causes and effects.

    Attributes:
        links: effects first.
        at: which of them the slice itself is.
        started: int32 (n,), all GPU work that was launched inside the slice; empty on a GPU.
    """

    links: tuple[Link, ...]
    at: int
    started: Int32

    @property
    def foot(self) -> int:
        """The GPU work that it begins with, or -1."""
        return self.links[0].row if self.links and self.links[0].word in _FEET.values() else -1

    def beside(self, step: int) -> Link | None:
        """The next cause for a positive step, the next effect for a negative one."""
        place = self.at + step
        return self.links[place] if 0 <= place < len(self.links) else None


_FEET = {
    int(SliceKind.KERNEL): "kernel",
    int(SliceKind.MEMCPY): "copy",
    int(SliceKind.MEMSET): "memset",
}


class Launched:
    """GPU work by the call that launched it, found without looking through all of it."""

    def __init__(self, trace: Trace) -> None:
        """Sort the GPU work by launch; a trace's rows are sorted by lane, then start."""
        rows = np.flatnonzero(trace.launch >= 0).astype(np.int32)
        self._rows = rows[np.argsort(trace.launch[rows], kind="stable")]
        self._launch = trace.launch[self._rows]
        self._trace = trace

    def by(self, row: int) -> Int32:
        """What one call launched."""
        low, high = np.searchsorted(self._launch, (row, row + 1)).tolist()
        return self._rows[low:high]

    def inside(self, row: int) -> Int32:
        """What was launched by a slice or by any call of its thread inside it."""
        trace = self._trace
        last = int(trace.lane_rows[int(trace.lane_id[row]) + 1])
        stop = row + int(
            np.searchsorted(trace.start_ns[row:last], max(int(trace.end_ns[row]), 1), "left")
        )
        low, high = np.searchsorted(self._launch, (row, max(stop, row + 1))).tolist()
        return self._rows[low:high]


def chain_of(
    trace: Trace, launched: Launched, row: int, foot: int = -1, roots: Sequence[str] = ()
) -> Chain:
    """The chain through a slice.

    Args:
        trace: the recording.
        launched: of it.
        row: the slice.
        foot: GPU work that the user came from; the chain goes down to it where it can.
        roots: ``Options.source_roots``: what counts as the user's own code.
    """
    none = np.empty(0, np.int32)
    if trace.kind[row] in GPU_WORK:
        return Chain(tuple(_upwards(trace, row, roots)), 0, none)
    started = launched.inside(row)
    if foot >= 0:
        links = _upwards(trace, foot, roots)
        at = next((i for i, link in enumerate(links) if link.row == row), -1)
        if at >= 0:
            return Chain(tuple(links), at, started[:_MOST_STARTED])
    if not len(started):
        links = [Link(_word(trace, row), row), *_around(trace, row, roots)]
        return Chain(tuple(links), 0, none)
    first = int(started[int(trace.start_ns[started].argmin())])
    links = _upwards(trace, first, roots)
    at = next((i for i, link in enumerate(links) if link.row == row), -1)
    if at < 0:
        at = sum(1 for link in links if _lies_in(trace, link.row, row)) or 1
        links.insert(at, Link(_word(trace, row), row))
    return Chain(tuple(links), at, started[:_MOST_STARTED])


def _upwards(trace: Trace, gpu_row: int, roots: Sequence[str]) -> list[Link]:
    links = [Link(_FEET.get(int(trace.kind[gpu_row]), "kernel"), gpu_row)]
    launch = int(trace.launch[gpu_row])
    if launch < 0:
        return links
    return [*links, Link("launch", launch), *_around(trace, launch, roots)]


def _around(trace: Trace, row: int, roots: Sequence[str]) -> list[Link]:
    """Operators, module and Python line around a slice; where there is no Python, of its forward."""
    around = trace.enclosing(row)
    links = _operators(trace, around)
    stack = _stack(trace, around, roots)
    if not stack:
        forward = forward_of(trace, row)
        if forward >= 0:
            links.append(Link("forward", forward))
            stack = _stack(trace, trace.enclosing(forward), roots)
    return links + stack


def _operators(trace: Trace, around: list[int]) -> list[Link]:
    return [Link("operator", row) for row in around if trace.kind[row] == SliceKind.CPU_OP]


def _stack(trace: Trace, around: list[int], roots: Sequence[str]) -> list[Link]:
    """The innermost module and the innermost line of the user's, else of anyone's."""
    frames = [row for row in around if trace.kind[row] == SliceKind.PYTHON]
    modules = [row for row in frames if trace.name(row).startswith(_MODULE)]
    lines = [row for row in frames if row not in modules]
    mine = [row for row in lines if is_users_frame(trace.name(row), roots)]
    links = [Link("module", row) for row in modules[:1]]
    links += [Link("python", row) for row in (mine or lines)[:1]]
    return sorted(links, key=lambda link: frames.index(link.row))


def _word(trace: Trace, row: int) -> str:
    kind = int(trace.kind[row])
    if kind == SliceKind.PYTHON:
        return "module" if trace.name(row).startswith(_MODULE) else "python"
    words = {SliceKind.CPU_OP: "operator", SliceKind.RUNTIME: "call", SliceKind.ANNOTATION: "note"}
    return words.get(SliceKind(kind), "slice")


def _lies_in(trace: Trace, row: int, around: int) -> bool:
    """Whether a slice lies in another of its thread, or is the GPU work at the foot."""
    if trace.kind[row] in GPU_WORK:
        return True
    return bool(
        trace.lane_id[row] == trace.lane_id[around]
        and trace.start_ns[row] >= trace.start_ns[around]
        and trace.end_ns[row] <= trace.end_ns[around]
    )
