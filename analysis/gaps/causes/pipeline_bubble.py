"""The device waited in a receive for another pipeline stage.

A receive's kernel spins until the data comes. The part of it in which nothing else runs is a
bubble of the schedule, no transfer: one that takes about as long as its size needs is plain
``exposed-comm``. Exchanges between all (``all_to_all``) use the same kernel and are no receive.
"""

from __future__ import annotations

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE = Rule(
    id="pipeline-bubble",
    layer=Layer.PYTORCH,
    title="waiting for another pipeline stage",
    fix="more, smaller micro-batches, an interleaved or zero-bubble schedule, stages of equal cost",
    thresholds={"note": 0.05, "major": 0.20, "slow": 2.0, "gb_per_s": 1.0},
    source="receives of NCCL and RCCL spin on the device until the peer sends",
)
