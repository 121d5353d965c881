"""Allocating memory in the first recorded step only: the program has warmed up since.

A first step pays for memory that later steps find ready. Nothing to fix, and
nothing that a steady step would show.
"""

from __future__ import annotations

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE = Rule(
    id="warm-up",
    layer=Layer.NONE,
    title="warming up in the first step",
    fix="nothing to fix; give the profiler's schedule a warm-up step",
    thresholds={"note": 0.05, "later_share": 0.10},
    source="rules of thumb of profilers: the first step is left out of averages",
    example="made: cudaMalloc of 2 ms in the first of four steps and in no other: 2 ms idle "
    "that nobody has to fix",
)
