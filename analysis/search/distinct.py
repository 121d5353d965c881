"""The distinct names of a trace's slices by kind: few, however many slices there are."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.kernels.names import family, short_name
from whichlayer.analysis.text import clean
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Bool = NDArray[np.bool_]

_KINDS = len(SliceKind)

#: The families of slices that are no kernels.
_FAMILY = {
    SliceKind.CPU_OP: "operator",
    SliceKind.ANNOTATION: "annotation",
    SliceKind.PYTHON: "python",
    SliceKind.RUNTIME: "call",
    SliceKind.MEMCPY: "copy",
    SliceKind.MEMSET: "fill",
    SliceKind.GPU_ANNOTATION: "annotation",
    SliceKind.GPU_SYNC: "sync",
    SliceKind.OVERHEAD: "overhead",
}


class DistinctNames:
    """Pairs of a name and a kind.

    Attributes:
        shown: bool (n,), slices that the screen shows: no strays, not the recording itself.
        name_id: int64 (pairs,).
        kind: int64 (pairs,), a ``SliceKind``.
        pair: int32 (n,), of each slice.
    """

    def __init__(self, trace: Trace) -> None:
        """Number the pairs; linear in the slices."""
        self._trace = trace
        self.shown = ~(trace.stray | (trace.kind == SliceKind.PROFILER))
        if trace.part is not None:
            part = trace.part
            self.shown &= (trace.start_ns < part.high_ns) & (trace.end_ns >= part.low_ns)
        code = trace.name_id.astype(np.int64) * _KINDS + trace.kind
        there = np.zeros(max(len(trace.strings), 1) * _KINDS, np.bool_)
        there[code] = True
        pairs = np.flatnonzero(there)
        numbered = np.zeros(len(there), np.int32)
        numbered[pairs] = np.arange(len(pairs), dtype=np.int32)
        self.pair: Int32 = numbered[code]
        self.name_id, self.kind = np.divmod(pairs, _KINDS)

    def __len__(self) -> int:
        return len(self.name_id)

    @cached_property
    def texts(self) -> list[str]:
        """What is searched of each pair: the name, and on a second line its short form."""
        strings = self._trace.strings
        found = []
        for name_id, kind in zip(self.name_id.tolist(), self.kind.tolist(), strict=True):
            name = clean(strings[name_id])
            short = clean(short_name(strings[name_id])) if kind == SliceKind.KERNEL else name
            found.append(name if short == name else f"{name}\n{short}")
        return found

    @cached_property
    def lowered(self) -> list[str]:
        """The texts in lower case."""
        return [text.lower() for text in self.texts]

    @cached_property
    def families(self) -> list[str]:
        """The family of each pair, in a word."""
        strings = self._trace.strings
        return [
            family(strings[name_id])
            if kind == SliceKind.KERNEL
            else _FAMILY.get(SliceKind(kind), "other")
            for name_id, kind in zip(self.name_id.tolist(), self.kind.tolist(), strict=True)
        ]

    def name(self, pair: int) -> str:
        """The full name, cleaned."""
        return self.texts[pair].partition("\n")[0]

    def short(self, pair: int) -> str:
        """The short name where there is one, else the full one."""
        return self.texts[pair].rpartition("\n")[2]
