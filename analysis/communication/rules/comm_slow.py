"""Large collectives move data at less than half of what the links can.

Judged by the shortest duration of each collective over the ranks, which holds no wait for a late
one; of a single rank nothing is said. The speed of the links is in no recording: it has to be
given, as what one GPU can send at a time. Only messages of at least ``large_mb`` count, since
smaller ones are bound by latency, and only where every rank gives as much as the others.
"""

from __future__ import annotations

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE = Rule(
    id="comm-slow",
    layer=Layer.BOUNDARY,
    title="collectives use less than half of the links",
    fix="NCCL settings (NCCL_DEBUG=INFO tells algorithm, channels and transport); topology: which "
    "ranks share a node; larger buckets",
    thresholds={"busbw_share": 0.50, "large_mb": 64.0},
    source="design; bus bandwidth as nccl-tests defines it",
    example="made: an all-reduce of 200 MB over 3 ranks at less than half of the links' given "
    "speed",
)
