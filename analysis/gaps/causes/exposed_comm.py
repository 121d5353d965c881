"""Only a collective ran: communication that no computation covers."""

from __future__ import annotations

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE = Rule(
    id="exposed-comm",
    layer=Layer.RUNTIME,
    title="communication that nothing overlaps",
    fix="overlap it: DDP bucket_cap_mb and gradient_as_bucket_view, FSDP prefetch; fewer or "
    "larger collectives",
    thresholds={"note": 0.05, "major": 0.10},
    source="design of the temporal breakdown in HolisticTraceAnalysis",
    example="DLRM on eight V100s: ncclKernel_SendRecv runs alone for 7.26 ms; 11.19 ms in 62 "
    "pieces, 56 % of that rank's window",
)
