"""What recording a live window cost the program, in words."""

from __future__ import annotations

from whichlayer.analysis.live.recording_key import RecordingCost, find_recording_cost
from whichlayer.analysis.report.text_layout import wrap
from whichlayer.analysis.report.units import time_text
from whichlayer.analysis.results import Analysis

NAME = "profiler-overhead"
"""The cause that owns such time inside a trace; outside it nothing else is meant."""


def cost_parts(cost: RecordingCost) -> list[str]:
    """What is known, a phrase each: steps, starting and stopping, writing.

    Steps that were shorter in the window than between windows cost nothing that can be told: the
    program's steps differ by more than the profiler adds.

    >>> cost_parts(RecordingCost(1, 2, 3, None, 3_000_000, 2_000_000))[0]
    'a step takes 3.000 ms in the window, 1.50 x the 2.000 ms without the profiler'
    >>> cost_parts(RecordingCost(step_ns=2_000_000, usual_step_ns=3_000_000))[0]
    'what a step costs more is not measurable: 2.000 ms in the window, 3.000 ms between windows'
    """
    parts = []
    if cost.slowdown is not None and cost.slowdown < 1.0:
        parts.append(
            f"what a step costs more is not measurable: {time_text(cost.step_ns)} in the window, "
            f"{time_text(cost.usual_step_ns)} between windows"
        )
    elif cost.slowdown is not None:
        parts.append(
            f"a step takes {time_text(cost.step_ns)} in the window, {cost.slowdown:.2f} x the "
            f"{time_text(cost.usual_step_ns)} without the profiler"
        )
    if cost.switching_ns is not None:
        parts.append(f"{time_text(cost.switching_ns)} to start and stop it")
    if cost.export_ns is not None:
        parts.append(f"{time_text(cost.export_ns)} to write the trace")
    return parts


def recording_cost_lines(analysis: Analysis) -> list[str]:
    """The lines of a report on a window that whichlayer recorded; none for other traces."""
    cost = find_recording_cost(analysis.trace.header)
    parts = [] if cost is None else cost_parts(cost)
    return wrap(f"{NAME}: {'; '.join(parts)}", "recorder ") if parts else []
