"""Which allocation belongs to the first step's warm-up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.gaps.catalogue import cause_code, cause_rules
from whichlayer.analysis.gaps.host import Marks
from whichlayer.analysis.results import Gaps
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.window import steps_on

#: Of the first step's allocation calls, what a later step may still spend on the average.
#: Setting ``rules.warm-up.later_share``.
LATER_SHARE = 0.10
#: Fewer recorded steps show no steady state.
MIN_STEPS = 3


def without_warm_up(gaps: Gaps, trace: Trace, marks: Marks, devices: Sequence[Activities]) -> Gaps:
    """The same pieces, with the first step's one-off allocation named as such.

    The calls decide, not the gaps: allocation that goes on under the queue's cover is no
    warm-up.
    """
    if len(trace.steps) < MIN_STEPS or not len(gaps) or not _stops(trace, marks):
        return gaps
    cause, layer = gaps.cause.copy(), gaps.layer.copy()
    for device, activities in enumerate(devices):
        first = int(steps_on(trace, activities).end_ns[0])
        early = (gaps.device == device) & (gaps.cause == cause_code("allocator"))
        early &= gaps.start_ns < first
        cause[early], layer[early] = cause_code("warm-up"), int(cause_rules()["warm-up"].layer)
    return replace(gaps, cause=cause, layer=layer)


def _stops(trace: Trace, marks: Marks) -> bool:
    """Whether allocation calls belong to the first recorded step alone."""
    rows = np.flatnonzero(marks.code == cause_code("allocator"))
    length = trace.end_ns[rows] - trace.start_ns[rows]
    second = trace.steps[1].start_ns
    early = int(length[trace.start_ns[rows] < second].sum())
    later = int(length[trace.start_ns[rows] >= second].sum()) / (len(trace.steps) - 1)
    return later < LATER_SHARE * early
