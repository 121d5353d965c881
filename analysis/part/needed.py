"""Which stretch of a recording is needed in full to account for some steps or for a span.

That is more than the window: what the host did before decides who pays for the window's first
gaps, and its kernels may have been launched long before they run. Everything here follows from
slices that are kept wherever they lie (``whichlayer.analysis.reader.keep``), so it is the same
for a whole recording and for a part of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from whichlayer.analysis.activities import Activities, collect_activities
from whichlayer.analysis.options import Options
from whichlayer.analysis.reader.keep import Keep
from whichlayer.analysis.results import Window
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.window import choose_window

#: Before a span at least this much is read where no steps tell how long leads and waits last.
LEAST_BEFORE_NS: Final = 1_000_000_000

#: What a thread does at the end of a window is judged by how long it goes on; nothing is asked
#: of it beyond this (``whichlayer.analysis.gaps.composite``).
AFTER_NS: Final = 3_000_000

#: Nothing lies in it.
NOTHING: Final = Keep(0, 0)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be looked at: a span, else steps.

    Attributes:
        steps: (first, last) step numbers, both in, or None.
        span_ns: (start, end) since the trace start, or None.
    """

    steps: tuple[int, int] | None = None
    span_ns: tuple[int, int] | None = None


def takes_all(trace: Trace, wanted: Wanted) -> bool:
    """Whether steps are wanted and nothing marks any: only all of a recording can show them."""
    return wanted.span_ns is None and not trace.steps


def needed(trace: Trace, wanted: Wanted) -> Keep | None:
    """The stretch that is needed in full, since the trace start; None where nothing is wanted.

    It begins with the step before the window, or the window's length before it, or where its first
    kernel was launched if that is earlier. It ends a little after the window and what ends the
    gap there.

    Args:
        trace: a whole recording, or a part of it.
        wanted: what is to be looked at.
    """
    devices = collect_activities(trace)
    window = _window(trace, devices, wanted)
    if window is None:
        return None
    begun = min([window.start_ns, *(_first_launch(trace, one, window) for one in devices)])
    if wanted.span_ns is not None:
        low, high = _before_span(trace, window, begun), window.end_ns
    else:
        low = min(begun, _step_before(trace, window))
        high = max(window.end_ns, window.steps[-1].end_ns)
    high = max([high, *(_gap_end(trace, one, window.end_ns) for one in devices)])
    return Keep(low, high + AFTER_NS)


def _window(trace: Trace, devices: tuple[Activities, ...], wanted: Wanted) -> Window | None:
    """What is to be looked at; None for no such steps or an empty span, which analysis tells."""
    if wanted.span_ns is not None:
        low, high = wanted.span_ns
        return Window(low, high, (), "") if high > low else None
    try:
        return choose_window(trace, devices, Options(steps=wanted.steps))
    except ValueError:
        return None


def _before_span(trace: Trace, window: Window, begun_ns: int) -> int:
    """When the step before the one begins in which a span's work is launched first."""
    length = window.end_ns - window.start_ns
    steps = [step.start_ns for step in trace.steps if step.start_ns <= begun_ns]
    if len(steps) < 2:
        return begun_ns - max(length, LEAST_BEFORE_NS)
    return min(steps[-2], begun_ns - length)


def _step_before(trace: Trace, window: Window) -> int:
    """When the step before the first one begins; without one, a step's length before it."""
    first = window.steps[0]
    index = [step.row for step in trace.steps].index(first.row)
    return trace.steps[index - 1].start_ns if index else 2 * first.start_ns - first.end_ns


def _first_launch(trace: Trace, device: Activities, window: Window) -> int:
    """When the first launch began of what runs in the window."""
    runs = (device.start_ns < window.end_ns) & (device.end_ns > window.start_ns)
    launch = device.launch[runs & (device.launch >= 0)]
    return int(trace.start_ns[launch].min(initial=window.start_ns))


def _gap_end(trace: Trace, device: Activities, time_ns: int) -> int:
    """When the device is busy again after an instant, and the call that saw to it has returned."""
    following = int(np.searchsorted(device.start_ns, time_ns, "left"))
    if following == len(device) or bool((device.end_ns[:following] > time_ns).any()):
        return time_ns
    launch = int(device.launch[following])
    returned = int(trace.end_ns[launch]) if launch >= 0 else time_ns
    return max(int(device.start_ns[following]) + 1, returned)
