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
)
