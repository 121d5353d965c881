"""The profiler itself kept the host: buffer flushes, instrumentation, buffer requests.

Nothing to fix in the program; a shorter recording shows less of it.
"""

from __future__ import annotations

import re

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule
from whichlayer.analysis.trace.kinds import SliceKind

RULE = Rule(
    id="profiler-overhead",
    layer=Layer.NONE,
    title="the profiler's own work",
    fix="nothing to fix; record fewer steps to see less of it",
    thresholds={"note": 0.05},
    source="CUPTI overhead events",
    example="sample host_sync: the profiler's Buffer Flush, 250 µs idle in 2 pieces; nobody's",
)

_OVERHEAD = re.compile(
    r"Buffer Flush|Instrumentation|\bResource\b|Activity Buffer Request", re.IGNORECASE
)

#: The reader's category of overheads that are all the profiler's, whatever they are called.
_OF_PROFILER = "profiler_overhead"


def marks(name: str, kind: SliceKind, category: str) -> bool:
    """Whether a slice is the profiler at work."""
    if kind != SliceKind.OVERHEAD:
        return False
    return category == _OF_PROFILER or _OVERHEAD.search(name) is not None
