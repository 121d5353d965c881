"""A copy between devices ran with no computation beside it."""

from __future__ import annotations

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE = Rule(
    id="p2p-exposed",
    layer=Layer.RUNTIME,
    title="copies between devices that nothing overlaps",
    fix="overlap the transfer with computation on another stream",
    thresholds={"note": 0.05, "major": 0.20},
    source="ours",
    example="made: a copy between two devices of 520 µs, for which the other device's stream "
    "waits by a recorded event with nothing else to do",
)
