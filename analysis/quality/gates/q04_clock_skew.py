"""Kernels that start before their launch call begins show that two clocks disagree.

The worst of them is the skew. Gaps up to the skew and one microsecond count as launch
spacing, for none of them can be told from the disagreement.
"""

from __future__ import annotations

from collections.abc import Iterator

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.quality.gate import Gate, Recording, device_words

GATE = Gate(
    "Q4",
    "the clocks of GPU and CPU disagree",
    source="pytorch/kineto#1380: 8 to 9 µs seen",
)


def check(recording: Recording) -> Iterator[TraceWarning]:
    """One warning for each device with a kernel before its launch."""
    trace = recording.trace
    for activities, calibration in zip(recording.devices, recording.calibrations, strict=True):
        if calibration.skew_ns <= 0:
            continue
        linked = activities.launch >= 0
        begun = trace.start_ns[activities.launch[linked]]
        early = int((activities.start_ns[linked] < begun).sum())
        yield TraceWarning(
            GATE.id,
            f"{device_words(activities.number)}: kernels start before their launch, {early} times, "
            f"by up to {calibration.skew_ns / 1e3:.1f} µs (none should); gaps up to that and 1 µs "
            "count as launch spacing; a newer PyTorch or driver may keep the clocks together",
            early,
        )
