"""The profiler's own wait for the GPU at the end of a recording is no problem of the program.

When it stops, the profiler synchronises the device. What lies after the last step, or without
steps after the last activity, is outside the window: no finding, whatever its length. Nothing
has to be done, and nothing is told.
"""

from __future__ import annotations

from collections.abc import Iterator

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.quality.gate import Gate, Recording

GATE = Gate(
    "Q9",
    "the profiler's own sync",
    source="huggingface/blog#3389: a sync after the last step taken for a stall",
    example="made: cudaDeviceSynchronize of 50 ms after the last step: no finding, and the "
    "window ends before it",
)


def check(recording: Recording) -> Iterator[TraceWarning]:
    """Nothing: the window ends before it."""
    return iter(())
