"""Kernels that read from the cache rather than from memory.

Their bytes fit the last-level cache (half of the L2 where it is split: A100, H100, B200; the
Infinity Cache on MI300) and their rate is above the memory's peak. That is no error, but memory
bandwidth says nothing about them: they have figures and no verdict, and
are told here from 1 % of the window on.
"""

from __future__ import annotations

from collections.abc import Iterator

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.quality.flagged import MIN_SHARE, flagged_kernels
from whichlayer.analysis.quality.gate import Gate, Recording, percent

GATE = Gate(
    "Q11",
    "kernels that run from the cache",
    thresholds={"share": MIN_SHARE},
    source="whichlayer's own; cache sizes of the data sheets",
    example="made: an addition on an A100 that moves 6 MB in 2 µs, 3 TB/s, and 6 MB fit its cache",
)


def check(recording: Recording) -> Iterator[TraceWarning]:
    """One warning for all such kernels of the window."""
    found = flagged_kernels(recording.kernels, "cache-resident", recording.limit(GATE, "share"))
    if found is not None:
        whole = recording.options.whole
        yield TraceWarning(
            GATE.id,
            f"{found.calls} calls of {found.named} ({percent(found.share)} of the {whole}) are "
            f"faster than memory, with data that fits the cache: {found.rate}; memory bandwidth "
            "says nothing about them, so they have no verdict",
            found.calls,
        )
