"""A copy to the host ran with no computation beside it, and blocked nobody."""

from __future__ import annotations

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE = Rule(
    id="d2h-exposed",
    layer=Layer.PYTORCH,
    title="device-to-host copies that nothing overlaps",
    fix="copy less often, into pinned memory, on a side stream",
    thresholds={"note": 0.05, "major": 0.20},
    source="ours",
    example="sample healthy: 5 copies of a result run with nothing beside them, 7 µs in all: "
    "far too little to be listed",
)
