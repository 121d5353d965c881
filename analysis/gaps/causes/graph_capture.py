"""The host was capturing a CUDA graph: what it dispatched was recorded, not run.

Between ``cudaStreamBeginCapture`` and ``cudaStreamEndCapture`` launches go into the graph, so
the device has nothing to do however fast the host is. A recording of a capture says nothing
about the replays that follow it.
"""

from __future__ import annotations

import re

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule
from whichlayer.analysis.trace.kinds import SliceKind

#: What makes an executable graph of the captured one.
_MAKES = re.compile(r"(?:cuda|hip|cu)Graph(?:Instantiate|Upload|ExecUpdate)")

RULE = Rule(
    id="graph-capture",
    layer=Layer.UNKNOWN,
    title="capturing a CUDA graph",
    fix="record the replays of the graph, after it was captured",
    thresholds={"note": 0.05},
    source="stream capture calls of the CUDA and HIP runtime",
    example="vLLM on an MI300X: the host captures a graph, and the device is idle for 54.98 "
    "ms before the next copy; 97 % of the window",
)


def marks(name: str, kind: SliceKind, category: str) -> bool:
    """Calls that make an executable graph."""
    return kind == SliceKind.RUNTIME and _MAKES.match(name) is not None
