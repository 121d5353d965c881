"""The time a launch takes to reach an idle device, as usual in this recording."""

from __future__ import annotations

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE = Rule(
    id="launch-latency",
    layer=Layer.NONE,
    title="launch latency",
    fix="nothing by itself; CUDA graphs pay it once",
    source="ours: 99th percentile of this recording's launches into an empty queue",
    example="sample launch_bound_decode: 12.31 ms in 2,050 pieces of about 6 µs between a "
    "launch into an empty queue and its kernel; nobody's",
)
