"""A copy from pinned host memory ran with no computation beside it."""

from __future__ import annotations

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE = Rule(
    id="h2d-exposed",
    layer=Layer.RUNTIME,
    title="host-to-device copies that nothing overlaps",
    fix="prefetch the next batch on a side stream while this one computes; what does not change is "
    "copied once, before the loop",
    thresholds={"note": 0.05, "major": 0.20},
    source="ours",
    example="two H100s: Memcpy HtoD of 4,200,595,456 bytes from pinned memory runs alone for "
    "151.75 ms, at 27.7 GB/s; 1.84 s in 446 pieces, 95 % of the window",
)
