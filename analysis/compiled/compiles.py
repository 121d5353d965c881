"""When the program compiled: warming up, or again in the middle of the run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.causes.recompile import marks
from whichlayer.analysis.gaps.remembered import once_per_trace
from whichlayer.analysis.intervals import Intervals, union
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind


@dataclass(frozen=True, slots=True)
class Compiles:
    """Stretches in which Dynamo or Inductor were at work, all threads together.

    Attributes:
        first, first_ns: up to the end of the first recorded step; without steps, all.
        later, later_ns: after it: recompiles.
    """

    first: int
    first_ns: int
    later: int
    later_ns: int


def compiles_of(analysis: Analysis) -> Compiles:
    """The compiles of the recording."""
    busy = _compiling(analysis.trace)
    steps = analysis.trace.host_steps
    end = steps[0].end_ns if steps else np.iinfo(np.int64).max
    early = busy.start < end
    lasted = busy.end - busy.start
    return Compiles(
        int(early.sum()), int(lasted[early].sum()), int((~early).sum()), int(lasted[~early].sum())
    )


@once_per_trace
def _compiling(trace: Trace) -> Intervals:
    host = among(trace.kind, (SliceKind.PYTHON, SliceKind.ANNOTATION, SliceKind.CPU_OP))
    pairs = np.unique(trace.name_id[host].astype(np.int64) * 16 + trace.kind[host])
    told = [
        pair
        for pair in pairs.tolist()
        if marks(trace.strings[pair // 16], SliceKind(pair % 16), "")
    ]
    if not told:
        return union(np.empty(0, np.int64), np.empty(0, np.int64))
    rows = np.flatnonzero(among(trace.name_id.astype(np.int64) * 16 + trace.kind, told))
    return union(trace.start_ns[rows], trace.end_ns[rows])
