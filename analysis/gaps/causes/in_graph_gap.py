"""Idle between two kernels of one graph launch: never the host's."""

from __future__ import annotations

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE = Rule(
    id="in-graph-gap",
    layer=Layer.NONE,
    title="between two kernels of one graph launch",
    fix="nothing by itself; node-level tracing inflates it",
    source="TraceLens issue 728: a quarter of idle was invented from these",
    example="CUDA graphs on a V100: 94 pieces between two kernels of one graph launch, 953 µs "
    "in all; nobody's",
)
