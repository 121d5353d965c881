"""What of a part an analysis looks at: what was read in full, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.options import Options
from whichlayer.analysis.results import Window
from whichlayer.analysis.trace.columns import Part, Trace


def asked(trace: Trace, options: Options) -> Options:
    """The options, with the window that a part was read for where they ask for none."""
    part = trace.part
    if part is None or options.steps is not None or options.span_ns is not None:
        return options
    return replace(options, steps=part.steps, span_ns=part.span_ns)


def refuse_unread(trace: Trace, window: Window) -> None:
    """Nothing is said of what was not read.

    Raises:
        ValueError: the window reaches beyond a part.
    """
    part = trace.part
    if part is not None and not part.low_ns <= window.start_ns <= window.end_ns <= part.high_ns:
        low, high = part.low_ns / 1000, part.high_ns / 1000
        raise ValueError(f"only a part was read, {low:.3f}:{high:.3f} µs; read the trace again")


def near(trace: Trace, devices: Sequence[Activities]) -> tuple[Activities, ...]:
    """Of the activities of each device those that touch what was read in full."""
    part = trace.part
    return tuple(devices if part is None else (_touching(device, part) for device in devices))


def _touching(device: Activities, part: Part) -> Activities:
    inside = (device.start_ns < part.high_ns) & (device.end_ns >= part.low_ns)
    columns = [field.name for field in fields(device) if field.name != "number"]
    return replace(device, **{name: getattr(device, name)[inside] for name in columns})
