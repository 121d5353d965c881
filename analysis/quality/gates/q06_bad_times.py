"""Events without a usable time.

A duration that is missing, not a number or negative, a start of 0 among large ones, one event
far from all others: they are counted and left out of the window. Events of zero length are
normal, as a clock of whole microseconds makes hundreds of them: they are kept and drawn as
ticks. The reader tells of these while it reads.
"""

from __future__ import annotations

from collections.abc import Iterator

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.quality.gate import Gate, Recording

GATE = Gate(
    "Q6",
    "events without a usable time",
    source="pytorch/kineto#105 and #646, pytorch#188481, perfetto#393",
)


def check(recording: Recording) -> Iterator[TraceWarning]:
    """Nothing more than the reader has told."""
    return iter(())
