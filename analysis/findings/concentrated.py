"""Whether a finding is about one step alone: a single stall, not what the program always does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.results import Analysis

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

#: A step that holds more than this share of a finding is told.
MOST = 0.5
#: And at least so many times what each step would hold if all were alike.
RATIO = 2.0
#: Fewer steps show nothing usual.
MIN_STEPS = 3


def step_line(analysis: Analysis, start_ns: Int64, device: Int32, time_ns: Int64) -> str | None:
    """A sentence if one step of the window holds most of a finding's time; else None.

    Args:
        analysis: with its steps.
        start_ns: int64 (n,), where each part of the finding begins.
        device: int32 (n,), indices into ``Analysis.devices``.
        time_ns: int64 (n,), what each part takes.
    """
    rows = analysis.steps.rows if analysis.steps is not None else ()
    if len(rows) < MIN_STEPS:
        return None
    held = np.zeros(len(rows), np.int64)
    for number in np.unique(device).tolist():
        spans = [row.spans[number] for row in rows if number < len(row.spans)]
        if len(spans) < len(rows):
            return None
        begins = np.array([span[0] for span in spans], np.int64)
        ends = np.array([span[1] for span in spans], np.int64)
        mine = device == number
        at = np.searchsorted(begins, start_ns[mine], "right") - 1
        inside = (at >= 0) & (start_ns[mine] < ends[np.maximum(at, 0)])
        np.add.at(held, at[inside], time_ns[mine][inside])
    total, most = int(time_ns.sum()), int(held.max(initial=0))
    if total <= 0 or most <= MOST * total or most * len(rows) < RATIO * total:
        return None
    step = rows[int(held.argmax())].step
    return f"1 of {len(rows)} steps holds {100 * most / total:.0f} % of it: step {step.number}"
