"""Which stretch of time is analysed, and where each step lies on each device.

The host may be ahead by more than a step, so a step owns the kernels *launched* inside its
annotation, however late they run. On a device it lasts from the end of the previous step's
last kernel (the first: from its start on the CPU) to the end of its own last kernel. The last
recorded step lasts at least to its end on the CPU: no later step takes over what it does after
its last kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.results import Options, Window
from whichlayer.analysis.steps.find import steps_of
from whichlayer.analysis.trace.columns import Step, StepSource, Trace
from whichlayer.analysis.trace.steps import gpu_steps

Int64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class DeviceSteps:
    """The steps of a trace on one device.

    Attributes:
        start_ns, end_ns: int64 (steps,), touching: ``start[i + 1] == end[i]``.
    """

    start_ns: Int64
    end_ns: Int64


def steps_on(
    trace: Trace, activities: Activities, steps: Sequence[Step] | None = None
) -> DeviceSteps:
    """Where each step lies on one device; one without kernels is empty there.

    Args:
        trace: the recording.
        activities: of the device.
        steps: those to place, in order; by default those that the recording marks.
    """
    steps = trace.steps if steps is None else steps
    if not steps:
        return DeviceSteps(np.empty(0, np.int64), np.empty(0, np.int64))
    begin = np.array([step.start_ns for step in steps], np.int64)
    owner, start, end = _work_of(trace, activities, steps)
    if steps[0].source in _WITHOUT_EDGES:  # nothing says what the host did for it before
        begin[0] = start[owner == 0].min(initial=_FAR)
        begin[0] = steps[0].start_ns if begin[0] == _FAR else begin[0]
    last = np.full(len(steps), begin[0], np.int64)
    np.maximum.at(last, owner, end)
    last = np.maximum.accumulate(last)
    if steps[-1].source not in (StepSource.GPU_ANNOTATION, *_WITHOUT_EDGES):
        last[-1] = max(last[-1], steps[-1].end_ns)
    return DeviceSteps(np.concatenate((begin[:1], last[:-1])), last)


_FAR = np.iinfo(np.int64).max
#: Steps that begin and end on a device with their own work: they bound no window.
_WITHOUT_EDGES = (StepSource.INFERRED, StepSource.VLLM, StepSource.SGLANG)


def _work_of(
    trace: Trace, activities: Activities, steps: Sequence[Step]
) -> tuple[NDArray[np.intp], Int64, Int64]:
    """What belongs to whom on a device: places in ``steps``, and the times of what they own."""
    if not steps[0].on_host:
        rows, places = gpu_steps(steps, trace.name_id, trace.kind)
        lanes = np.array([lane.device == activities.number for lane in trace.lanes], np.bool_)
        here = lanes[trace.lane_id[rows]]
        return places[here], trace.start_ns[rows[here]], trace.end_ns[rows[here]]
    begin = np.array([step.start_ns for step in steps], np.int64)
    finish = np.array([step.end_ns for step in steps], np.int64)
    known = activities.launch >= 0
    made = trace.start_ns[activities.launch]
    if steps[0].source is StepSource.INFERRED and not known.any():
        known, made = np.ones(len(known), np.bool_), activities.start_ns
    owner = np.searchsorted(begin, made, "right") - 1
    inside = known & (owner >= 0) & (made < finish[np.maximum(owner, 0)])
    return owner[inside], activities.start_ns[inside], activities.end_ns[inside]


def choose_window(trace: Trace, devices: tuple[Activities, ...], options: Options) -> Window:
    """The window that the options ask for, or the default.

    The default is from the start of the first recorded step to the end of the last, its
    kernels included; without steps, from first to last GPU activity.

    Raises:
        ValueError: no such steps, or a span that holds nothing of the recording.
    """
    if options.span_ns is not None:
        return _window_of_span(trace, options.span_ns)
    if options.steps is not None:
        return _window_of_steps(trace, devices, options.steps)
    if trace.steps:
        low = trace.steps[0].start_ns
        ends = [int(steps_on(trace, device).end_ns[-1]) for device in devices]
        high = max([trace.steps[-1].end_ns, *ends])
        return Window(low, high, trace.steps, _counted(trace.steps))
    if devices:
        low = min(int(device.start_ns[0]) for device in devices)
        high = max(int(device.end_ns.max()) for device in devices)
        return Window(low, high, (), "first to last GPU activity")
    return Window(0, trace.duration_ns, (), "the whole recording")


def _counted(steps: Sequence[Step]) -> str:
    several = "" if len(steps) == 1 else "s"
    on_gpu = f"step{several} marked on the GPU"
    return f"{len(steps)} {f'recorded step{several}' if steps[0].on_host else on_gpu}"


def _window_of_span(trace: Trace, wanted: tuple[int, int]) -> Window:
    """As much of a span as was recorded: nothing is known of what lies outside."""
    low, high = max(wanted[0], 0), min(wanted[1], trace.duration_ns)
    if high <= low:
        asked = ":".join(f"{time / 1000:.3f}" for time in wanted)
        raise ValueError(
            f"the span {asked} µs holds nothing of the recording, which ends at "
            f"{trace.duration_ns / 1000:.3f} µs"
        )
    inside = tuple(s for s in trace.steps if s.start_ns < high and s.end_ns > low)
    clipped = "" if (low, high) == wanted else ", as far as it was recorded"
    return Window(low, high, inside, f"the span asked for{clipped}")


def _window_of_steps(
    trace: Trace, devices: tuple[Activities, ...], wanted: tuple[int, int]
) -> Window:
    first, last = wanted
    steps = steps_of(trace).steps
    index = [i for i, step in enumerate(steps) if first <= step.number <= last]
    if not index:
        numbers = ", ".join(str(step.number) for step in steps[:20])
        raise ValueError(
            f"no step between {first} and {last}; the trace has "
            + (f"steps {numbers}" if numbers else "no steps")
        )
    chosen = tuple(steps[i] for i in index)
    placed = [steps_on(trace, device, steps) for device in devices]
    low = min([int(p.start_ns[index[0]]) for p in placed] or [chosen[0].start_ns])
    high = max([int(p.end_ns[index[-1]]) for p in placed] or [chosen[-1].end_ns])
    if high <= low:
        low, high = chosen[0].start_ns, chosen[-1].end_ns
    begin, end = chosen[0].number, chosen[-1].number
    named = f"step {begin}" if len(chosen) == 1 else f"steps {begin} to {end}"
    if not trace.steps:  # a span, for nothing marks where they end
        inferred = steps[0].source is StepSource.INFERRED
        return Window(low, high, (), f"inferred {named}" if inferred else named)
    return Window(low, high, chosen, named)


def bounds_on(
    trace: Trace, activities: Activities, window: Window, options: Options
) -> tuple[int, int]:
    """The part of the window that is not edge on one device.

    With recorded steps everything outside them is edge; without, or in a span that was asked
    for, what follows the device's last activity is.
    """
    low, high = window.start_ns, window.end_ns
    if options.span_ns is None and window.steps:
        placed = steps_on(trace, activities)
        numbers = [step.row for step in trace.steps]
        first = numbers.index(window.steps[0].row)
        last = numbers.index(window.steps[-1].row)
        low = max(low, int(placed.start_ns[first]))
        high = min(high, int(placed.end_ns[last]))
    else:
        high = min(high, int(activities.end_ns.max()))
    return low, max(high, low)
