"""What is kept of a file of which a part is wanted.

The whole text is read, whatever part of it is wanted: JSON has no index, and where the part lies
is known only at the end. What can be spared is what a slice costs once it is there: its name, its
arguments, its place among the columns. So a file is read in outline first: slices that tell about
the recording as a whole in full, of all others nothing but their times, for origin and strays are
of all slices. Then the chunks of text that hold something of the wanted stretch are read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from whichlayer.analysis.steps.phase_names import phase_of
from whichlayer.analysis.trace.classify import annotation_names
from whichlayer.analysis.trace.columns import Bool, Int64, Trace, UInt8
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind

#: Kinds that are kept wherever they lie. Kernels are judged by all of their calls, which takes
#: what ran on the GPU, the calls that launched it and the operators around those; the steps are
#: among the annotations.
EVERYWHERE: Final = frozenset(
    {
        *GPU_WORK,
        SliceKind.GPU_ANNOTATION,
        SliceKind.GPU_SYNC,
        SliceKind.RUNTIME,
        SliceKind.OVERHEAD,
        SliceKind.PROFILER,
        SliceKind.ANNOTATION,
        SliceKind.CPU_OP,
    }
)

_KINDS: Final = np.arange(len(SliceKind))
_IS_KEPT: Final = np.isin(_KINDS, list(EVERYWHERE))

#: Kinds of which some are kept wherever they lie, by their names.
_MAY_BE_NAMED: Final = np.isin(_KINDS, (SliceKind.PYTHON, SliceKind.OTHER))

_NEVER: Final = -(1 << 63)


@dataclass(frozen=True, slots=True)
class Keep:
    """The stretch of which everything is kept.

    Attributes:
        low_ns, high_ns: the stretch, on the clock that the times are on.
    """

    low_ns: int
    high_ns: int

    def inside(self, start_ns: Int64, end_ns: Int64) -> Bool:
        """Which slices touch the stretch: bool (n,)."""
        found: Bool = (start_ns < self.high_ns) & (end_ns >= self.low_ns)
        return found

    def on_clock(self, origin_ns: int) -> Keep:
        """A stretch since the trace start on the file's own clock."""
        return Keep(self.low_ns + origin_ns, self.high_ns + origin_ns)


#: Nothing is in it: the outline of a file.
OUTLINE: Final = Keep(_NEVER, _NEVER)


def kept_kinds(kind: UInt8) -> Bool:
    """Which slices are kept wherever they lie, by their kind: bool (n,)."""
    kept: Bool = _IS_KEPT[kind]
    return kept


def kept_outside(kind: UInt8, names: Callable[[], Iterable[str]]) -> Bool:
    """Which slices are kept although they lie outside: bool (n,).

    Args:
        kind: uint8 (n,), a ``SliceKind`` each, by category.
        names: gives n names.
    """
    kept = kept_kinds(kind)
    may_be = np.flatnonzero(_MAY_BE_NAMED[kind])
    if len(may_be):
        every = list(names())
        pairs = zip(kind[may_be].tolist(), [every[row] for row in may_be.tolist()], strict=True)
        kept[may_be] = [is_kept_by_name(*pair) for pair in pairs]
    return kept


def kept_in(trace: Trace) -> Bool:
    """Which slices of a whole recording are kept wherever they lie: bool (n,)."""
    kept = kept_kinds(trace.kind)
    frames = np.flatnonzero(trace.kind == SliceKind.PYTHON)
    ids, place = np.unique(trace.name_id[frames], return_inverse=True)
    named = [is_kept_by_name(SliceKind.PYTHON, trace.strings[one]) for one in ids.tolist()]
    kept[frames] = np.array(named, np.bool_)[place]
    return kept


@lru_cache(1 << 14)
def is_kept_by_name(kind: int, name: str) -> bool:
    """Whether slices of a kind and a name are kept wherever they lie.

    Annotations of old files are; and Python frames that tell the phase of a step (among them the
    calls of modules, in which kernels are looked for).
    """
    if kind == SliceKind.PYTHON:
        return phase_of(SliceKind.PYTHON, name) is not None
    return kind == SliceKind.OTHER and bool(annotation_names([name])[0])


@dataclass(slots=True)
class Reach:
    """From when to when what was seen lasts."""

    low_ns: int = -_NEVER - 1
    high_ns: int = _NEVER

    def note(self, start_ns: Int64, end_ns: Int64) -> None:
        """Takes the times of some events."""
        if len(start_ns):
            self.low_ns = min(self.low_ns, int(start_ns.min()))
            self.high_ns = max(self.high_ns, int(end_ns.max()))

    def join(self, other: Reach) -> None:
        """Takes what another has seen."""
        self.low_ns = min(self.low_ns, other.low_ns)
        self.high_ns = max(self.high_ns, other.high_ns)

    def take(self) -> tuple[int, int]:
        """What was seen since this was asked last."""
        seen = self.low_ns, self.high_ns
        self.low_ns, self.high_ns = -_NEVER - 1, _NEVER
        return seen


@dataclass(frozen=True, slots=True)
class Outlined:
    """A chunk of an outline.

    Attributes:
        first: how many events precede it in the file.
        events: how many were read of it.
        place: where in the decompressed text they stand: offsets and lengths.
        low_ns, high_ns: from when to when its slices last; the end is before the beginning where
            there are none.
    """

    first: int
    events: int
    place: list[tuple[int, int]]
    low_ns: int
    high_ns: int

    def meets(self, keep: Keep) -> bool:
        """Whether something in it may touch a stretch."""
        return self.low_ns < keep.high_ns and self.high_ns >= keep.low_ns
