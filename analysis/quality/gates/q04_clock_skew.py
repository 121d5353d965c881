"""Kernels that start before their launch call begins show that two clocks disagree.

The worst of those that agree is the skew. Gaps up to the skew and one microsecond count as
launch spacing, for none of them can be told from the disagreement. A few kernels that precede
their launch by far more than the rest are no skew: their own times are wrong, and the gaps
beside them are nobody's. Where many disagree widely no gap has an owner.
"""

from __future__ import annotations

from collections.abc import Iterator

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.errors import Severity, TraceWarning
from whichlayer.analysis.gaps.calibrate import Calibration
from whichlayer.analysis.gaps.skew import BELIEVED_NS, FAR, MAX_SKEW_NS, SHARE
from whichlayer.analysis.quality.gate import Effect, Gate, Recording, device_words
from whichlayer.analysis.text import clean, plural
from whichlayer.analysis.trace.columns import Trace

GATE = Gate(
    "Q4",
    "the clocks of GPU and CPU disagree",
    effect=Effect.GAPS_LOW,
    caveat="the clocks of GPU and CPU cannot be compared",
    thresholds={
        "believed_us": BELIEVED_NS / 1e3,
        "odd_times": FAR,
        "odd_share": SHARE,
        "trusted_us": MAX_SKEW_NS / 1e3,
    },
    source="pytorch/kineto#1380: 8 to 9 µs seen; all others are whichlayer's",
    example="made: a kernel begins 6 µs before its launch call: gaps up to that and 1 µs more "
    "are launch spacing",
)


def check(recording: Recording) -> Iterator[TraceWarning]:
    """Up to two warnings for each device with a kernel before its launch."""
    for activities, calibration in zip(recording.devices, recording.calibrations, strict=True):
        if calibration.skew_ns > 0:
            yield _skewed(recording.trace, activities, calibration)
        if len(calibration.odd):
            yield _odd(recording.trace, activities, calibration)


def _skewed(trace: Trace, activities: Activities, calibration: Calibration) -> TraceWarning:
    linked = activities.launch >= 0
    begun = trace.start_ns[activities.launch[linked]]
    early = int((activities.start_ns[linked] < begun).sum()) - len(calibration.odd)
    said = (
        f"{device_words(activities.number)}: kernels start before their launch, {early} times, "
        f"by up to {calibration.skew_ns / 1e3:.1f} µs (none should); "
    )
    if calibration.trusted:
        said += (
            "gaps up to that and 1 µs count as launch spacing; a newer PyTorch or driver may keep "
            "the clocks together"
        )
        return TraceWarning(GATE.id, said, early)
    said += (
        "launches and kernels cannot be compared, and no gap has an owner; record again with a "
        "newer PyTorch or driver"
    )
    return TraceWarning(GATE.id, said, early, severity=Severity.DOUBT)


def _odd(trace: Trace, activities: Activities, calibration: Calibration) -> TraceWarning:
    rows = calibration.odd
    first = int(rows[trace.start_ns[rows].argmin()])
    lead = int((trace.start_ns[trace.launch[rows]] - trace.start_ns[rows]).max())
    count = len(rows)
    verbs = "starts" if count == 1 else "start"
    return TraceWarning(
        GATE.id,
        f"{device_words(activities.number)}: {plural(count, 'kernel')} {verbs} up to "
        f"{lead / 1e3:.1f} µs before the launch, far more than the others: a wrong time, no clock "
        f"skew; the first is {clean(trace.name(first))[:60]} at {trace.start_ns[first] / 1e6:.3f} "
        "ms; gaps beside such a kernel are unattributed",
        count,
        trace.byte_of(first),
    )
