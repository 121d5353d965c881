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
)
