"""Which allocation and loading belongs to the first step's warm-up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.gaps.catalogue import cause_code, cause_rules
from whichlayer.analysis.results import Gaps
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.window import steps_on

#: Causes that a first step may pay for all others.
WARMING = ("allocator", "module-load")
#: Of the first step's time, what a later step may still show on the average.
#: Setting ``rules.warm-up.later_share``.
LATER_SHARE = 0.10
#: Fewer recorded steps show no steady state.
MIN_STEPS = 3


def without_warm_up(gaps: Gaps, trace: Trace, devices: Sequence[Activities]) -> Gaps:
    """The same pieces, with the first step's one-off costs named as such."""
    if len(trace.steps) < MIN_STEPS or not len(gaps):
        return gaps
    cause, layer = gaps.cause.copy(), gaps.layer.copy()
    code, rule = cause_code("warm-up"), cause_rules()["warm-up"]
    length = gaps.end_ns - gaps.start_ns
    for device, activities in enumerate(devices):
        first = int(steps_on(trace, activities).end_ns[0])
        for warming in WARMING:
            mine = (gaps.device == device) & (gaps.cause == cause_code(warming))
            early = mine & (gaps.start_ns < first)
            later = int(length[mine & ~early].sum()) / (len(trace.steps) - 1)
            if early.any() and later < LATER_SHARE * int(length[early].sum()):
                cause[early], layer[early] = code, int(rule.layer)
    return replace(gaps, cause=cause, layer=layer)
