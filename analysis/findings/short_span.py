"""Withholds a side from a span that is too short for one, or in which nothing runs.

A side is a fifth of the span. To whom a stretch before a kernel belongs is known to within the
launch floor and the latency of a launch into an empty queue: of what is shorter nobody can say
whether the host was late. A span of which a fifth is no longer than that has no side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.findings.verdict import SIDE_SHARE
from whichlayer.analysis.gaps.calibrate import Calibration
from whichlayer.analysis.report.units import time_text
from whichlayer.analysis.results import Verdict


def least_span_ns(calibrations: Sequence[Calibration]) -> int:
    """The shortest span that has a side: in it, what is known of a launch is no fifth.

    Args:
        calibrations: of the devices that are analysed.
    """
    known = max((c.floor_ns + c.default_latency_ns for c in calibrations), default=0)
    return int(known / SIDE_SHARE)


def of_span(
    verdict: Verdict,
    span_ns: tuple[int, int],
    devices: Sequence[Activities],
    calibrations: Sequence[Calibration],
) -> Verdict:
    """The verdict of a span that was asked for.

    Args:
        verdict: by the shares of the span alone.
        span_ns: its start and end.
        devices: what runs on each device.
        calibrations: of the same devices.
    """
    if not devices:
        return verdict
    low, high = span_ns
    least = least_span_ns(calibrations)
    if high - low < least:
        text = (
            f"Unclear: {time_text(high - low)} is too short for a verdict; launches of this "
            f"recording are known to a fifth of {time_text(least)}."
        )
        return replace(verdict, side="unclear", text=text, withheld="too short")
    runs = any(bool(((d.start_ns < high) & (d.end_ns > low)).any()) for d in devices)
    if not runs and verdict.side == "healthy":
        text = "Unclear: nothing runs in the span, and nobody above CUDA is known to be late."
        return replace(verdict, side="unclear", text=text, withheld="idle")
    return verdict
