"""Warm-up in the recording: work before the first step, or a long first step.

What runs before the first recorded step is shown and not counted. A first step of more than
1.5 times the median is counted as recorded, but is no usual step: ``--steps`` leaves it out.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.intervals import clip, union
from whichlayer.analysis.quality.gate import Gate, Recording

#: A first step this much longer than the median is warm-up.
WARM_UP_RATIO = 1.5
#: Fewer steps have no median to speak of.
MIN_STEPS = 3

GATE = Gate(
    "Q8",
    "warm-up is in the recording",
    thresholds={"first_step": WARM_UP_RATIO},
    source="nsys-ai",
    example="ResNet-50, recorded in 2020: 88 activities, 8.87 ms, before the first step; or, made: a "
    "first step of 5 ms before steps of 1 ms",
)


def check(recording: Recording) -> Iterator[TraceWarning]:
    """A warning for work before the first step, another for a long first step."""
    yield from _before_the_first_step(recording)
    steps = recording.window.steps
    if len(steps) < MIN_STEPS or steps[0] != recording.trace.steps[0]:
        return
    length = [step.end_ns - step.start_ns for step in steps]
    usual = float(np.median(length))
    nsight = recording.trace.producer == "nsight"
    how = "start the capture range two steps later" if nsight else "record with schedule(warmup=2)"
    limit = recording.limit(GATE, "first_step")
    if usual > 0 and length[0] > limit * usual:
        yield TraceWarning(
            GATE.id,
            f"the first step is {length[0] / usual:.1f} times the median (threshold "
            f"{limit:g}): warm-up; leave it out with --steps "
            f"{steps[1].number}:{steps[-1].number}, or {how}",
        )


def _before_the_first_step(recording: Recording) -> Iterator[TraceWarning]:
    steps, window = recording.trace.steps, recording.window
    if not steps or window.start_ns < steps[0].start_ns or window.steps[:1] != steps[:1]:
        return
    begin = steps[0].start_ns
    early = [activities.start_ns < begin for activities in recording.devices]
    count = sum(int(mine.sum()) for mine in early)
    if count:
        busy = sum(
            clip(union(a.start_ns[mine], a.end_ns[mine]), int(a.start_ns[0]), begin).total
            for a, mine in zip(recording.devices, early, strict=True)
            if mine.any()
        )
        yield TraceWarning(
            GATE.id,
            f"work before the first step ({count} of the activities, {busy / 1e6:.2f} ms): shown, "
            "but no part of the window; a recording that begins between two steps has none",
            count,
        )
