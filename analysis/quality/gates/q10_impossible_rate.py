"""Kernels that would be faster than the card can be: the estimate of their work is wrong.

A rate is impossible where even the bytes that the last-level cache cannot have served would
need more than the memory's bandwidth, or products more than 1.1 times the matrix peak (1.3
times on GeForce, which boosts beyond its data sheet). Winograd and FFT convolutions compute
fewer products than are counted, and a broadcast input without recorded strides is read less
than it seems: they are exempt. Such kernels have figures and no verdict, and
are told here from 1 % of the window on.
"""

from __future__ import annotations

from collections.abc import Iterator

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.kernels.ruling import CONSUMER_RATE_SLACK, RATE_SLACK
from whichlayer.analysis.quality.flagged import MIN_SHARE, flagged_kernels
from whichlayer.analysis.quality.gate import Gate, Recording, percent

GATE = Gate(
    "Q10",
    "rates that the card cannot reach",
    thresholds={
        "share": MIN_SHARE,
        "bandwidth": 1.0,
        "matrix": RATE_SLACK,
        "matrix_geforce": CONSUMER_RATE_SLACK,
    },
    source="TraceLens; rocprofiler-compute#80",
    example="made: an addition on an A100 that would move 2.4 GB in 900 µs, 2.7 TB/s: more "
    "than its memory can",
)


def check(recording: Recording) -> Iterator[TraceWarning]:
    """One warning for all such kernels of the window."""
    found = flagged_kernels(recording.kernels, "impossible", recording.limit(GATE, "share"))
    if found is not None:
        whole = recording.options.whole
        yield TraceWarning(
            GATE.id,
            f"{found.calls} calls of {found.named} ({percent(found.share)} of the {whole}) would "
            f"be faster than the card can be: {found.rate}; their shapes say too much work, so "
            "they have no verdict; if the card is not the one named, say which with "
            "--device-model",
            found.calls,
        )
